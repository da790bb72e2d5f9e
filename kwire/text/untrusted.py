"""Text that somebody else wrote: read from files, searched for numbers, made safe to print."""

from __future__ import annotations

from pathlib import Path

from kwire.errors import KwireError

_DIGITS = 19
"""Digits of the longest number that is read: 2^63 - 1 has so many."""


def read_text(path: Path, wrong: type[KwireError]) -> str:
    """Return the text of a UTF-8 file. Raises `wrong`, with a sentence that names the file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise wrong(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise wrong(f"{path} is no text in UTF-8") from error


def whole_number(text: str, *, bits: int) -> int | None:
    """Return a number from 0 on that fits into so many bits; None for any other text."""
    text = text.strip()
    # `int` alone takes digits of every script, and raises another error beyond 4300 of them.
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        return None
    number = int(text)
    return number if number < 1 << bits else None


def harmless(text: str) -> str:
    """Return text with a terminal's control characters and non-UTF-8 bytes written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
