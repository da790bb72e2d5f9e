"""`kwire capture merge`, `split` and `anonymize`: make captures from captures."""

from __future__ import annotations

from pathlib import Path

import typer

from kwire.cli.capture.files import CAPTURES, DamageTold, files, print_written, records_of
from kwire.cli.errors import WrongUsage
from kwire.cli.options import argument, option, reads_options

OUT = option("--out", "-o", default=..., metavar="FILE", help="The capture to write.")


@reads_options
def merge(captures: list[Path] = CAPTURES, out: Path = OUT) -> None:
    """Write the events of captures to one, by their times; what stands in two is written once.

    \b
    kwire capture merge node1.avro node2.avro --out both.avro
    """
    from kwire.capture.editing import merge_captures

    damage = DamageTold()
    print_written(merge_captures(files(captures), out, damage), out)
    damage.end()


@reads_options
def split(
    capture: Path = argument(metavar="FILE", help="A capture."),
    into: Path = option(
        "--into", default=..., metavar="DIR", help="The folder, made where it is missing."
    ),
    seconds: float | None = option(min=0.001, metavar="SECONDS", help="A file for so long each."),
    mib: float | None = option(min=0.001, metavar="MIB", help="Files of about this size."),
) -> None:
    """Write the events of a capture to several, by time or by size.

    \b
    kwire capture split night.avro --into hours --seconds 3600
    """
    from kwire.capture.editing import split_capture
    from kwire.permissions import make_private_folder

    if (seconds is None) == (mib is None):
        raise WrongUsage("Give one of --seconds and --mib.")
    make_private_folder(into)
    size = None if mib is None else round(mib * 1024 * 1024)
    damage = DamageTold()
    for path in split_capture(capture, into, damage, seconds=seconds, size=size):
        typer.echo(path)
    damage.end()


@reads_options
def anonymize(
    captures: list[Path] = CAPTURES,
    out: Path = OUT,
    key_file: Path | None = option(
        metavar="FILE",
        help="A secret in a file, - for stdin: the same one gives the same names in the next"
        " capture.",
    ),
) -> None:
    """Rename topics, clients, hosts and all other strings, and take out contents and secrets.

    Names become the same for the same string. Node ids, random ids, internal topics, names of
    configs, sizes of arrays and times stay. What does not decode is left out.

    \b
    kwire capture anonymize quorum.avro --out to-give-away.avro
    kwire capture anonymize quorum.avro --out to-give-away.avro --key-file names.key
    """
    from hashlib import sha256
    from secrets import token_bytes

    from kwire.capture.editing import events_of, write_events
    from kwire.cli.secret_input import read_secret
    from kwire.proxy.capture.anonymize import Anonymizer

    if key_file is None:
        key = token_bytes(32)
    else:
        key = sha256(read_secret(key_file, "key", "--key-file").encode()).digest()
    anonymizer = Anonymizer(key)
    damage = DamageTold()
    groups = events_of(records_of(files(captures)), damage)
    count = write_events(map(anonymizer.event, groups), out)
    print_written(count, out)
    damage.end()
