"""Checks of what is left of the move from ZooKeeper."""
