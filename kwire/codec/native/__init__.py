"""The native engine: C that reads and writes by tables, and the tables for one message version.

Importing it fails with ImportError where the extension was not built; `kwire.codec.engine` then
takes the next engine.
"""

from __future__ import annotations

from kwire.codec import engine as limits
from kwire.codec import engine_cache
from kwire.codec.native._program import Program
from kwire.codec.native.parts import Part, Unsupported, from_basic, to_basic
from kwire.codec.reference import Reference

__all__ = ["Program", "engine"]


def engine(reference: Reference) -> Program | None:
    """Functions that do what `reference` does, faster; None for a tree or a class they cannot take.

    What they cannot read or write they hand to `reference`; `fallbacks` counts how often.
    """
    try:
        parts = _parts(reference)
    except Unsupported:
        return None
    # Copied into the program: C reads no Python globals, so `limit_tags` has programs made anew.
    bounds = limits.STRING_LIMIT, limits.TAG_LIMIT
    try:
        return Program(parts, reference.decode, reference.encode, *bounds)
    except ValueError:  # the layout of the class is not the one that C writes into
        return None


def _parts(reference: Reference) -> tuple[Part, ...]:
    """Return the parts of the message, from disk where they are kept there."""
    if (stored := engine_cache.load(reference, "native")) is not None:
        return from_basic(stored)
    from kwire.codec.native import tables

    parts = tables.describe(reference.struct)
    if (basic := to_basic(parts)) is not None:
        engine_cache.store(reference, "native", basic)
    return parts
