"""Damaged messages, always the same: bytes that a codec has to refuse, or to read all the same."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from construct import Flag

from kwire.codec.constructs import (
    INTEGERS,
    Compact,
    LengthPrefixed,
    NullableStruct,
    Source,
    Tags,
    Text,
    uvarint,
)
from kwire.codec.declaration import Message
from kwire.codec.examples import UNKNOWN_TAG, ExampleKind, examples
from kwire.codec.json_form import RANGES
from kwire.vectors.spans import Span, spans

MOST = (1 << 31) - 2
"""The greatest length that fits four bytes as a compact length, which is one more."""


class Mutation(StrEnum):
    """The damage of a mutant.

    LAST_BYTE_MISSING, SECOND_HALF_MISSING, BYTE_AFTER_END: of the whole message. NULL: the length
    of null where the field cannot be null. NEGATIVE_LENGTH: -2, which is no length. TOO_LONG: the
    greatest length that its bytes can hold. NOT_UTF_8: the first byte of a string is FF. BOOLEAN_2:
    neither 0 nor 1. MARKER_2: a nullable struct after a marker that is neither.
    TAGS_OUT_OF_ORDER, TAG_TWICE: two unknown tagged fields. TAG_TOO_LONG, TOO_MANY_TAGS: a size and
    a number that reach behind the end. LONGER_VARINT: the number of tags in one byte more than it
    needs. VARINT_OF_SIX_BYTES: the same number in six bytes.
    """

    LAST_BYTE_MISSING = "last-byte-missing"
    SECOND_HALF_MISSING = "second-half-missing"
    BYTE_AFTER_END = "byte-after-end"
    NULL = "null"
    NEGATIVE_LENGTH = "negative-length"
    TOO_LONG = "too-long"
    NOT_UTF_8 = "not-utf-8"
    BOOLEAN_2 = "boolean-2"
    MARKER_2 = "marker-2"
    TAGS_OUT_OF_ORDER = "tags-out-of-order"
    TAG_TWICE = "tag-twice"
    TAG_TOO_LONG = "tag-too-long"
    TOO_MANY_TAGS = "too-many-tags"
    LONGER_VARINT = "longer-varint"
    VARINT_OF_SIX_BYTES = "varint-of-six-bytes"


class ByteEdit(NamedTuple):
    """Bytes that replace those from a start to an end."""

    mutation: Mutation
    field: str
    start: int
    end: int
    bytes: bytes


def mutants(cls: type[Message], version: int) -> Iterator[tuple[Mutation, str, bytes]]:
    """Yield the `filled` example with one damage each, in every field once.

    The second is the field's path in Kafka's JSON, without indexes; empty for the whole message.
    Raises UnsupportedVersion.
    """
    made = {kind: data for kind, _, data in examples(cls, version)}
    data = made.get(ExampleKind.FILLED, made[ExampleKind.DEFAULTS])
    edits = [*_whole_edits(data)]
    for span in spans(cls.at(version), Source(data)):
        edits += _edits(span, data)
    once = {(edit.mutation, edit.field): edit for edit in reversed(edits)}
    for edit in reversed(once.values()):
        damaged = data[: edit.start] + edit.bytes + data[edit.end :]
        yield edit.mutation, edit.field, damaged


def _whole_edits(data: bytes) -> Iterator[ByteEdit]:
    size = len(data)
    if data:
        yield ByteEdit(Mutation.LAST_BYTE_MISSING, "", size - 1, size, b"")
    if size > 1:
        yield ByteEdit(Mutation.SECOND_HALF_MISSING, "", size // 2, size, b"")
    yield ByteEdit(Mutation.BYTE_AFTER_END, "", size, size, b"\0")


def _edits(span: Span, data: bytes) -> Iterator[ByteEdit]:
    con, field, start, content, end = span
    match con:
        case LengthPrefixed():
            yield from _length_edits(con, span)
        case NullableStruct():
            yield ByteEdit(Mutation.MARKER_2, field, start, content, b"\2")
        case Tags() if not field:
            yield from _tag_edits(span, data)
    if con is Flag:
        yield ByteEdit(Mutation.BOOLEAN_2, field, start, end, b"\2")
    if isinstance(con, Text) and content < end:
        yield ByteEdit(Mutation.NOT_UTF_8, field, content, content + 1, b"\xff")


def _length_edits(con: LengthPrefixed, span: Span) -> Iterator[ByteEdit]:
    _, field, start, content, end = span
    most = MOST
    if not con.nullable:
        yield ByteEdit(Mutation.NULL, field, start, end, con.length.build(-1))
    if not isinstance(con.length, Compact):
        most = RANGES[INTEGERS[con.length]][1]
        yield ByteEdit(Mutation.NEGATIVE_LENGTH, field, start, end, con.length.build(-2))
    yield ByteEdit(Mutation.TOO_LONG, field, start, content, con.length.build(most))


def _tag_edits(span: Span, data: bytes) -> Iterator[ByteEdit]:
    """Yield edits of the tags at the end of a message."""
    _, _, start, content, end = span
    count = uvarint.parse(data[start:content])
    later, latest = (uvarint.build(tag) for tag in (UNKNOWN_TAG, UNKNOWN_TAG + 1))
    for mutation, *added in (
        (Mutation.TAGS_OUT_OF_ORDER, latest + b"\1b", later + b"\1a"),
        (Mutation.TAG_TWICE, later + b"\1a", later + b"\1b"),
        (Mutation.TAG_TOO_LONG, later + uvarint.build(MOST)),
    ):
        section = uvarint.build(count + len(added)) + data[content:end] + b"".join(added)
        yield ByteEdit(mutation, "", start, end, section)
    padded = data[start : content - 1] + bytes([data[content - 1] | 0x80])
    for mutation, number in (
        (Mutation.TOO_MANY_TAGS, uvarint.build(MOST)),
        (Mutation.LONGER_VARINT, padded + b"\0"),
        (Mutation.VARINT_OF_SIX_BYTES, padded + b"\x80\x80\x80\x80\0"),
    ):
        yield ByteEdit(mutation, "", start, content, number)
