"""Cluster diagnosis: ask every node by itself, and report what is wrong; nothing is changed.

evidence = await gather([Address.parse("localhost:9093")])
for finding in examine(evidence):
    print(finding.id, finding.verdict.value, finding.sentence)

Gathering is all the IO; a check is a pure function of the evidence. One file a subject.
"""
