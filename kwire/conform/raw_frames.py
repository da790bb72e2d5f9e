"""Frames made by hand, where no encoder would write what a check sends.

Headers as in Kafka's protocol guide: v1 ends with the client id, v2 with tagged fields.
"""

from __future__ import annotations

from collections.abc import Iterable

from kwire.codec.compiler.runtime import uvarint

NO_TAGS = b"\x00"
NO_CLIENT_ID = b"\xff\xff"


def sized(data: bytes) -> bytes:
    """Return a frame with its size in front."""
    return len(data).to_bytes(4, "big") + data


def raw_header(
    key: int,
    version: int,
    correlation_id: int,
    client_id: bytes = NO_CLIENT_ID,
    tags: bytes | None = None,
) -> bytes:
    """Return a request header. client_id: with its length. tags: with their number; None for v1."""
    numbers = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    return numbers + correlation_id.to_bytes(4, "big", signed=True) + client_id + (tags or b"")


def text16(data: bytes) -> bytes:
    """Return a string as headers and versions that are not flexible have it."""
    return len(data).to_bytes(2, "big") + data


def tagged_fields(fields: Iterable[tuple[int, bytes]], count: int | None = None) -> bytes:
    """Return tagged fields in the order given. count: the number that is claimed."""
    parts = [uvarint(tag) + uvarint(len(data)) + data for tag, data in fields]
    return uvarint(len(parts) if count is None else count) + b"".join(parts)
