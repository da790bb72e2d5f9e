"""Writes the made parts of migration.md: `python -m tests.support.migration.page`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kwire.cli.migration.lines import status_lines
from kwire.doctor.finding import FindingKind
from kwire.migration.operator.findings.preflight import PREFLIGHT_KINDS
from kwire.migration.operator.findings.status import STATUS_KINDS
from kwire.migration.operator.findings.verify import VERIFY_KINDS
from kwire.migration.operator.status import MigrationStatus, status_of
from tests.support.migration.sides import dual_write, waiting
from tests.support.paths import DOCS

PAGE = DOCS / "operators" / "migration.md"

PART = re.compile(r"<!-- (\S+): made -->\n.*?<!-- \1: end -->\n", re.DOTALL)


def parts() -> dict[str, str]:
    """Return the made parts by name."""
    return {
        "waiting": _screen(status_of(waiting(0))),
        "dual-write": _screen(status_of(dual_write(1))),
        "status": _table(STATUS_KINDS),
        "before": _table(PREFLIGHT_KINDS),
        "verify": _table(VERIFY_KINDS),
    }


def _screen(status: MigrationStatus) -> str:
    lines = "".join(f"{line.text}\n" for line in status_lines(status, 80))
    return f"```\n{lines}```\n"


def _table(kinds: Iterable[FindingKind]) -> str:
    rows = "".join(
        f"| `{kind.id}` | {kind.verdict.value} | {kind.meaning} | {kind.advice} |\n"
        for kind in kinds
    )
    return f"| id | verdict | meaning | what to do |\n|---|---|---|---|\n{rows}"


def page(text: str) -> str:
    """Return the page with its parts as they are made today."""
    made = parts()

    def replaced(match: re.Match[str]) -> str:
        name = match[1]
        return f"<!-- {name}: made -->\n{made[name]}<!-- {name}: end -->\n"

    return PART.sub(replaced, text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
