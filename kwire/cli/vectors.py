"""`kwire vectors`: messages as bytes and as JSON, to test a codec with."""

from __future__ import annotations

import json
from pathlib import Path

from kwire.cli.errors import CommandFailed
from kwire.cli.exit_codes import exit_code
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, option, reads_options
from kwire.cli.output import Column, OutputOptions, Table, number_columns, text_columns
from kwire.cli.screen import screen

app = command_group("Test a codec: bytes, Kafka's JSON, and Kafka's verdict on damaged bytes.")


@app.command()
@reads_options
def show(
    *,
    message: str | None = argument(
        default=None, metavar="[MESSAGE]", help="A message, an API or its key: Vote, 52."
    ),
    version: int | None = option(metavar="N", min=0, help="This version; by default each."),
    printed: OutputOptions,
) -> None:
    """Print messages as bytes and as JSON. They are always the same.

    Every message has up to seven in each version: with defaults, with a value of its own in every
    field, with nulls, with nothing in strings and arrays, with the lowest and the highest numbers,
    and with tagged fields of later versions. The bytes are the body alone, without a header and a
    size. --json has both forms.

    \b
    kwire vectors show VoteRequest --version 2 --json
    kwire vectors show --json | jq -c '.vectors[]'
    """
    columns = (
        *text_columns("name"),
        *number_columns("version"),
        *text_columns("example", "hex"),
        Column(key="json", wide=True, text=json.dumps),
    )
    from kwire.codec.examples import examples
    from kwire.codec.json_form import to_json
    from kwire.messages import registry
    from kwire.protocol.release_facts import named

    rows = (
        {
            "name": name,
            "version": each,
            "example": kind.value,
            "hex": data.hex(),
            "json": to_json(instance, each),
        }
        for name in (registry.names() if message is None else named(message))
        for each in registry.message(name).versions
        if version in (None, each)
        for kind, instance, data in examples(registry.message(name), each)
    )
    printed.output(both=True).show(Table("vectors", columns, rows), empty="no such version")


@app.command()
@reads_options
def export(
    *,
    folder: Path = argument(metavar="DIR", help="A new folder, or an empty one."),
    printed: OutputOptions,
) -> None:
    """Write the bytes and Kafka's JSON of all messages and versions, and damaged ones, to a folder.

    Files of JSON lines, which any language reads: vectors.jsonl, the messages of `kwire vectors
    show`; mutants.jsonl, one of them with one damage each, whether Kafka reads it all the same, and
    what; batches.jsonl, record batches that Kafka wrote. manifest.json has the schemas of their
    lines, the counts and the releases of Kafka. Every line is what Kafka's own classes say; needs
    no Java. docs/engineers/vectors.md shows tests of codecs in Python and Go.

    \b
    kwire vectors export vectors
    jq -c 'select(.name == "VoteRequest" and .version == 2)' vectors/vectors.jsonl
    jq -c 'select(.accepted) | [.name, .version, .mutation, .field]' vectors/mutants.jsonl
    """
    from rich.progress import Progress

    from kwire.messages.registry import names
    from kwire.vectors import export_vectors

    output, console = printed.output(both=True), screen(stderr=True)
    with exit_code(output):
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("writing messages", total=len(names()))
            try:
                manifest = export_vectors(folder, lambda: bar.advance(task))
            except OSError as error:
                raise CommandFailed(f"cannot write into {folder}: {error.strerror}.") from error
        rows = [{"file": name, "rows": file["rows"]} for name, file in manifest["files"].items()]
        facts = {"folder": str(folder)}
        facts |= {name: manifest[name] for name in ("kwire", "releases", "messages", "versions")}
        columns = (*text_columns("file"), *number_columns("rows"))
        output.show(Table("files", columns, rows, facts=facts))
