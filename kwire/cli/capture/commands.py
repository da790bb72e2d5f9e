"""`kwire capture`: commands on the recordings of `kwire proxy -w`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.cli.capture.files import CAPTURES, files, print_warning
from kwire.cli.flows.options import (
    AS_JSON,
    SHOW_SECRETS,
    VERBOSE,
    VIEW,
    ApiChoice,
    TimeRange,
)
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option, reads_options
from kwire.cli.unpack_limit import UNPACK_LIMIT

if TYPE_CHECKING:
    from kwire.cli.capture.facts import CaptureFacts

app = command_group(
    "Read, mend and change what `kwire proxy -w` has recorded.",
    {
        "export": "kwire.cli.capture.exchange:export",
        "import": "kwire.cli.capture.exchange:import_",
        "html": "kwire.cli.capture.html:html",
        "merge": "kwire.cli.capture.editing:merge",
        "split": "kwire.cli.capture.editing:split",
        "spans": "kwire.cli.capture.spans:spans",
        "to-test": "kwire.cli.capture.to_test:to_test",
        "anonymize": "kwire.cli.capture.editing:anonymize",
        "query": "kwire.cli.capture.query:query",
    },
)


@app.command()
@reads_options
def info(
    captures: list[Path] = CAPTURES, as_json: bool = flag("--json", help="Print JSON for scripts.")
) -> None:
    """Say what is in captures, and what is wrong with them; exit code 1 for damage.

    For all of them: versions by client, those first that Kafka 4 does not answer. Needed is the
    lowest version that it answers (KIP-896), blocked counts the calls below it: they fail after an
    upgrade. The slowest call of each API, errors and requests without a response by client, gaps
    in the numbers of events, and connections by node. More: kwire capture query.

    \b
    kwire capture info quorum.avro
    kwire capture info captures/ --json | jq '.versions[] | select(.blocked > 0)'
    """
    from itertools import chain

    from kwire.capture.editing import events_of
    from kwire.cli.capture.facts import CaptureFacts
    from kwire.cli.capture.traffic import Traffic, print_traffic
    from kwire.cli.screen import print_json

    all_facts = [CaptureFacts.of(path) for path in files(captures)]
    records = chain.from_iterable(facts.records() for facts in all_facts)
    tables = Traffic().tables(events_of(records, lambda damage: None))
    if as_json:
        document: dict[str, object] = {"files": [facts.data() for facts in all_facts]}
        for table in tables:
            document |= table.document
        print_json(document)
    else:
        for facts in all_facts:
            _print_facts(facts)
        for table in tables:
            print_traffic(table)
    if any(facts.damages for facts in all_facts):
        raise typer.Exit(1)


@app.command()
@reads_options
def cat(
    *,
    captures: list[Path] = CAPTURES,
    apis: ApiChoice,
    view: str | None = VIEW,
    times: TimeRange,
    verbose: bool = VERBOSE,
    as_json: bool = AS_JSON,
    secrets: bool = SHOW_SECRETS,
    unpack_limit: int = UNPACK_LIMIT,
) -> None:
    """Show recorded RPCs as `kwire proxy` does; damage goes to stderr, with exit code 1.

    \b
    kwire capture cat quorum.avro --api Vote -v
    kwire capture cat quorum.avro --view "~api Fetch & ~lat >100ms" --from +10s --to +20s
    kwire capture cat captures/ --from 2026-11-21T09:30:00Z --json
    """
    from kwire.cli.capture.reading import CaptureReading
    from kwire.cli.flows.display import Display

    output = Display(apis.selection(view), verbose=verbose, as_json=as_json, secrets=secrets)
    CaptureReading(captures=captures, times=times).show(output)


@app.command()
@reads_options
def repair(
    capture: Path = argument(metavar="FILE", help="A damaged capture."),
    out: Path | None = option("--out", "-o", metavar="FILE", help="Write what can be read here."),
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
        print_warning(damage)
    typer.echo(f"{done.records} records kept, {done.lost} bytes lost: {out or capture}")


def _print_facts(facts: CaptureFacts) -> None:
    from kwire.text.untrusted import harmless

    for line in facts.lines():
        typer.echo(harmless(line))
    for damage in facts.damages:
        print_warning(damage)
