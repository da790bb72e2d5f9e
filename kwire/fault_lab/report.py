"""The report of a run: Markdown for people, JSON with everything, JSON lines of the history."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import gmtime, strftime
from typing import Any

from kwire.fault_lab.anomaly import Anomaly
from kwire.fault_lab.history import Fate
from kwire.fault_lab.run import FaultOutcome, FaultRun
from kwire.fault_lab.timeline import timeline_svg
from kwire.text.untrusted import harmless

ANOMALIES_SHOWN = 20
OPERATIONS_SHOWN = 16


def write_report(
    run: FaultRun, into: Path, name: str, software: str, command: str
) -> Iterator[str]:
    """Write NAME.md, NAME.json, NAME.svg and NAME.history.jsonl; yield lines for the screen."""
    into.mkdir(parents=True, exist_ok=True)
    (into / f"{name}.md").write_text("\n".join(markdown(run, name, software, command)) + "\n")
    facts = to_json(run, software, command)
    (into / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")
    (into / f"{name}.svg").write_text(timeline_svg(run))
    (into / f"{name}.history.jsonl").write_text("\n".join(run.history.lines()) + "\n")
    yield from summary(run, command)
    yield f"report: {into / f'{name}.md'}"


def summary(run: FaultRun, command: str) -> Iterator[str]:
    """Yield the result of a run in a few lines."""
    counts = _fates(run)
    yield (
        f"{len(run.history.operations)} operations ({counts}), {len(run.faults)} faults,"
        f" {run.keys.keys} keys, {run.log_batches} batches of the metadata log"
    )
    if run.stalled is not None:
        yield f"STALLED: {run.stalled}"
    for anomaly in run.anomalies[:ANOMALIES_SHOWN]:
        mark = "KNOWN" if anomaly.name in run.allowed else "ANOMALY"
        yield f"{mark}: " + harmless(f"{anomaly.rule}: {anomaly.about}: {anomaly.came}")
    if run.keys.undecided:
        yield f"not decided: {', '.join(map(harmless, run.keys.undecided))}"
    if not run.passed:
        yield f"replay: {command}"


def to_json(run: FaultRun, software: str, command: str) -> dict[str, Any]:
    """Return everything but the history."""
    return {
        "software": software,
        "schedule": str(run.schedule),
        "replay": command,
        "began": _time(run),
        "passed": run.passed,
        "stalled": run.stalled,
        "operations": run.history.counts(),
        "keys": run.keys.keys,
        "undecided": run.keys.undecided,
        "leaders": run.leaders,
        "log": {"batches": run.log_batches, "end_offset": run.log_end},
        "facts": run.facts,
        "faults": [_fault(outcome) for outcome in run.faults],
        "anomalies": [anomaly.to_json() for anomaly in run.anomalies],
    }


def _fault(outcome: FaultOutcome) -> dict[str, Any]:
    return {
        "fault": str(outcome.event),
        "began": outcome.began,
        "ended": outcome.ended,
        "nodes": outcome.chosen,
        "effects": outcome.effects,
    }


def markdown(run: FaultRun, name: str, software: str, command: str) -> Iterator[str]:
    """Yield the lines of the report for people."""
    yield f"# Faults: {software}: {_verdict(run)}"
    yield ""
    yield f"{_time(run)}, schedule `{run.schedule}`. Replay: `{command}`."
    yield ""
    yield f"![The run's faults, leaders and unknown outcomes over time]({name}.svg)"
    yield ""
    yield f"{len(run.history.operations)} operations on {run.keys.keys} keys: {_fates(run)}."
    yield (
        f"Leaders seen, one after the other: {len(run.leaders)}. The metadata log has"
        f" {run.log_batches} batches and ends at offset {run.log_end}."
    )
    checks = run.facts.get("checks", {})
    if checks:
        numbers = ", ".join(f"{count} {verdict}" for verdict, count in sorted(checks.items()))
        yield f"Checks of the suite meanwhile: {numbers}."
    if without := run.facts.get("checks_that_fail_without_faults"):
        yield f"Checks that fail on the healed cluster, too: {', '.join(without)}."
    if run.stalled:
        yield f"**The cluster did not come back: {run.stalled}.**"
    yield from _operations(run)
    yield from _faults(run)
    yield from _anomalies(run)
    if run.keys.undecided:
        yield ""
        yield f"Keys whose check was given up: {', '.join(map(harmless, run.keys.undecided))}."


def _verdict(run: FaultRun) -> str:
    if run.stalled:
        return "the cluster did not come back"
    names = Counter(anomaly.name for anomaly in run.anomalies)
    known = [f"{count} {name} (known)" for name, count in names.items() if name in run.allowed]
    new = [f"{count} {name}" for name, count in names.items() if name not in run.allowed]
    return ", ".join([*new, *known]) or "no anomaly"


def _operations(run: FaultRun) -> Iterator[str]:
    yield ""
    yield "## Operations"
    yield ""
    yield "| operation | " + " | ".join(fate.value for fate in Fate) + " |"
    yield "|---|" + "---:|" * len(Fate)
    for kind, row in run.history.counts().items():
        numbers = " | ".join(str(row.get(fate.value, 0)) for fate in Fate)
        yield f"| {kind} | {numbers} |"


def _faults(run: FaultRun) -> Iterator[str]:
    yield ""
    yield "## Faults"
    yield ""
    yield "| begin, s | end, s | fault | nodes | what it did to messages |"
    yield "|---:|---:|---|---|---|"
    for outcome in sorted(run.faults, key=lambda outcome: outcome.began):
        event = outcome.event
        amount = f" {event.amount:g}" if event.amount else ""
        effects = ", ".join(f"{count} {effect}" for effect, count in outcome.effects.items())
        nodes = ", ".join(map(str, outcome.chosen))
        yield (
            f"| {outcome.began:.1f} | {outcome.ended:.1f} | {event.kind.value}{amount} | {nodes} |"
            f" {effects or 'nothing'} |"
        )


def _anomalies(run: FaultRun) -> Iterator[str]:
    yield ""
    yield "## Anomalies"
    yield ""
    if not run.anomalies:
        yield "None."
    for anomaly in run.anomalies[:ANOMALIES_SHOWN]:
        yield from _anomaly(anomaly)
    if len(run.anomalies) > ANOMALIES_SHOWN:
        yield f"And {len(run.anomalies) - ANOMALIES_SHOWN} more in the JSON."


def _anomaly(anomaly: Anomaly) -> Iterator[str]:
    yield f"### {harmless(anomaly.about)}"
    yield ""
    yield f"Broken: {harmless(anomaly.rule)}. Came: {harmless(anomaly.came)}."
    yield ""
    for operation in anomaly.operations[-OPERATIONS_SHOWN:]:
        yield f"    {json.dumps(operation.to_json())}"
    yield ""


def _fates(run: FaultRun) -> str:
    counts = dict.fromkeys(Fate, 0)
    for operation in run.history.operations:
        counts[operation.fate] += 1
    return ", ".join(f"{count} {fate.value}" for fate, count in counts.items())


def _time(run: FaultRun) -> str:
    return strftime("%Y-%m-%d %H:%M UTC", gmtime(run.began_at))
