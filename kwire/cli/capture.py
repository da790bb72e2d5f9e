"""`kwire capture`: what `kwire proxy -w` has recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.failure import Failure
from kwire.cli.flow_options import (
    AsJson,
    From,
    Hidden,
    Only,
    ShowSecrets,
    To,
    Verbose,
    View,
    display,
)
from kwire.cli.lazy import lazy_group

if TYPE_CHECKING:
    from kwire.capture import CaptureRecord, Damage
    from kwire.cli.capture_facts import Facts

app = typer.Typer(
    cls=lazy_group(
        {
            "export": "kwire.cli.capture_exchange:export",
            "import": "kwire.cli.capture_exchange:import_",
            "merge": "kwire.cli.capture_editing:merge",
            "split": "kwire.cli.capture_editing:split",
            "anonymize": "kwire.cli.capture_editing:anonymize",
        }
    ),
    help="Read, mend and change what `kwire proxy -w` has recorded.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Captures = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Captures; a folder stands for all of them in it."),
]


@app.command()
def info(
    captures: Captures,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Say what is in captures, and what is wrong with them; exit code 1 where something is.

    \b
    kwire capture info quorum.avro
    """
    from kwire.cli.capture_facts import Facts
    from kwire.cli.screen import print_json

    found = [Facts.of(path) for path in files(captures)]
    if as_json:
        print_json([facts.data() for facts in found])
    else:
        for facts in found:
            _print_facts(facts)
    if any(facts.damages for facts in found):
        raise typer.Exit(1)


@app.command()
def cat(
    captures: Captures,
    api: Only = None,
    no_api: Hidden = None,
    view: View = None,
    since: From = None,
    until: To = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
    show_secrets: ShowSecrets = False,
) -> None:
    """Show recorded RPCs as `kwire proxy` does; damage goes to stderr, with exit code 1.

    \b
    kwire capture cat quorum.avro --api Vote -v
    kwire capture cat quorum.avro --view "~api Fetch & ~lat >100ms" --from +10s --to +20s
    kwire capture cat captures/ --from 2026-11-21T09:30:00Z --json
    """
    from kwire.cli.capture_reading import Reading

    how = display(api, no_api, view, verbose=verbose, as_json=as_json, secrets=show_secrets)
    Reading(captures=captures, since=since, until=until).show(how)


@app.command()
def repair(
    capture: Annotated[Path, typer.Argument(metavar="FILE", help="A damaged capture.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write what can be read here."),
    ] = None,
) -> None:
    """Keep every record of a damaged capture that is whole, those of an unfinished block as well.

    Without --out a file whose end is torn is mended in place. A recording that was killed is the
    hidden file .NAME.part: with --out it gets its name. Where no record is whole nothing is
    written, and the exit code is 1.

    \b
    kwire capture repair .quorum.avro.part --out quorum.avro
    """
    from kwire.capture import repair_capture

    done = repair_capture(capture, out)
    for damage in done.damages:
        warn(damage)
    typer.echo(f"{done.records} records kept, {done.lost} bytes lost: {out or capture}")


def files(captures: list[Path]) -> list[Path]:
    """The files that arguments stand for; Failure where there are none."""
    from kwire.capture import captures_at

    found = captures_at(captures)
    if not found:
        raise Failure(f"there is no capture in {', '.join(map(str, captures))}")
    return found


def say_written(events: int, out: Path) -> None:
    """Say how many events are in the new file. Raises Failure where none was, and so no file is."""
    if not events:
        raise Failure(f"there is no event to write: {out} was not made")
    typer.echo(f"{events} events written to {out}")


def warn(damage: Damage) -> None:
    """Tell of damage on stderr."""
    from kwire.text.printable import harmless

    typer.secho(harmless(str(damage)), fg="yellow", err=True)


def everything(paths: list[Path]) -> Iterator[CaptureRecord | Damage]:
    """The records of captures, one file after the other."""
    from kwire.capture import read_capture

    for path in paths:
        yield from read_capture(path)


def _print_facts(facts: Facts) -> None:
    from kwire.text.printable import harmless

    for line in facts.lines():
        typer.echo(harmless(line))
    for damage in facts.damages:
        warn(damage)
