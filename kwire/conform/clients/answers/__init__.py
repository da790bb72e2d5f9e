"""The answers of a node without faults, a module a subject; each has ANSWERS."""
