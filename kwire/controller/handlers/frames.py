"""Requests and answers as frames, as Java's controller reads and writes them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kwire.codec.declaration import Group, Response
from kwire.codec.fields import ArrayOf, FieldType, Nullable, StructClass, StructOf, VariableLength
from kwire.errors import EncodeError
from kwire.net.frames import RequestFrame, decode_request, encode_response

MAX_MESSAGE = 1000
"""Characters of an error message that quotes more than a string can have."""


def request_frame(frame: bytes) -> RequestFrame:
    """Decode a frame, without its size. Raises as `decode_request`.

    What is no UTF-8 becomes U+FFFD, as Java reads it: kwire's codec keeps it byte for byte, and a
    record of it would have another name here than in the metadata of Kafka's nodes.
    """
    decoded = decode_request(frame)
    if not frame.isascii():
        _replace_invalid(decoded.body)
    return decoded


def answer_frame(response: Response, version: int, *, correlation_id: int) -> bytes:
    """Return the frame of a response, size included.

    An error message that quotes a name of 32,767 bytes is longer than a string may be. It is cut:
    what the request changed is in the log, and its answer must not be lost.
    """
    try:
        return encode_response(response, version, correlation_id=correlation_id)
    except EncodeError:
        _cut_messages(response)
    return encode_response(response, version, correlation_id=correlation_id)


def valid_text(text: str) -> str:
    """Return a text as Java has it, with U+FFFD for what was no UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _replace_invalid(group: Group) -> None:
    texts, arrays, groups = _fields(type(group))
    for name in texts:
        text = getattr(group, name)
        if text is not None and not text.isascii():
            setattr(group, name, valid_text(text))
    for name in arrays:
        if getattr(group, name):
            setattr(group, name, tuple(map(valid_text, getattr(group, name))))
    for name in groups:
        for item in _groups(getattr(group, name)):
            _replace_invalid(item)


def _cut_messages(group: Group) -> None:
    for name in type(group).fields:
        value = getattr(group, name)
        if name == "error_message" and len(value or "") > MAX_MESSAGE:
            setattr(group, name, f"{value[:MAX_MESSAGE]}…")
        for item in _groups(value):
            _cut_messages(item)


def _groups(value: object) -> Iterator[Group]:
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, Group):
            yield item


@cache
def _fields(kind: StructClass) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the fields of a struct that are strings, arrays of them, and structs."""
    texts: list[str] = []
    arrays: list[str] = []
    groups: list[str] = []
    for name, field in kind.fields.items():
        type = _bare(field.type)
        is_array = isinstance(type, ArrayOf)
        element = _bare(type.element) if isinstance(type, ArrayOf) else type
        if isinstance(element, VariableLength) and element.kind == "string":
            (arrays if is_array else texts).append(name)
        elif isinstance(element, StructOf):
            groups.append(name)
    return texts, arrays, groups


def _bare(type: FieldType) -> FieldType:
    return type.inner if isinstance(type, Nullable) else type
