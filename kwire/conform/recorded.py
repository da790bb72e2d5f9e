"""Runs of Apache Kafka's releases, which `make conformance` records beside this module.

A verdict is kept of every check, the bytes of one release only. Sentences and sources are not kept:
a check has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import cramjam
import msgspec

from kwire.conform.check import FIRST, Check
from kwire.conform.registry import all_checks
from kwire.conform.report.document import CheckPart, RunDocument, about
from kwire.conform.sources import first_of, since_of
from kwire.conform.vocabulary import ConformanceVerdict

RELEASE = "4.3.1"
"""The release of which there are bytes."""
FOLDER = "recorded_runs"
SUFFIX = ".json.zst"
NODE = "HOST:PORT"
"""The address of every node in the bytes."""

_PASS, _SKIPPED = ConformanceVerdict.PASS, ConformanceVerdict.SKIPPED


@cache
def recorded_runs() -> tuple[RunDocument, ...]:
    """Return the runs, the oldest release first, with the checks that there still are."""
    folder = files("kwire.conform").joinpath(FOLDER)
    runs = [
        msgspec.json.decode(bytes(cramjam.zstd.decompress(file.read_bytes())), type=RunDocument)
        for file in folder.iterdir()
        if file.name.endswith(SUFFIX)
    ]
    return tuple(sorted(map(_completed, runs), key=lambda run: run.name))


def release_of(run: RunDocument) -> str:
    """Return the release of a run: the second word of `Kafka 4.3.1 broker`."""
    return run.name.split()[1]


def verdicts_of(check: Check) -> Iterator[tuple[RunDocument, CheckPart]]:
    """Yield the runs that did not skip a check, with its result."""
    for run in recorded_runs():
        part = next((part for part in run if part.id == check.id), None)
        if part is not None and part.verdict is not _SKIPPED:
            yield run, part


def example_of(check: Check) -> tuple[RunDocument, CheckPart] | None:
    """Return the result of which there are bytes, best one that passed; None if there is none."""
    results = [(run, part) for run, part in verdicts_of(check) if release_of(run) == RELEASE]
    return min(results, key=lambda result: result[1].verdict.rank, default=None)


def check_since(check: Check) -> str:
    """Return the release since which a check holds; for a habit, the first that passed it."""
    releases = [release_of(run) for run, part in verdicts_of(check) if part.verdict is _PASS]
    return since_of(check.source) or (first_of(releases) if releases else "")


def _completed(run: RunDocument) -> RunDocument:
    checks = {check.id: check for check in (FIRST, *all_checks())}
    parts = tuple(
        msgspec.structs.replace(part, **about(checks[part.id])) for part in run if part.id in checks
    )
    return msgspec.structs.replace(run, checks=parts)
