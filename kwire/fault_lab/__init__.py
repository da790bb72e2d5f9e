"""Conformance under faults: a workload on a cluster whose network a seeded schedule disturbs.

Every connection to a node, other nodes' included, passes a proxy, which delays, cuts and closes by
the schedule. What clients asked and what came back is a history; afterwards it is checked against
models, and against the metadata log itself (Jepsen's way, on one machine).
"""
