"""Prints what `kwire storage recover` found, would do or did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table

from kwire.cli.screen import columns, screen, table_of
from kwire.quorum_recovery import findings
from kwire.quorum_recovery.plan import RecoveryPlan
from kwire.quorum_recovery.running import AskedController
from kwire.quorum_recovery.survivor import DamagedLog, Survivor
from kwire.quorum_recovery.survivor_report import (
    damage_document,
    damage_text,
    details,
    relation_text,
    survivor_document,
    voter_document,
)
from kwire.text.untrusted import harmless


@dataclass(slots=True, kw_only=True)
class RecoveryReport:
    """A plan, who was asked, and what else was read.

    backups: the copies that were made, by the directory that they are of.
    """

    plan: RecoveryPlan
    asked: Sequence[AskedController]
    damaged: Sequence[DamagedLog]
    brokers: Sequence[Survivor]
    applied: bool
    backups: dict[Path, Path] = field(default_factory=dict)

    def document(self) -> dict[str, object]:
        """Return the JSON object."""
        plan = self.plan
        return {
            "clusterId": plan.cluster_id,
            "applied": self.applied and not plan.is_done,
            "alreadyDone": plan.is_done,
            "chosenId": plan.chosen.node_id,
            "reason": findings.reason(plan),
            "static": plan.static,
            "epoch": plan.epoch,
            "survivors": [survivor_document(item) for item in plan.comparisons],
            "damaged": [damage_document(item) for item in self.damaged],
            "voters": [voter_document(voter) for voter in plan.voters],
            "lostIds": sorted(plan.lost_ids),
            "asked": [item.sentence for item in self.asked],
            "losses": self._losses(),
            "clocks": self._clocks(),
            "backups": {str(folder): str(copy) for folder, copy in self.backups.items()},
            "next": list(findings.steps(plan)),
        }

    def print(self) -> None:
        """Print it for people."""
        plan, out = self.plan, screen()
        out.print(f"Cluster {harmless(plan.cluster_id)}: {findings.voters_line(plan)}\n")
        out.print(self._table())
        for item in plan.comparisons:
            out.print(f"\nController {item.survivor.node_id}")
            rows = [(f"  {name}", harmless(text)) for name, text in details(item)]
            out.print(columns(rows), end="")
        self._list("Most complete", [findings.reason(plan)])
        self._list("Damaged, left out here", [damage_text(item) for item in self.damaged])
        self._list("Asked", [item.sentence for item in self.asked])
        self._list("Lost, or perhaps lost", self._losses())
        self._list("Clocks", self._clocks())
        if plan.is_done:
            out.print("\nThis recovery is done already; nothing was changed.")
        elif self.applied:
            self._list("Done", self._done())
        else:
            self._list("With --apply", findings.actions(plan))
        self._list("Then", findings.steps(plan))
        if not self.applied and not plan.is_done:
            out.print(
                "\nNothing was changed. To do it, add --apply --cluster-id"
                f" {harmless(plan.cluster_id)}"
            )

    def _losses(self) -> list[str]:
        return [*findings.losses(self.plan), *findings.brokers_ahead(self.plan, self.brokers)]

    def _clocks(self) -> list[str]:
        return list(findings.clocks(self.plan, datetime.now(UTC)))

    def _table(self) -> Table:
        numbers = ("LogStart", "LogEnd", "Epoch", "Checkpoint")
        table = table_of("Controller", "Directory", *numbers, "Log", right=numbers)
        for item in self.plan.comparisons:
            one = item.survivor
            offsets = (one.start, one.end.offset, one.end.epoch, one.committed.offset)
            table.add_row(
                str(one.node_id),
                harmless(str(one.folder)),
                *map(str, offsets),
                relation_text(item),
            )
        return table

    def _list(self, title: str, lines: Iterable[str]) -> None:
        lines = list(lines)
        if lines:
            screen().print(f"\n{title}")
        for line in lines:
            screen().print(f"  {harmless(line)}")

    def _done(self) -> list[str]:
        copies = [f"copied {folder} to {copy}" for folder, copy in self.backups.items()]
        return [*copies, findings.change(self.plan)]
