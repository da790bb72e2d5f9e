"""A network with faults: a proxy before each node of a cluster, whose links can be cut and slowed.

`fault.py` names the faults, `topology.py` the nodes, `network.py` applies the faults.
"""
