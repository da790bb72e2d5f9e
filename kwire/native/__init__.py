"""The native engine: C that reads and writes by tables, and the tables for one message version.

Importing it fails with ImportError where the extension was not built; `kwire.engine` then takes
the next engine.
"""

from __future__ import annotations

from kwire import constructs
from kwire.native import tables
from kwire.native._program import Program, program
from kwire.reference import Reference

__all__ = ["Program", "engine"]


def engine(reference: Reference) -> Program | None:
    """Functions that do what `reference` does, faster; None for a tree or a class they cannot take.

    What they cannot read or write they hand to `reference`; `fallbacks` counts how often.
    """
    try:
        parts = tables.describe(reference.struct)
    except tables.Unsupported:
        return None
    limits = constructs.STRING_LIMIT, constructs.TAG_LIMIT
    try:
        return program(parts, reference.decode, reference.encode, *limits)
    except ValueError:  # the layout of the class is not the one that C writes into
        return None
