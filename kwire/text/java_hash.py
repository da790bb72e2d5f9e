"""Java's hash of a text, by which Java and Scala order their maps and sets."""

from __future__ import annotations

from functools import lru_cache

_WORD = 0xFFFFFFFF


@lru_cache(maxsize=8192)
def java_hash(text: str) -> int:
    """Return String.hashCode, as 32 bits without sign."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8) + low) & _WORD
    return value
