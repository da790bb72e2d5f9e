"""Example instances of every message and version, always the same: bytes to test a codec with."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from construct import Construct, Flag, Float64b, Renamed

from kwire.codec.constructs import (
    INTEGERS,
    Blob,
    KafkaArray,
    LengthPrefixed,
    NullableStruct,
    ObjectStruct,
    Records,
    Text,
    Uuid,
)
from kwire.codec.declaration import Message
from kwire.codec.json_form import RANGES

LONG = 130
"""Bytes of long strings: in flexible versions their length takes two bytes."""

UNKNOWN_TAG = 1000
"""A tag that no message has; its number takes two bytes."""

BATCH = bytes.fromhex(
    "000000000000000000000040ffffffff02db5e9cdd0000000000000000018bcfe568000000018bcf"
    "e56800ffffffffffffffffffffffffffff000000011c000000066b65790a76616c756500"
)
"""A batch of one record, `key` and `value`, for the fields that hold records."""


class ExampleKind(StrEnum):
    """The choice of the values of an example.

    DEFAULTS: what a new instance has. FILLED: two elements in arrays, a value of its own in every
    field. NULLS: null wherever it is allowed, else as EMPTY. EMPTY: nothing in strings and arrays,
    0 and false. LOWEST, HIGHEST: of all numbers, in arrays of one element, with long strings.
    UNKNOWN_TAGS: FILLED, with a tagged field of a later version in every struct.
    """

    DEFAULTS = "defaults"
    FILLED = "filled"
    NULLS = "nulls"
    EMPTY = "empty"
    LOWEST = "lowest"
    HIGHEST = "highest"
    UNKNOWN_TAGS = "unknown-tags"


_NOTHING = (ExampleKind.NULLS, ExampleKind.EMPTY)
_LIMITS = (ExampleKind.LOWEST, ExampleKind.HIGHEST)


def examples(cls: type[Message], version: int) -> Iterator[tuple[ExampleKind, Message, bytes]]:
    """Yield instances of a message with their bytes, each once. Raises UnsupportedVersion."""
    struct = cls.at(version)
    seen = set()
    for kind in ExampleKind:
        instance = cls() if kind is ExampleKind.DEFAULTS else _Filler(kind=kind).struct(struct)
        data = instance.encode(version)
        if data not in seen:
            seen.add(data)
            yield kind, instance, data


@dataclass(slots=True, kw_only=True)
class _Filler:
    """Fills structs with values. count: of the scalars so far, so that neighbours differ."""

    kind: ExampleKind
    count: int = field(default=0)

    def struct(self, struct: ObjectStruct) -> Any:
        """Return an instance of the class of a struct."""
        instance = struct.cls()
        for member in struct.subcons:
            setattr(instance, member.name, self._value(member.subcon, member.name))
        if struct.tags is not None:
            for tag in struct.tags.known.values():
                setattr(instance, tag.name, self._value(tag.con, tag.name))
            if self.kind is ExampleKind.UNKNOWN_TAGS:
                instance.unknown_tags = {UNKNOWN_TAG: b"later"}
        return instance

    def _value(self, con: Construct, name: str) -> Any:
        match con:
            case Renamed():
                return self._value(con.subcon, name)
            case ObjectStruct():
                return self.struct(con)
            case NullableStruct():
                return None if self.kind is ExampleKind.NULLS else self._value(con.subcon, name)
            case KafkaArray():
                return self._array(con, name)
            case Text() | Blob():
                return self._sized(con, name)
        self.count += 1
        return self._scalar(con, name)

    def _array(self, con: KafkaArray, name: str) -> Any:
        if self.kind in _NOTHING:
            return None if self._is_null(con) else con.make([])
        size = 1 if self.kind in _LIMITS else 2
        return con.make([self._value(con.subcon, name) for _ in range(size)])

    def _sized(self, con: Text | Blob, name: str) -> Any:
        self.count += 1
        if self.kind in _NOTHING:
            return None if self._is_null(con) else "" if isinstance(con, Text) else b""
        if isinstance(con, Records):
            return BATCH
        is_long = self.kind in _LIMITS
        if isinstance(con, Text):
            # Two bytes of one letter: a length in letters is wrong.
            return "x" * LONG if is_long else f"{name}-{self.count}-ü"
        return bytes(LONG) if is_long else bytes((self.count % 256, 0, 255))

    def _is_null(self, con: LengthPrefixed) -> bool:
        return con.nullable and self.kind is ExampleKind.NULLS

    def _scalar(self, con: Construct, name: str) -> Any:
        if con is Flag:
            return self.kind not in (*_NOTHING, ExampleKind.LOWEST)
        lowest, highest = _range(con)
        match self.kind:
            case ExampleKind.NULLS | ExampleKind.EMPTY:
                number = 0
            case ExampleKind.LOWEST:
                number = lowest
            case ExampleKind.HIGHEST:
                number = highest
            case _ if con is Float64b:
                return self.count + 0.5
            case _ if name.endswith("error_code"):
                number = 1 + self.count % 80  # one that Kafka has: some codecs know no other
            case _:
                # The first byte is 1, so that the order of the bytes shows.
                number = (1 << (highest.bit_length() - 1) // 8 * 8) + self.count % 100
        return UUID(int=number) if isinstance(con, Uuid) else number


def _range(con: Construct) -> tuple[Any, Any]:
    if con is Float64b:
        return -math.inf, sys.float_info.max
    return (0, (1 << 128) - 1) if isinstance(con, Uuid) else RANGES[INTEGERS[con]]
