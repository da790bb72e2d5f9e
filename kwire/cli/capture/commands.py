"""`kwire capture`: commands on the recordings of `kwire proxy -w`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.capture.files import Captures, files, print_damage
from kwire.cli.flows.options import (
    AsJson,
    From,
    Hidden,
    Only,
    ShowSecrets,
    To,
    UnpackLimit,
    Verbose,
    View,
    display,
)
from kwire.cli.lazy import lazy_group

if TYPE_CHECKING:
    from kwire.cli.capture.facts import CaptureFacts

app = typer.Typer(
    cls=lazy_group(
        {
            "export": "kwire.cli.capture.exchange:export",
            "import": "kwire.cli.capture.exchange:import_",
            "merge": "kwire.cli.capture.editing:merge",
            "split": "kwire.cli.capture.editing:split",
            "anonymize": "kwire.cli.capture.editing:anonymize",
        }
    ),
    help="Read, mend and change what `kwire proxy -w` has recorded.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def info(
    captures: Captures,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Say what is in captures, and what is wrong with them; exit code 1 where something is.

    \b
    kwire capture info quorum.avro
    """
    from kwire.cli.capture.facts import CaptureFacts
    from kwire.cli.screen import print_json

    all_facts = [CaptureFacts.of(path) for path in files(captures)]
    if as_json:
        print_json([facts.data() for facts in all_facts])
    else:
        for facts in all_facts:
            _print_facts(facts)
    if any(facts.damages for facts in all_facts):
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
    unpack_limit: UnpackLimit = None,
) -> None:
    """Show recorded RPCs as `kwire proxy` does; damage goes to stderr, with exit code 1.

    \b
    kwire capture cat quorum.avro --api Vote -v
    kwire capture cat quorum.avro --view "~api Fetch & ~lat >100ms" --from +10s --to +20s
    kwire capture cat captures/ --from 2026-11-21T09:30:00Z --json
    """
    from kwire.cli.capture.reading import CaptureReading

    output = display(api, no_api, view, verbose=verbose, as_json=as_json, secrets=show_secrets)
    CaptureReading(captures=captures, since=since, until=until).show(output)


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
        print_damage(damage)
    typer.echo(f"{done.records} records kept, {done.lost} bytes lost: {out or capture}")


def _print_facts(facts: CaptureFacts) -> None:
    from kwire.text.untrusted import harmless

    for line in facts.lines():
        typer.echo(harmless(line))
    for damage in facts.damages:
        print_damage(damage)
