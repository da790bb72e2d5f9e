"""Runs `kwire replay --client` and prints the outcome of each request."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from typing import Any

import typer
from rich.text import Text

from kwire.cli.capture.reading import CaptureReading
from kwire.cli.errors import CommandFailed
from kwire.cli.flows.json_values import flow_data
from kwire.cli.flows.lines import INDENT, flow_lines
from kwire.cli.screen import screen
from kwire.proxy import DecodedFlow
from kwire.proxy.capture.replay.client import ReplayOutcome, ReplayVerdict, Targets, replay
from kwire.proxy.capture.replay.comparison import FieldPair, IgnoredFields
from kwire.proxy.capture.replay.plan import plan_replay
from kwire.proxy.flows.language import Expression
from kwire.text.untrusted import harmless


def send(
    reading: CaptureReading,
    targets: Targets,
    selected: Expression | None,
    ignored: tuple[tuple[str, ...], bool],
    *,
    fast: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Replay, print, and exit with 1 where an answer differs or is missing, or nothing was sent.

    ignored: patterns, and True if the usual ones are added.
    """
    patterns, defaults = ignored
    planned = plan_replay(reading.groups(), selected)
    report = _Report(planned.left_out, verbose=verbose, as_json=as_json)
    ignore = IgnoredFields(patterns, defaults=defaults)
    asyncio.run(replay(planned, targets, ignore, report.add, fast=fast))
    report.end()
    if not report.counts:
        raise CommandFailed(
            "nothing was sent: no request of the recording is asked for, or can be sent."
        )
    if report.counts[ReplayVerdict.DIFFERENT] or report.counts[ReplayVerdict.FAILED]:
        raise typer.Exit(1)


class _Report:
    """Prints outcomes as they come: without `verbose` only differences and failures.

    The replay goes on when the reader of the output goes away, as `| head` does.
    """

    def __init__(self, left_out: Counter[str], *, verbose: bool, as_json: bool) -> None:
        self._left_out = left_out
        self._verbose = verbose
        self._as_json = as_json
        self._console = screen()
        self._read = True
        self.counts: Counter[ReplayVerdict] = Counter()
        self._grown: Counter[str] = Counter()

    def add(self, outcome: ReplayOutcome) -> None:
        """Count an outcome and print it."""
        self.counts[outcome.verdict] += 1
        self._grown.update(pair.name for pair in outcome.grown)
        try:
            if self._read:
                self._show(outcome)
        except (BrokenPipeError, SystemExit):  # rich turns the former into the latter
            self._read = False

    def _show(self, outcome: ReplayOutcome) -> None:
        if self._as_json:
            _write(_data(outcome))
        elif self._verbose or outcome.verdict in (ReplayVerdict.DIFFERENT, ReplayVerdict.FAILED):
            self._print(outcome)

    def _print(self, outcome: ReplayOutcome) -> None:
        decoded = DecodedFlow(outcome.flow)
        verdict = outcome.verdict.value + (f": {outcome.reason}" if outcome.reason else "")
        self._console.print(flow_lines(decoded, self._console, note=harmless(verdict)))
        for pair in outcome.differences:
            self._console.print(Text(f"{'':{INDENT}}≠ {harmless(str(pair))}", "red"))

    def end(self) -> None:
        """Print the counts."""
        counts = {verdict.value: self.counts[verdict] for verdict in ReplayVerdict}
        if self._as_json and self._read:
            left_out, grown = dict(self._left_out), dict(self._grown)
            _write({"type": "summary", "counts": counts, "leftOut": left_out, "grown": grown})
            return
        console = screen(stderr=True)
        totals = ", ".join(f"{count} {name}" for name, count in counts.items())
        console.print(f"{self.counts.total()} sent: {totals}", style="bold")
        if self._grown:
            names = ", ".join(f"{name} ({count})" for name, count in self._grown.most_common())
            console.print(f"grown since, which is no difference: {names}", style="dim")
        for why, count in self._left_out.items():
            console.print(f"{count} not sent: {why}", style="yellow")


def _data(outcome: ReplayOutcome) -> dict[str, Any]:
    return flow_data(DecodedFlow(outcome.flow)) | {
        "type": "replayed",
        "verdict": outcome.verdict.value,
        "reason": outcome.reason,
        "differences": list(map(_pair_data, outcome.differences)),
        "grown": list(map(_pair_data, outcome.grown)),
    }


def _pair_data(pair: FieldPair) -> dict[str, str]:
    recorded, answered = pair.texts
    return {"path": pair.path, "recorded": recorded, "answered": answered}


def _write(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
