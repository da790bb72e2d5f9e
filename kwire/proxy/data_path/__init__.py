"""The way of a byte: from a socket through framer and filters to the other socket."""
