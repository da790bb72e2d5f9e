"""Support of generated code: tables that fill as they are used, within bounds, and tag sections.

A table is a dict, so that a hit costs no call. What it cannot give raises: the fast path ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from struct import Struct
from typing import Any
from uuid import UUID, SafeUUID

from kwire.codec import engine
from kwire.codec.engine import LOWEST_INT32, STRING_LIMIT

TABLE_LIMIT = 4096
"""Most entries a table keeps."""

NO_TAGS = b"\0"
NULL = b"\0"

Reader = Callable[[bytes, int], tuple[Any, int]]
"""Reads a known tagged field: its value and the offset after it."""

NO_READERS: Mapping[int, tuple[str, Reader]] = {}


class Uuids(dict[bytes, UUID]):
    """16 bytes to their UUID: a cluster has few, and making one costs as much as ten look-ups."""

    def __missing__(self, data: bytes) -> UUID:
        if len(data) != 16:
            raise ValueError
        # Cleared as a whole: to drop the oldest entry would cost every hit a note of its use.
        if len(self) >= TABLE_LIMIT:
            self.clear()
        uuid = object.__new__(UUID)
        _set_int(uuid, int.from_bytes(data, "big"))
        _set_is_safe(uuid, SafeUUID.unknown)
        self[data] = uuid
        return uuid


_set_int = UUID.__dict__["int"].__set__
_set_is_safe = UUID.__dict__["is_safe"].__set__


class Arrays(dict[int, Any]):
    """A length to the Struct method that reads or writes an array of it."""

    def __init__(self, letter: str, method: str) -> None:
        self.letter = letter
        self.method = method

    def __missing__(self, count: int) -> Any:
        if count < 0:
            raise ValueError
        convert = getattr(Struct(f">{count}{self.letter}"), self.method)
        # The peer chooses the lengths: without a bound its arrays would fill the memory.
        if count < TABLE_LIMIT:
            self[count] = convert
        return convert


class Lengths(dict[int, bytes]):
    """A length to its compact form: an unsigned varint, one more than the length."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __missing__(self, length: int) -> bytes:
        if length > self.limit:
            raise ValueError
        encoded = uvarint(length + 1)
        if len(self) < TABLE_LIMIT:
            self[length] = encoded
        return encoded


uuids = Uuids()
lengths = Lengths((1 << 32) - 2)
text_lengths = Lengths(STRING_LIMIT)

booleans, pack_booleans = Arrays("?", "unpack_from"), Arrays("?", "pack")
float64s, pack_float64s = Arrays("d", "unpack_from"), Arrays("d", "pack")
int8s, pack_int8s = Arrays("b", "unpack_from"), Arrays("b", "pack")
int16s, pack_int16s = Arrays("h", "unpack_from"), Arrays("h", "pack")
uint16s, pack_uint16s = Arrays("H", "unpack_from"), Arrays("H", "pack")
int32s, pack_int32s = Arrays("i", "unpack_from"), Arrays("i", "pack")
uint32s, pack_uint32s = Arrays("I", "unpack_from"), Arrays("I", "pack")
int64s, pack_int64s = Arrays("q", "unpack_from"), Arrays("q", "pack")


def uvarint(value: int) -> bytes:
    """Return an unsigned varint of 32 bits."""
    if not 0 <= value < 1 << 32:
        raise ValueError
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_uvarint(buf: bytes, p: int) -> tuple[int, int]:
    """Return an unsigned varint, negative from 2^31 on as in Kafka, and the offset after it."""
    value = 0
    for shift in range(0, 35, 7):
        byte = buf[p]
        p += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= 0xFFFF_FFFF
            return value - (1 << 32) if value >> 31 else value, p
    raise ValueError


def length(buf: bytes, p: int) -> tuple[int, int]:
    """Return a compact length of two bytes or more that is not null, one more than the length."""
    n, p = length_or_null(buf, p)
    if n < 1:
        raise ValueError
    return n, p


def length_or_null(buf: bytes, p: int) -> tuple[int, int]:
    """Return a compact length of two bytes or more, or 0 for any form of null."""
    # Two bytes, up to 16383, are most of what one byte cannot hold.
    first, second = buf[p], buf[p + 1]
    if first > 127 and second < 128:
        return first & 0x7F | second << 7, p + 2
    n, p = read_uvarint(buf, p)
    if n == LOWEST_INT32:  # one less is 2^31-1 in Kafka's 32 bits: no null, but a length
        return -n, p
    return max(n, 0), p


def text_length(buf: bytes, p: int) -> tuple[int, int]:
    """Return the compact length of a string, which has a limit, and the offset after it."""
    n, p = length_or_null(buf, p)
    if not 0 < n <= STRING_LIMIT + 1:
        raise ValueError
    return n, p


def text_length_or_null(buf: bytes, p: int) -> tuple[int, int]:
    """Return the compact length of a nullable string, and the offset after it."""
    n, p = length_or_null(buf, p)
    if n > STRING_LIMIT + 1:
        raise ValueError
    return n, p


def read_tags(
    buf: bytes, p: int, obj: Any, known: Mapping[int, tuple[str, Reader]] = NO_READERS
) -> int:
    """Read the tag section at `p` into `obj`; returns the offset after it."""
    count, p = read_uvarint(buf, p)
    if not 0 <= count <= engine.TAG_LIMIT:
        raise ValueError
    for _ in range(count):
        tag, p = read_uvarint(buf, p)
        size, p = read_uvarint(buf, p)
        if tag in known:
            name, reader = known[tag]
            value, p = reader(buf, p)
            setattr(obj, name, value)
        elif 0 <= size <= len(buf) - p:
            if obj.unknown_tags is None:
                obj.unknown_tags = {}
            obj.unknown_tags[tag] = buf[p : p + size]
            p += size
        else:
            raise ValueError
    return p


def tag_section(
    unknown: Mapping[int, bytes] | None,
    known: Mapping[int, bytes] | None = None,
    declared: Iterable[int] = (),
) -> bytes:
    """Tagged fields in ascending order; an unknown one may not have a declared tag."""
    fields = dict(unknown or ())
    if any(tag in fields for tag in declared):
        raise ValueError
    fields.update(known or ())
    parts = [uvarint(len(fields))]
    for tag in sorted(fields):
        parts += (uvarint(tag), uvarint(len(fields[tag])), fields[tag])
    return b"".join(parts)
