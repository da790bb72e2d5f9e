"""Migration from ZooKeeper: KIP-866, for the operator and in the controller.

`operator`: status, comparison and plan for people; nothing there writes. `driver`: what the active
controller does, without IO. `node`: a controller that does it, by the seam of `kwire.controller`.
"""
