"""`kwire capture spans`: recorded RPCs as spans, to a collector of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.cli.capture.files import CAPTURES, DamageTold
from kwire.cli.errors import CommandFailed, usage_errors
from kwire.cli.flows.options import MEANT, TimeRange, expression
from kwire.cli.options import flag, option, reads_options

if TYPE_CHECKING:
    from kwire.cli.capture.reading import CaptureReading
    from kwire.proxy.flows.spans import RpcSpan, Spans


@reads_options
def spans(
    *,
    captures: list[Path] = CAPTURES,
    otlp: str = option(
        default=..., metavar="URL", help="The collector, such as http://127.0.0.1:4318."
    ),
    view: str | None = MEANT,
    times: TimeRange,
    as_json: bool = flag("--json", help="Print JSON for scripts."),
) -> None:
    """Send a span for each recorded RPC to a collector of OpenTelemetry, at the recorded times.

    Requests that brokers forward are in the trace of the client's. The ids are made of what is
    recorded: sent again, the same spans come. OTEL_EXPORTER_OTLP_HEADERS has headers for the
    collector. If it takes no spans, the exit code is 1, and a sentence says how many it took.

    \b
    kwire capture spans quorum.avro --otlp http://127.0.0.1:4318
    kwire capture spans captures/ --otlp https://collector:4318 --view "~err *" --from +10s
    """
    from kwire.cli.capture.reading import CaptureReading
    from kwire.cli.screen import print_json, screen
    from kwire.proxy.flows.spans import Spans
    from kwire.proxy.service.span_export import BATCH, SpanCollector

    with usage_errors():
        collector = SpanCollector(otlp)
    damage = DamageTold()
    reading = CaptureReading(
        captures=captures, times=times, selected=expression(view), on_damage=damage
    )
    made, sent = Spans(), 0
    with screen(stderr=True).status("sending spans") as status:
        waiting = _spans(reading, made)
        while batch := list(islice(waiting, BATCH)):
            if not collector.send(batch):
                raise CommandFailed(
                    f"{otlp} takes no spans: {collector.failed}; {sent} were sent before"
                )
            sent += len(batch)
            status.update(f"{sent} spans sent")
    if as_json:
        print_json({"spans": sent, "untimed": made.untimed})
    else:
        without = f"; {made.untimed} RPCs have no times, and no spans" if made.untimed else ""
        typer.echo(f"{sent} spans sent to {otlp}{without}")
    damage.end()


def _spans(reading: CaptureReading, made: Spans) -> Iterator[RpcSpan]:
    from kwire.proxy import DecodedFlow

    for flow in reading.flows():
        yield from made.add(DecodedFlow(flow))
    yield from made.rest()
