"""JSON as Kafka 3.9 writes it into znodes (Jackson's default: kafka.utils.Json.encodeAsBytes)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_ESCAPED = re.compile('["\\\\\x00-\x1f\U00010000-\U0010ffff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}

JsonValue = str | int | bool | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


def json_bytes(value: JsonValue) -> bytes:
    """Return a value as JSON without spaces, fields in the mapping's order, in UTF-8.

    Half a surrogate pair becomes a question mark, as in Java's own encoder.
    """
    return _text(value).encode("utf-8", "replace")


def _text(value: JsonValue) -> str:
    if isinstance(value, str):
        return f'"{_ESCAPED.sub(_escape, value)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        fields = (f"{_text(name)}:{_text(field)}" for name, field in value.items())
        return "{" + ",".join(fields) + "}"
    return "[" + ",".join(map(_text, value)) + "]"


def _escape(found: re.Match[str]) -> str:
    if found[0] in _SHORT:
        return _SHORT[found[0]]
    # A character above U+FFFF is written as its two surrogates, each escaped.
    units = found[0].encode("utf-16-be").hex().upper()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
