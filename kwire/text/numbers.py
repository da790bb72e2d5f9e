"""Whole numbers in text that somebody else wrote."""

from __future__ import annotations

_DIGITS = 19


def whole_number(text: str, *, bits: int) -> int | None:
    """Return a number from 0 on that fits; None for any other text.

    `int` alone takes digits of every script, and fails in its own way beyond 4300 of them.
    """
    text = text.strip()
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        return None
    number = int(text)
    return number if number < 1 << bits else None
