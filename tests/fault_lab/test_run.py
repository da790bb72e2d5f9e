"""Whole runs on kwire's quorum: one in order, and ones with a controller that is broken on purpose.

The controller that acknowledges before the commit is what a fault schedule is for: without faults
nobody sees it.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from faults_lab.kwire_lab import KwireLab
from kwire.controller.server.metadata import metadata_runtime
from kwire.controller.state_machine.quorum_controller import QuorumController
from kwire.fault_lab.metadata_log import MetadataLogReader
from kwire.fault_lab.report import summary, write_report
from kwire.fault_lab.run import FaultRun, run_under_faults
from kwire.fault_lab.schedule import FaultSchedule
from kwire.image import MetadataImage
from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsRequest
from kwire.testing.faulty_network.fault import LEADER, FaultEvent, FaultKind
from tests.support.seed import SEED
from tests.support.virtual_time import in_virtual_time

CUT_THE_LEADER_OFF = [
    FaultEvent(at=0.7, lasts=5.5, kind=FaultKind.PARTITION, nodes=(LEADER,)),
    FaultEvent(at=1.0, lasts=3.0, kind=FaultKind.RESET, nodes=(3000, 3001, 3002), amount=0.1),
]


async def run(seconds: float = 8.0, events: list[FaultEvent] | None = None) -> FaultRun:
    lab = KwireLab()
    schedule = FaultSchedule(seed=SEED, minutes=seconds / 60, rate=60)
    try:
        return await run_under_faults(
            schedule, lab.topology, start=lab.start, events=events or CUT_THE_LEADER_OFF
        )
    finally:
        await lab.stop()


@in_virtual_time
async def test_a_quorum_in_order_passes(tmp_path: Any) -> None:
    result = await run()
    lines = list(summary(result, "kwire conform --faults"))
    assert result.stalled is None
    assert not [anomaly for anomaly in result.anomalies if anomaly.name != "check"], lines
    assert len(result.leaders) >= 2, "the leader was cut off, and another took its place"
    (cut, _) = sorted(result.faults, key=lambda outcome: outcome.began)
    assert cut.effects["request held"]
    counts = result.history.counts()
    assert counts["topic create"]["ok"] > 5
    assert counts["config set"]["ok"] > 5
    assert result.keys.keys > 3
    assert not result.keys.undecided
    written = write_report(result, tmp_path, "kwire", "kwire", "kwire conform --faults x")
    assert list(written)
    assert "# Faults: kwire: " in (tmp_path / "kwire.md").read_text()
    assert (tmp_path / "kwire.svg").read_text().startswith("<svg")


@in_virtual_time
async def test_acknowledged_before_the_commit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait_for_commit(offset: int, deferred_events: object) -> None:
        """Acknowledge at once: what a leader that is cut off has written is lost later."""

    monkeypatch.setattr(metadata_runtime, "wait_for_commit", wait_for_commit)
    result = await run()
    assert not result.passed
    assert "lost" in {anomaly.name for anomaly in result.unexpected}


@in_virtual_time
async def test_a_lost_change_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = QuorumController.handle
    changes = 0

    def handle_and_forget(self: Any, request: Any, origin: Any, **arguments: Any) -> Any:
        """Answer every fourth change of a configuration as if it had been written."""
        nonlocal changes
        pending = handle(self, request, origin, **arguments)
        if isinstance(request, IncrementalAlterConfigsRequest) and pending.records:
            changes += 1
            if changes % 4 == 0:
                return replace(pending, records=(), batches=None)
        return pending

    monkeypatch.setattr(QuorumController, "handle", handle_and_forget)
    result = await run(seconds=4.0, events=[CUT_THE_LEADER_OFF[1]])
    assert "lost" in {anomaly.name for anomaly in result.unexpected}


@in_virtual_time
async def test_a_run_that_is_stopped_removes_what_it_made() -> None:
    for _ in range(5):  # other requests are under way each time
        await stop_a_run()


async def stop_a_run() -> None:
    lab = KwireLab()
    schedule = FaultSchedule(seed=SEED, minutes=1, rate=60)
    reader = MetadataLogReader(lab.topology)
    try:
        under_way = asyncio.create_task(
            run_under_faults(schedule, lab.topology, start=lab.start, events=CUT_THE_LEADER_OFF[1:])
        )
        async with reader:
            assert await reader.until(lambda image: bool(names_of_the_run(image)), 20)
            under_way.cancel()
            with pytest.raises(asyncio.CancelledError):
                await under_way
            assert await reader.until(lambda image: not names_of_the_run(image), 20)
    finally:
        await lab.stop()


def names_of_the_run(image: MetadataImage) -> list[str]:
    resources = [resource.name for resource in image.configs.resources]
    return [name for name in (*image.topics.ids, *resources) if name.startswith("kwire-conform-")]
