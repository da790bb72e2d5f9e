"""The screen of `kwire watch`: flows, the tree of one flow, panels of quorum and latencies."""
