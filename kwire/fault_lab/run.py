"""Runs a schedule: network, workload and reader together, then the checks of what was seen.

1. Put the proxy in front of every node; follow the metadata log past it.
2. Start the clients; begin and end the faults at their times.
3. Heal the network, let the clients end, and read the last state of every key from the log.
4. Remove what the run created.
5. Check the history and the log.
"""

from __future__ import annotations

import asyncio
import platform
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from random import Random
from secrets import token_hex
from typing import Any

from kwire.errors import KwireError
from kwire.fault_lab.anomaly import Anomaly
from kwire.fault_lab.history import RunHistory
from kwire.fault_lab.invariants import check_log
from kwire.fault_lab.last_state import read_last_states
from kwire.fault_lab.log_witness import check_witness, effects_in
from kwire.fault_lab.metadata_log import MetadataLogReader
from kwire.fault_lab.schedule import FaultSchedule
from kwire.fault_lab.session import WorkloadRun
from kwire.fault_lab.verdicts import KeyVerdicts, check_keys
from kwire.fault_lab.workload.clients import Workload
from kwire.net.security import PLAINTEXT, Security
from kwire.net.tasks import cancel_and_wait
from kwire.testing.faulty_network.fault import FaultEvent
from kwire.testing.faulty_network.network import FaultyNetwork
from kwire.testing.faulty_network.topology import FaultTopology

PREFIX = "kwire-conform-faults-"
READY = 60.0
SETTLE = 45.0
"""Seconds in which a healed cluster answers again."""

REPEATS = 240.0
"""Seconds for the repetition of checks."""

CLOSING = 20.0
"""Seconds for the clients' last operations."""

RunProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultOutcome:
    """A fault that was on: when it really began and ended, which nodes it chose, what it did."""

    event: FaultEvent
    began: float
    ended: float
    chosen: tuple[int, ...]
    effects: dict[str, int]


@dataclass(slots=True, kw_only=True)
class FaultRun:
    """Everything that a run has seen. leaders: (seconds, id) whenever another controller led.

    stalled: why the cluster did not answer after the faults, None if it did. allowed: names of
    anomalies that are known of this software, and do not fail the run.
    """

    schedule: FaultSchedule
    topology: FaultTopology
    prefix: str
    began_at: float
    history: RunHistory
    faults: list[FaultOutcome] = field(default_factory=list)
    leaders: list[tuple[float, int]] = field(default_factory=list)
    keys: KeyVerdicts = field(default_factory=KeyVerdicts)
    anomalies: list[Anomaly] = field(default_factory=list)
    log_batches: int = 0
    log_end: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    stalled: str | None = None
    allowed: frozenset[str] = frozenset()

    @property
    def unexpected(self) -> list[Anomaly]:
        """The anomalies that fail the run."""
        return [anomaly for anomaly in self.anomalies if anomaly.name not in self.allowed]

    @property
    def passed(self) -> bool:
        """True if nothing contradicts the rules, and the cluster came back."""
        return not self.unexpected and self.stalled is None


async def run_under_faults(
    schedule: FaultSchedule,
    topology: FaultTopology,
    *,
    security: Security = PLAINTEXT,
    events: Sequence[FaultEvent] | None = None,
    start: Callable[[], Awaitable[None]] | None = None,
    allowed: frozenset[str] = frozenset(),
    progress: RunProgress = lambda text: None,
) -> FaultRun:
    """Run a schedule against a cluster and check what came of it.

    events: in place of those of the schedule's seed. allowed: see FaultRun. start: starts the
    nodes, which find each other only when the proxy is there; None where they run already. Raises
    KwireError where the proxy cannot listen or the cluster is not there at the begin. When it is
    cancelled, the network is healed and what was created is removed.
    """
    prefix = f"{PREFIX}{token_hex(4)}"
    history = RunHistory()
    result = FaultRun(
        schedule=schedule,
        topology=topology,
        prefix=prefix,
        began_at=time.time(),
        history=history,
        allowed=allowed,
    )
    async with AsyncExitStack() as stack:
        # 1.
        log = MetadataLogReader(topology, security)
        network = await stack.enter_async_context(FaultyNetwork(topology, lambda: log.leader_id))
        if start is not None:
            await start()
        await stack.enter_async_context(log)
        await _begin(log)
        run = WorkloadRun(
            topology=topology,
            history=history,
            prefix=prefix,
            rate=schedule.rate,
            random=Random(f"kwire workload {schedule.seed}"),
            security=security,
        )
        conductor = _Conductor(schedule, topology, run, network, log, result, progress)
        await conductor.conduct(events)
    return _judge(result, log)


