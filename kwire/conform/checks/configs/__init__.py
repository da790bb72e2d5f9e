"""Checks of reading and changing configurations."""
