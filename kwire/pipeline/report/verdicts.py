"""The section of verdicts: the checks, and how often each failed."""

from __future__ import annotations

from pyspark.sql import DataFrame

from kwire.pipeline.analyses.verdicts import checks
from kwire.pipeline.report.section import Grid, Section
from kwire.pipeline.report.style import many

TOPIC = "Verdicts"
MEANING = {
    "round-trip": "every frame decodes and encodes to the same bytes",
    "response-version": "a response is of the version that was asked for",
    "record-round-trip": "every record of a log decodes and encodes to the same bytes",
    "kip-841-isr": "no fenced broker, and none that stops, is in an ISR that it could leave",
    "kip-841-leader": "no such broker leads a partition",
    "kip-853-single-change": "a VotersRecord adds one voter, or removes one",
}


def verdicts_section(verdicts: DataFrame) -> Section:
    """Return a table with a row for every check."""
    by_check = checks(verdicts).collect()
    if not by_check:
        return Section(topic=TOPIC, finding="Nothing was checked in these tables.")
    broken = [row for row in by_check if row.broken]
    total = sum(row.held + row.broken for row in by_check)
    rows = [
        (
            "✗ broken" if row.broken else "✓ holds",
            *(row.check, MEANING.get(row.check, "-"), f"{row.held:,}", f"{row.broken:,}"),
            row.detail or "-",
        )
        for row in by_check
    ]
    missing = [check for check in MEANING if check not in {row.check for row in by_check}]
    rows += [("? not checked", check, MEANING[check], "0", "0", "-") for check in missing]
    not_checked = f"; not checked: {', '.join(missing)}" if missing else ""
    columns = ("verdict", "check", "what holds", "held", "broken", "the first broken")
    return Section(
        topic=TOPIC,
        finding=f"{many(sum(row.broken for row in broken), 'verdict')} of {total:,} do not hold"
        if broken
        else f"Everything holds: {total:,} verdicts, none of them broken{not_checked}",
        grids=[Grid("Checks", columns, rows)],
    )