async def _begin(log: MetadataLogReader) -> None:
    try:
        async with asyncio.timeout(READY):
            await log.ready()
    except TimeoutError:
        raise KwireError(
            f"no controller of the topology leads within {READY:g} s: start the nodes, and check"
            " that they listen where the topology says"
        ) from None


@dataclass(slots=True, eq=False)
class _Conductor:
    """The parts of a run that is under way."""

    schedule: FaultSchedule
    topology: FaultTopology
    run: WorkloadRun
    network: FaultyNetwork
    log: MetadataLogReader
    result: FaultRun
    progress: RunProgress

    async def conduct(self, events: Sequence[FaultEvent] | None) -> None:
        """Carry out steps 2 to 4."""
        workload = Workload(self.run, self.log)
        if events is None:
            events = self.schedule.events(self.topology.controllers, self.topology.brokers)
        tasks = [asyncio.create_task(self._watch_leader())]
        try:
            await workload.prepare()
            self.run.began = time.monotonic()
            workload.start()
            tasks += [asyncio.create_task(self._fault(event)) for event in events]
            await asyncio.sleep(self.schedule.seconds)
        except asyncio.CancelledError:
            # Ctrl-C: nothing that was made may stay, nor come to be after the removal.
            await self._halt(tasks)
            await workload.stop(CLOSING)
            with suppress(TimeoutError):
                async with asyncio.timeout(SETTLE):
                    await workload.settle()
            await workload.remove()
            raise
        except BaseException:  # a cluster that is not ready
            await self._halt(tasks)
            await workload.stop(0)
            await workload.remove()
            raise
        await self._halt(tasks)
        await self._end(workload)

    async def _halt(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        self.run.stopping = True
        self.network.heal()
        await cancel_and_wait(tasks)

    async def _end(self, workload: Workload) -> None:
        began = time.monotonic()
        try:
            await workload.stop(CLOSING)
            async with asyncio.timeout(SETTLE):
                offset = await workload.settle()
                await read_last_states(self.run, self.log, offset)
                await workload.verify()
            self.result.facts["recovery_seconds"] = round(time.monotonic() - began, 1)
        except TimeoutError:
            self.result.stalled = f"the healed cluster did not settle within {SETTLE:g} s"
        else:
            await self._repeat_checks(workload)
        finally:
            await workload.remove()
        self.result.facts |= workload.facts()
        self.result.anomalies += workload.anomalies

    async def _repeat_checks(self, workload: Workload) -> None:
        try:
            async with asyncio.timeout(REPEATS):
                await workload.repeat_checks()
        except TimeoutError:
            self.result.facts["checks_not_repeated"] = f"not all of them within {REPEATS:g} s"

    async def _fault(self, event: FaultEvent) -> None:
        await asyncio.sleep(max(0.0, event.at - self.run.clock()))
        fault = self.network.begin(event)
        began = self.run.clock()
        self.progress(f"{event}, leader {self.log.leader_id}")
        try:
            await asyncio.sleep(event.lasts)
        finally:
            self.network.end(fault)
            outcome = FaultOutcome(
                event=event,
                began=began,
                ended=self.run.clock(),
                chosen=self.network.chosen[event],
                effects=dict(self.network.counts.get(event, Counter())),
            )
            self.result.faults.append(outcome)

    async def _watch_leader(self) -> None:
        leader: int | None = None
        while True:
            now = self.log.leader_id
            if now is not None and now != leader:
                leader = now
                self.result.leaders.append((self.run.clock(), now))
            await asyncio.sleep(0.05)


def _judge(result: FaultRun, log: MetadataLogReader) -> FaultRun:
    """5. Check what was seen; nothing here asks a node."""
    began = time.monotonic()
    result.keys = check_keys(result.history)
    effects = effects_in(log.records())
    result.anomalies += [
        *result.keys.anomalies,
        *check_witness(result.history, effects),
        *check_log(log),
    ]
    result.log_batches, result.log_end = len(log.batches), log.offset
    result.facts["checked_in_seconds"] = round(time.monotonic() - began, 1)
    result.facts["python"] = platform.python_version()
    return result
