"""Kafka's text form of a UUID: 22 characters of URL-safe base64 (org.apache.kafka.common.Uuid).

Cluster ids look the same and are not: they are strings, compared as strings. One whose last
character has spare bits set would not survive the way through a UUID.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from binascii import b2a_base64
from uuid import UUID

from kwire.errors import InvalidValue
from kwire.text.untrusted import cut_repr

ZERO_UUID = UUID(int=0)
"""The id on the wire where there is none, as for the directory of a static voter."""

_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_BASE64 = re.compile(r"[A-Za-z0-9_-]{22}(==)?")
_HEX = re.compile(r"[0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def uuid_text(value: UUID) -> str:
    """Return the text as which Kafka prints an id: `AAAAAAAAQACAAAAAAAAwAA`."""
    text = b2a_base64(value.int.to_bytes(16, "big"), newline=False)[:22]
    return text.translate(_URL_SAFE).decode("ascii")


def parse_uuid(text: str) -> UUID:
    """Return the UUID of Kafka's own text, of 32 hexadecimal digits, or of the dashed form.

    Raises InvalidValue for anything else, also for base64 with spare bits set: Kafka reads that as
    another id than was written, which would hide a mistyped one.
    """
    if _BASE64.fullmatch(text):
        value = UUID(bytes=urlsafe_b64decode(text[:22] + "=="))
        if uuid_text(value) != text[:22]:
            raise InvalidValue(
                f"{cut_repr(text)} is no id: its last character stands for more bits than an id"
                f" has; did you mean {uuid_text(value)!r}?"
            )
        return value
    if _HEX.fullmatch(text):
        return UUID(hex=text)
    raise InvalidValue(
        f"{cut_repr(text)} is no id: write 22 characters of URL-safe base64 as Kafka prints them,"
        " 32 hexadecimal digits, or a dashed UUID"
    )
