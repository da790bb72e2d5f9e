"""The cases, a module a section; each has a SECTION."""
