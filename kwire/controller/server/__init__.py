"""A controller as it runs: sockets, disk and clock around the replica and the state machine."""
