"""Finds in the bytes of a message the places that a mutant can be made at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from construct import Construct, Renamed

from kwire.codec.constructs import (
    KafkaArray,
    LengthPrefixed,
    NullableStruct,
    ObjectStruct,
    Source,
    Tags,
    uvarint,
)
from kwire.codec.json_form import camel


class Span(NamedTuple):
    """A value of a message, from start to end.

    field: its path in Kafka's JSON, without indexes. content: the offset after the length, marker
    or count that begins it.
    """

    con: Construct
    field: str
    start: int
    content: int
    end: int


def spans(con: Construct, stream: Source, field: str = "") -> Iterator[Span]:
    """Yield each value in bytes that read without an error, inner ones before outer ones."""
    start = content = stream.tell()
    match con:
        case Renamed():
            yield from spans(con.subcon, stream, f"{field}.{camel(con.name)}".lstrip("."))
            return
        case ObjectStruct():
            for member in (*con.subcons, *filter(None, [con.tags])):
                yield from spans(member, stream, field)
            return
        case LengthPrefixed():
            size = max(0, con.length.parse_stream(stream))
            content = stream.tell()
            if isinstance(con, KafkaArray):
                for _ in range(size):
                    yield from spans(con.subcon, stream, field)
            else:
                stream.seek(size, 1)
        case NullableStruct():
            is_null = con.marker.parse_stream(stream) <= con.null
            content = stream.tell()
            if not is_null:
                yield from spans(con.subcon, stream, field)
        case Tags():
            count = uvarint.parse_stream(stream)
            content = stream.tell()
            for _ in range(count):
                tag, _size = uvarint.parse_stream(stream), uvarint.parse_stream(stream)
                yield from spans(con.known[tag].name / con.known[tag].con, stream, field)
        case _:
            con.parse_stream(stream)
    yield Span(con, field, start, content, stream.tell())
