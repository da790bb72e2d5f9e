"""`kwire log`: the metadata log's files as text, in the form of kafka-dump-log."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, reads_options
from kwire.cli.unpack_limit import UNPACK_LIMIT

app = command_group(
    "Show the files of a metadata log, and what changed in it (KIP-595, KIP-630).",
    {
        "history": "kwire.cli.log_history:history",
        "blame": "kwire.cli.log_history:blame",
    },
)


@app.command()
@reads_options
def dump(
    files: list[Path] = argument(
        metavar="FILE...",
        help="Segments, indexes, snapshots, quorum-state, leader-epoch-checkpoint;"
        " a folder stands for all of them in it.",
    ),
    skip_record_metadata: bool = flag(
        help="Print the values only, control records as empty lines."
    ),
    as_json: bool = flag("--json", help="Print a JSON value a line, for each record."),
    unpack_limit: int = UNPACK_LIMIT,
) -> None:
    """Print segments, snapshots and the small files beside them.

    What is wrong with them goes to stderr, with exit code 1; nothing is changed.

    \b
    kwire log dump /var/lib/kafka/__cluster_metadata-0
    """
    if as_json:
        return _dump_json(files)
    from kwire.logdir.dump import Dump
    from kwire.text.untrusted import harmless

    dumper = Dump(skip_record_metadata=skip_record_metadata)
    write = sys.stdout.write  # echo flushes every line
    for file in files:
        for line in dumper.lines(file):
            write(f"{harmless(line)}\n")
    for problem in dumper.problems:
        typer.secho(harmless(problem), fg="yellow", err=True)
    if dumper.problems:
        raise typer.Exit(1)


def _dump_json(files: list[Path]) -> None:
    from kwire.cli.screen import print_json
    from kwire.logdir.dump_json import records_as_json

    for file in files:
        for record in records_as_json(file):
            print_json(record, indent=None)
