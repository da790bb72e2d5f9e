"""The checks, a folder a group, a module a section."""
