"""Real Kafka's nodes as processes of a local Java: find it, load it, start it, stop it.

A node is a set of properties and two Java commands (`node.py`). `jars.py` and `maven.py` find
Kafka's jars, `local.py` finds Java and runs the processes; `guard.py` ends them when their owner
is gone. Nothing here knows where a node's controllers are from.
"""
