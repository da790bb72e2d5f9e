"""Asks every node of a cluster by itself, and reports what is wrong with it; it changes nothing.

evidence = await gather([Address.parse("localhost:9093")])
for finding in examine(evidence):
    print(finding.id, finding.verdict.value, finding.sentence)

Gathering is all the IO; a check is a pure function of the evidence. One file a subject.
"""
