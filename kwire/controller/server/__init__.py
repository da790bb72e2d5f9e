"""A running controller: sockets, disk and clock around the replica and the state machine."""
