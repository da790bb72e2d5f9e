"""`kwire capture`: what `kwire proxy -w` has recorded."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.failure import Failure, WrongUsage

if TYPE_CHECKING:
    from cli.capture_facts import Facts
    from kwire.capture import CaptureRecord, Damage

app = typer.Typer(
    help="Read, mend and change what `kwire proxy -w` has recorded.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Captures = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Captures; a folder stands for all of them in it."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", help="From this time on, as in 2026-11-21T09:30:00Z."),
]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Up to before this time.")]


@app.command()
def info(captures: Captures, as_json: AsJson = False) -> None:
    """Say what is in captures, and what is wrong with them; exit code 1 where something is.

    \b
    kwire capture info quorum.avro
    """
    from cli.capture_facts import Facts
    from cli.screen import print_json

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
    api: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Show this API only; may be repeated.")
    ] = None,
    no_api: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Do not show this API; may be repeated."),
    ] = None,
    since: From = None,
    until: To = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the whole messages, field by field.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON value a line, the counts last.")
    ] = False,
) -> None:
    """Show recorded RPCs as `kwire proxy` does; damage goes to stderr, with exit code 1.

    \b
    kwire capture cat quorum.avro --api Vote -v
    kwire capture cat captures/ --from 2026-11-21T09:30:00Z --json
    """
    from cli.proxy import apis
    from cli.proxy_run import Display, Selection
    from kwire.capture import Damage
    from proxy import DecodedFlow, Flow
    from proxy.records import events, within

    display = Display(Selection(apis(api), apis(no_api)), verbose=verbose, as_json=as_json)
    damages = 0
    start, stop = instant(since), instant(until)
    for event in within(events(everything(files(captures))), start, stop):
        if isinstance(event, Damage):
            damages += 1
            warn(event)
        else:
            display.show(DecodedFlow(event) if isinstance(event, Flow) else event)
    display.end(dropped=0)
    if damages:
        raise typer.Exit(1)


@app.command()
def repair(
    capture: Annotated[Path, typer.Argument(metavar="FILE", help="A damaged capture.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write what can be read here."),
    ] = None,
) -> None:
    """Cut a torn capture behind its last whole block, or copy what can be read of a damaged one.

    A recording that was killed is the hidden file .NAME.part: with --out it gets its name.

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


def instant(text: str | None) -> float | None:
    """Unix seconds of a time that a user gave, in local time where it names no zone."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise WrongUsage(f"{text!r} is no time: write 2026-11-21T09:30:00Z.") from None


def warn(damage: Damage) -> None:
    """Tell of damage on stderr."""
    from kwire.text import harmless

    typer.secho(harmless(str(damage)), fg="yellow", err=True)


def everything(paths: list[Path]) -> Iterator[CaptureRecord | Damage]:
    """The records of captures, one file after the other."""
    from kwire.capture import read_capture

    for path in paths:
        yield from read_capture(path)


def _print_facts(facts: Facts) -> None:
    from kwire.text import harmless

    for line in facts.lines():
        typer.echo(harmless(line))
    for damage in facts.damages:
        warn(damage)
