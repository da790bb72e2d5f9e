"""The screen of `kwire watch`: flows, the tree of one, panels of the quorum and of latencies."""
