"""Checks of streams groups: members, topology, tasks (KIP-1071)."""
