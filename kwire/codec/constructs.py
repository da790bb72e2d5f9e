"""The construct nodes that Kafka's encoding needs beyond construct's own.

`Message.at(version)` is a tree of these: no lambda, no context, every fact a visible attribute, so
that a compiler can walk it. Reading is as lenient as Kafka's generated readers: a negative length
is null, a bool is any byte, the size of a known tagged field is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import IO, Any, Protocol
from uuid import UUID

import msgspec
from construct import (
    Adapter,
    Bytes,
    Construct,
    ConstructError,
    Flag,
    Float64b,
    FormatFieldError,
    Int8sb,
    Int16sb,
    Int16ub,
    Int32sb,
    Int32ub,
    Int64sb,
    Renamed,
    Struct,
)

from kwire.codec import engine

INTEGERS: Mapping[Construct, str] = {
    Int8sb: "int8",
    Int16sb: "int16",
    Int16ub: "uint16",
    Int32sb: "int32",
    Int32ub: "uint32",
    Int64sb: "int64",
}


class MalformedError(ConstructError):
    """Bytes, or a value, that the protocol does not allow at `path`."""


class Source(BytesIO):
    """Bytes to read from, whose number is known without copying them."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.size = len(data)


def remaining(stream: IO[bytes]) -> int:
    """Return the number of bytes up to the end, 0 for a position after it."""
    if isinstance(stream, Source):
        return max(0, stream.size - stream.tell())
    here = stream.tell()
    end = stream.seek(0, 2)
    stream.seek(here)
    return max(0, end - here)


def read(stream: IO[bytes], size: int, path: str) -> bytes:
    """Exactly `size` bytes, checked against what is there before anything is allocated."""
    left = remaining(stream)
    if size > left:
        raise MalformedError(f"{size} bytes claimed, {left} left", path)
    return stream.read(size)


