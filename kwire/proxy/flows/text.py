"""Values from the wire as text that is safe to print: short, and without control characters."""

from __future__ import annotations

from uuid import UUID

from kwire import error_codes
from kwire.text.ids import uuid_text
from kwire.text.untrusted import harmless

TEXT_SHOWN = 200
"""Characters of a string that are shown."""

BYTES_SHOWN = 16
"""Bytes of a byte string that are shown."""

MASKED = "(hidden)"


def printable(text: str, limit: int = TEXT_SHOWN) -> str:
    """Return the text, cut, with what a terminal might obey written as an escape."""
    safe = harmless(text[:limit])
    return f"{safe}…" if len(text) > limit else safe


def value_text(value: object, name: str = "") -> str:
    """Return the text of a value that is no struct and no list of structs."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() if name.endswith("error_code"):
            return f"{value} {error_codes.name(value)}"
        case str():
            return f'"{printable(value)}"'
        case bytes():
            return bytes_text(value)
        case UUID():
            return uuid_text(value)
        case tuple():
            return f"[{', '.join(value_text(element) for element in value[:100])}{_more(value)}]"
    return str(value)


def bytes_text(data: bytes) -> str:
    """Return the number of bytes, and the first of them."""
    if not data:
        return "0 bytes"
    more = "…" if len(data) > BYTES_SHOWN else ""
    return f"{len(data)} bytes: {data[:BYTES_SHOWN].hex()}{more}"


def size_text(size: int) -> str:
    """Return a number of bytes in B, KiB or MiB."""
    if size < 10_000:
        return f"{size} B"
    return f"{size / 1024:.0f} KiB" if size < 10_000_000 else f"{size / 1024**2:.0f} MiB"


def _more(values: tuple[object, ...]) -> str:
    return f", … {len(values)} in all" if len(values) > 100 else ""
