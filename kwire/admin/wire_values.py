"""Values of the protocol that stand for "not known"."""

from __future__ import annotations


def known(number: int) -> int | None:
    """Return an id, an epoch, an offset or a time; None for a negative one: it is not known."""
    return None if number < 0 else number