class UVarint(Construct):
    """Unsigned varint of at most 5 bytes (KIP-482).

    Kafka reads it into a 32-bit int, so that 2^31 and more come out negative: so do they here.
    """

    def _parse(self, stream: IO[bytes], context: Any, path: str) -> int:
        value = 0
        for shift in range(0, 35, 7):
            read_byte = stream.read(1)
            if not read_byte:
                raise MalformedError("the bytes end inside a varint", path)
            byte = read_byte[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                value &= 0xFFFF_FFFF
                return value - (1 << 32) if value >> 31 else value
        raise MalformedError("a varint of more than 5 bytes", path)

    def _build(self, obj: int, stream: IO[bytes], context: Any, path: str) -> int:
        value = obj
        if not 0 <= value < 1 << 32:
            raise MalformedError(f"{obj} does not fit an unsigned varint", path)
        encoded = bytearray()
        while value > 0x7F:
            encoded.append(value & 0x7F | 0x80)
            value >>= 7
        encoded.append(value)
        stream.write(encoded)
        return obj

    def _sizeof(self, context: Any, path: str) -> int:
        raise MalformedError("a varint has no fixed size", path)


class Compact(Adapter):
    """A length in flexible versions: an unsigned varint, one more than the length; 0 is null.

    Kafka subtracts in 32 bits, so that 2^31 claims 2^31-1 elements, while more is null.
    """

    def _decode(self, obj: int, context: Any, path: str) -> int:
        return obj - 1 if obj != engine.LOWEST_INT32 else -1 - engine.LOWEST_INT32

    def _encode(self, obj: int, context: Any, path: str) -> int:
        return obj + 1


class Uuid(Adapter):
    """16 bytes; Kafka prints them as base64url, Python as dashed hex."""

    def _decode(self, obj: bytes, context: Any, path: str) -> UUID:
        return UUID(bytes=obj)

    def _encode(self, obj: UUID, context: Any, path: str) -> bytes:
        return obj.int.to_bytes(16, "big")


class LengthPrefixed(Construct):
    """Base of what a length precedes. `length` reads it; `nullable` allows a negative one."""

    def __init__(self, length: Construct, *, nullable: bool = False) -> None:
        super().__init__()
        self.length = length
        self.nullable = nullable

    def _parse(self, stream: IO[bytes], context: Any, path: str) -> Any:
        size = self.length._parsereport(stream, context, path)
        if size >= 0:
            return self._parse_sized(stream, size, context, path)
        if not self.nullable:
            raise MalformedError("null is not allowed", path)
        return None

    def _build(self, obj: Any, stream: IO[bytes], context: Any, path: str) -> Any:
        if obj is not None:
            self._build_sized(obj, stream, context, path)
        elif self.nullable:
            self.length._build(-1, stream, context, path)
        else:
            raise MalformedError("null is not allowed", path)
        return obj

    def _sizeof(self, context: Any, path: str) -> int:
        raise MalformedError("no fixed size", path)

    def _parse_sized(self, stream: IO[bytes], size: int, context: Any, path: str) -> Any:
        raise NotImplementedError

    def _build_sized(self, obj: Any, stream: IO[bytes], context: Any, path: str) -> None:
        raise NotImplementedError


class Text(LengthPrefixed):
    """A string. What is not UTF-8 survives as lone surrogates, byte for byte."""

    def _parse_sized(self, stream: IO[bytes], size: int, context: Any, path: str) -> str:
        if size > engine.STRING_LIMIT:
            raise MalformedError(f"a string of {size} bytes, {engine.STRING_LIMIT} allowed", path)
        return read(stream, size, path).decode("utf-8", "surrogateescape")

    def _build_sized(self, obj: str, stream: IO[bytes], context: Any, path: str) -> None:
        encoded = obj.encode("utf-8", "surrogateescape")
        if len(encoded) > engine.STRING_LIMIT:
            raise MalformedError(
                f"a string of {len(encoded)} bytes, {engine.STRING_LIMIT} allowed", path
            )
        self.length._build(len(encoded), stream, context, path)
        stream.write(encoded)


class Blob(LengthPrefixed):
    """Bytes."""

    def _parse_sized(self, stream: IO[bytes], size: int, context: Any, path: str) -> bytes:
        return read(stream, size, path)

    def _build_sized(self, obj: bytes, stream: IO[bytes], context: Any, path: str) -> None:
        self.length._build(len(obj), stream, context, path)
        stream.write(obj)


class Records(Blob):
    """ObjectStruct batches as they lie on the wire; `kwire.batches` reads them."""


class KafkaArray(LengthPrefixed):
    """An array: `make` is list for structs and tuple for scalars, which a collector can ignore."""

    def __init__(
        self,
        length: Construct,
        subcon: Construct,
        make: Callable[[list[Any]], Any],
        *,
        nullable: bool = False,
    ) -> None:
        super().__init__(length, nullable=nullable)
        self.subcon = subcon
        self.make = make
        # At least 1, so that a count is bounded also for elements that take no bytes.
        self.least = max(1, least_size(subcon))

    def _parse_sized(self, stream: IO[bytes], size: int, context: Any, path: str) -> Any:
        left = remaining(stream)
        if size * self.least > left:
            raise MalformedError(f"{size} elements claimed, {left} bytes left", path)
        item = self.subcon._parsereport
        return self.make([item(stream, context, f"{path}[{i}]") for i in range(size)])

    def _build_sized(self, obj: Any, stream: IO[bytes], context: Any, path: str) -> None:
        self.length._build(len(obj), stream, context, path)
        for i, element in enumerate(obj):
            self.subcon._build(element, stream, context, f"{path}[{i}]")


class NullableStruct(Construct):
    """A nullable struct after a marker: int8 -1/1, in a tagged field varint 0/1."""

    def __init__(self, subcon: Construct, marker: Construct, null: int) -> None:
        super().__init__()
        self.subcon = subcon
        self.marker = marker
        self.null = null

    def _parse(self, stream: IO[bytes], context: Any, path: str) -> Any:
        if self.marker._parsereport(stream, context, path) <= self.null:
            return None
        return self.subcon._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: IO[bytes], context: Any, path: str) -> Any:
        if obj is None:
            self.marker._build(self.null, stream, context, path)
        else:
            self.marker._build(1, stream, context, path)
            self.subcon._build(obj, stream, context, path)
        return obj

    def _sizeof(self, context: Any, path: str) -> int:
        raise MalformedError("no fixed size", path)


class Tagged(Protocol):
    """An object that a tag section reads into and builds from."""

    unknown_tags: dict[int, bytes] | None


class Tag(msgspec.Struct, frozen=True):
    """One known tagged field: absent on the wire while it equals `default`."""

    name: str
    con: Construct
    default: Any


