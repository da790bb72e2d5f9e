"""Sentences on what each field is for, from `field_descriptions.tsv`.

A line of the file is a key, a tab and a sentence. The key is the field's name in Kafka's schemas
where the sentence holds for every field of that name; what is true of some only has an owner before
it, and the first of these keys that is there decides:

    FetchRequest.FetchPartition.FetchOffset    in this struct of this message
    FetchPartition.FetchOffset                 in every struct, or message, of that name
    Request.GroupId                            in every request, outside structs
    Request[].Partitions                       in every request, inside structs
    FetchOffset                                anywhere
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import msgspec

from kwire.protocol.model import FieldFact, MessageFact

FILE = "field_descriptions.tsv"


@cache
def sentences() -> dict[str, str]:
    """Return the sentences by their keys, in the order of the file."""
    text = files("kwire.protocol").joinpath(FILE).read_text(encoding="utf-8")
    return dict(line.split("\t") for line in text.splitlines())


def described_fields(message: MessageFact) -> tuple[FieldFact, ...]:
    """Return the fields of a message, those of its structs too, with their descriptions."""
    return tuple(_described(message, message.name, field) for field in message.fields)


def key_of(message: MessageFact, struct: str, field: str) -> str | None:
    """Return the key of the sentence about a field, None if there is no sentence.

    struct: the name of the field's struct, or of the message if it is outside structs.
    """
    return next((key for key in _keys(message, struct, field) if key in sentences()), None)


def _described(message: MessageFact, struct: str, field: FieldFact) -> FieldFact:
    key = key_of(message, struct, field.name)
    inner = field.type.removeprefix("[]")
    return msgspec.structs.replace(
        field,
        description=None if key is None else sentences()[key],
        fields=tuple(_described(message, inner, each) for each in field.fields),
    )


def _keys(message: MessageFact, struct: str, field: str) -> Iterator[str]:
    # Some schemas, of coordinators' records above all, begin names with a small letter.
    name = field[0].upper() + field[1:]
    kind = message.kind.title().replace("-", "")
    nested = struct != message.name
    if nested:
        yield f"{message.name}.{struct}.{name}"
    yield f"{struct}.{name}"
    yield f"{kind}[].{name}" if nested else f"{kind}.{name}"
    yield name
