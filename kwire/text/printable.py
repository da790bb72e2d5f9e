"""Text that came over the wire, made safe to print."""

from __future__ import annotations


def harmless(text: str) -> str:
    """Text with what a terminal would obey, and bytes that were not UTF-8, written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