class Tags(Construct):
    """The tag section that ends a struct in flexible versions (KIP-482).

    Known fields become attributes; unknown ones are kept, by tag, and written back in order.
    """

    def __init__(self, known: Mapping[int, Tag]) -> None:
        super().__init__()
        self.known = dict(sorted(known.items()))

    def parse_into(self, target: Tagged, stream: IO[bytes], context: Any, path: str) -> None:
        count = uvarint._parse(stream, context, path)
        if count < 0:  # Kafka refuses it since 4.4; before, it read none
            raise MalformedError(f"{count} tagged fields", path)
        if count > engine.TAG_LIMIT:
            raise MalformedError(f"{count} tagged fields, {engine.TAG_LIMIT} allowed", path)
        for _ in range(count):
            tag = uvarint._parse(stream, context, path)
            size = uvarint._parse(stream, context, path)
            known = self.known.get(tag)
            # The size of a known field is not checked: Kafka's generated readers ignore it as well.
            if known is not None:
                value = known.con._parsereport(stream, context, f"{path} -> {known.name}")
                setattr(target, known.name, value)
            elif size < 0:
                raise MalformedError(f"tagged field {tag} of negative size", path)
            else:
                target.unknown_tags = target.unknown_tags or {}
                target.unknown_tags[tag] = read(stream, size, f"{path}.tag {tag}")

    def build_from(self, source: Tagged, stream: IO[bytes], context: Any, path: str) -> None:
        encoded = dict(source.unknown_tags or {})
        for tag, known in self.known.items():
            if tag in encoded:
                raise MalformedError(f"unknown tag {tag} is {known.name}'s tag", path)
            value = getattr(source, known.name)
            if value != known.default:
                content = BytesIO()
                build_field(known.con, value, content, context, f"{path} -> {known.name}")
                encoded[tag] = content.getvalue()
        uvarint._build(len(encoded), stream, context, path)
        for tag in sorted(encoded):
            uvarint._build(tag, stream, context, path)
            uvarint._build(len(encoded[tag]), stream, context, path)
            stream.write(encoded[tag])


class ObjectStruct(Struct):
    """A struct that reads straight into `cls` and builds from it.

    subcons: the fields on the wire, renamed; tags: the tag section, None before flexible versions;
    refused: fields this version lacks, with the only value that may be lost by leaving them out.
    """

    def __init__(
        self,
        cls: type[Any],
        fields: Mapping[str, Construct],
        tags: Tags | None,
        refused: Mapping[str, Any],
    ) -> None:
        super().__init__(*(name / con for name, con in fields.items()))
        self.cls = cls
        self.tags = tags
        self.refused = dict(refused)

    def _parse(self, stream: IO[bytes], context: Any, path: str) -> Any:
        obj = self.cls()
        start = stream.tell()
        try:
            for field in self.subcons:
                start = stream.tell()
                setattr(obj, field.name, field._parsereport(stream, context, path))
            if self.tags is not None:
                start = stream.tell()
                self.tags.parse_into(obj, stream, context, path)
        except ConstructError as error:
            # The innermost struct sets it: its offset is the closest to the cause.
            if not hasattr(error, "offset"):
                error.offset = start
            raise
        return obj

    def _build(self, obj: Any, stream: IO[bytes], context: Any, path: str) -> Any:
        if not isinstance(obj, self.cls):
            raise MalformedError(f"{self.cls.__name__} wanted, not {type(obj).__name__}", path)
        for name, default in self.refused.items():
            if getattr(obj, name) != default:
                raise MalformedError("not in this version", f"{path} -> {name}")
        for field in self.subcons:
            value = getattr(obj, field.name)
            build_field(field.subcon, value, stream, context, f"{path} -> {field.name}")
        if self.tags is not None:
            self.tags.build_from(obj, stream, context, path)
        elif obj.unknown_tags:
            raise MalformedError("tagged fields are not in this version", path)
        return obj


def build_field(con: Construct, value: Any, stream: IO[bytes], context: Any, path: str) -> None:
    """Build one field; what Python says of a wrong value becomes an error at its path."""
    # construct's Flag takes any value for its truth: 2 or "no" would be written as true.
    if con is Flag and value.__class__ is not bool:
        raise MalformedError(f"{value!r} is no boolean", path)
    try:
        con._build(value, stream, context, path)
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise MalformedError(f"{value!r} is not a value of this field", path) from error
    except FormatFieldError as error:
        kind = INTEGERS.get(con)
        if kind is None:
            raise
        raise MalformedError(f"{value!r} is no {kind}", path) from error


def least_size(con: Construct) -> int:
    """Fewest bytes that a value of `con` takes: what a claimed count is checked against."""
    match con:
        case Renamed():
            return least_size(con.subcon)
        case ObjectStruct():
            return sum(map(least_size, con.subcons)) + (con.tags is not None)
        case LengthPrefixed():
            return least_size(con.length)
        case NullableStruct():
            return least_size(con.marker)
        case UVarint() | Compact():
            return 1
    return int(con.sizeof())


uvarint = UVarint()
compact = Compact(uvarint)
uuid = Uuid(Bytes(16))

FIXED_SIZE: Mapping[str, Construct] = {
    **{kind: con for con, kind in INTEGERS.items()},
    "float64": Float64b,
    "boolean": Flag,
    "uuid": uuid,
    "uvarint": uvarint,
    "compact": compact,
}
"""Constructs of values that tell their own size, by the kind that a field type names; `uvarint` and
`compact` are lengths and markers."""

VARIABLE_LENGTH: Mapping[str, type[LengthPrefixed]] = {
    "string": Text,
    "bytes": Blob,
    "records": Records,
}
"""Constructs of values that a length precedes, by the kind that a field type names."""
