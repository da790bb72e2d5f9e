"""`kwire protocol vectors`: messages in hex and JSON, to test a codec with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kwire.cli.options import argument, option, reads_options
from kwire.cli.output import Column, OutputOptions, Table, text_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kwire.codec.declaration import Message


@reads_options
def vectors(
    *,
    message: str | None = argument(
        default=None, metavar="[MESSAGE]", help="A message, an API or its key: Vote, 52."
    ),
    version: int | None = option(metavar="N", min=0, help="This version; by default each."),
    printed: OutputOptions,
) -> None:
    """Print messages as bytes and as JSON, to test a codec with. They are always the same.

    Every message has up to five in each version: with defaults, with a value of its own in every
    field, with nulls and nothing, with the lowest and the highest numbers, and with tagged fields
    of later versions. Kafka's own classes read these bytes, write the same ones, and print the same
    JSON. The bytes are the body alone, without a header and a size. --json has both forms.

    \b
    kwire protocol vectors VoteRequest --version 2 --json
    kwire protocol vectors --json | jq -c '.vectors[]'
    """
    columns = (
        *text_columns("name"),
        Column(key="version", right=True),
        *text_columns("example", "hex"),
        Column(key="json", wide=True, text=json.dumps),
    )
    rows = [row for cls in _classes(message) for row in _rows(cls, version)]
    printed.output(both=True).show(Table("vectors", columns, rows), empty="no such version")


def _classes(message: str | None) -> list[type[Message]]:
    """Return the messages of a name; all without one. Raises UnknownMessage."""
    from kwire.messages import registry
    from kwire.protocol.release_facts import named

    names = registry.names() if message is None else named(message)
    return [registry.message(name) for name in names]


def _rows(cls: type[Message], version: int | None) -> Iterator[dict[str, Any]]:
    from kwire.codec.examples import examples
    from kwire.codec.json_form import to_json

    for each in cls.versions:
        if version is not None and each != version:
            continue
        for kind, instance, data in examples(cls, each):
            yield {
                "name": cls.__name__,
                "version": each,
                "example": kind.value,
                "hex": data.hex(),
                "json": to_json(instance, each),
            }
