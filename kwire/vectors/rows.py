"""The rows of exported vectors: a JSON object a line, of messages and of mutants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from kwire.codec.declaration import Message
from kwire.codec.examples import ExampleKind, examples
from kwire.codec.json_form import from_json, to_json
from kwire.errors import DecodeError
from kwire.net.frames import request_header_version, response_header_version
from kwire.protocol import facts
from kwire.vectors.mutants import Mutation, mutants

UNWRITABLE = (Mutation.TAGS_OUT_OF_ORDER, Mutation.TAG_TWICE)
"""Kafka keeps such tags as it read them, and then refuses to write them; kwire sorts them."""


class MessageRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Bytes of one version of a message. They are the body, without size and header.

    kind: request, response, header, metadata (a record of the cluster metadata log),
    remote-log-metadata, coordinator-key, coordinator-value or data. key: the API key of a request
    and its response, the type of a record. flexible: it has compact lengths and tagged fields.
    headerVersion: of the RequestHeader or ResponseHeader before it. judgedBy: the release of Apache
    Kafka whose own classes read these bytes. hex: the bytes.
    """

    name: str
    kind: str
    key: int | None = None
    version: int
    flexible: bool
    header_version: int | None = None
    judged_by: str
    hex: str


class VectorRow(MessageRow, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A message that Kafka reads, and writes with the same bytes.

    example: how its values were chosen. json: what Kafka's JsonConverter prints. Members that begin
    with an underscore are not Kafka's and keep what its form loses: _unknownTags of a struct, by
    tag, and _records beside a field that holds records. Both are base64.
    """

    example: ExampleKind
    json: dict[str, Any]


class MutantRow(MessageRow, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The example `filled` with one damage, and whether Kafka reads it all the same.

    mutation: the damage. field: its path in Kafka's JSON, without indexes; empty for the whole
    message. accepted: Kafka reads a message from these bytes. Then leftOver is the number of bytes
    after it, 0 by default, json what Kafka's JsonConverter prints, and rewritten what Kafka writes
    for it, where that is not what it read. unwritable: Kafka can read it and not write it.
    """

    mutation: Mutation
    field: str
    accepted: bool
    left_over: int = 0
    json: dict[str, Any] | None = None
    rewritten: str | None = None
    unwritable: bool = False


class BatchRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Record batches that Kafka's own classes wrote, and what they read in them.

    name: what is special about them. batches: the fields of each batch and its records; keys,
    values and headers are base64, what a magic has no field for is -1. Several compressors give
    several bytes for the same records: these are to be read, not to be written byte for byte.
    """

    name: str
    judged_by: str
    hex: str
    batches: list[dict[str, Any]]


def vector_rows(cls: type[Message], version: int, release: str) -> Iterator[VectorRow]:
    """Yield the examples of a version. Raises UnsupportedVersion."""
    known = _facts_of(cls, version, release)
    for kind, instance, data in examples(cls, version):
        yield VectorRow(**known, hex=data.hex(), example=kind, json=to_json(instance, version))


def mutant_rows(cls: type[Message], version: int, release: str) -> Iterator[MutantRow]:
    """Yield the mutants of a version, as Kafka judges them. Raises UnsupportedVersion."""
    known = _facts_of(cls, version, release)
    for mutation, field, data in mutants(cls, version):
        verdict = _verdict(cls, version, data, is_writable=mutation not in UNWRITABLE)
        yield MutantRow(**known, hex=data.hex(), mutation=mutation, field=field, **verdict)


def _facts_of(cls: type[Message], version: int, release: str) -> dict[str, Any]:
    kind, key = _kinds()[cls.__name__], cls.key
    header = {"request": request_header_version, "response": response_header_version}.get(kind)
    return {
        "name": cls.__name__,
        "kind": kind,
        "key": key,
        "version": version,
        "flexible": version in cls.flexible,
        "header_version": None if header is None or key is None else header(key, version),
        "judged_by": release,
    }


def _verdict(cls: type[Message], version: int, data: bytes, *, is_writable: bool) -> dict[str, Any]:
    """Return Kafka's verdict, by the rules in which it differs from kwire's own."""
    try:
        read, end = cls.decode_from(data, version)
    except DecodeError:
        return {"accepted": False}
    # Kafka reads each byte that is no UTF-8 as U+FFFD; kwire keeps it.
    written = from_json(cls, _replaced(to_json(read, version)), version).encode(version)
    return {
        "accepted": True,
        "left_over": len(data) - end,
        "json": _replaced(to_json(read, version, exact=False)),
        "rewritten": written.hex() if is_writable and written != data[:end] else None,
        "unwritable": not is_writable,
    }


def _replaced(tree: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogateescape")
    replaced: dict[str, Any] = json.loads(text.decode("utf-8", "replace"))
    return replaced


@cache
def _kinds() -> dict[str, str]:
    return {fact.name: fact.kind for fact in facts().messages}
