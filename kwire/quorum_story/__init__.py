"""Story of a quorum: who led when, who resigned and why, from logs, records, captures and nodes.

    story = explain([log_file("c1", open("server.log"))])
    for answer in story.answers:
        print(answer.sentence)

A source gives dated events; `explain` orders them by epochs. A cause is a row of a table
(`causes`): the words of Kafka's log, their meaning, and the remedy.
"""
