"""All clients of a run: they are started, stopped, and what they made is removed."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Coroutine
from typing import Any

from kwire.errors import KwireError
from kwire.fault_lab.anomaly import Anomaly
from kwire.fault_lab.checks_under_faults import ChecksUnderFaults
from kwire.fault_lab.history import Fate
from kwire.fault_lab.metadata_log import MetadataLogReader
from kwire.fault_lab.session import WorkloadClient, WorkloadRun
from kwire.fault_lab.workload.broker_side import BrokerWorkload
from kwire.fault_lab.workload.configs import work_on_configs
from kwire.fault_lab.workload.removal import (
    remove_everything,
    remove_spare_voter,
    settled_offset,
)
from kwire.fault_lab.workload.shared_name import SharedName
from kwire.fault_lab.workload.topics import (
    CLIENTS_A_NAME,
    view_topics,
    work_on_topics,
)
from kwire.fault_lab.workload.voters import work_on_voters
from kwire.net.tasks import cancel_and_wait

NAMES = 2
"""Names of topics, and resources, that are worked on at a time."""

UNDERSTOOD = "every answer has the parts that its request asks for"

REMOVAL = 40.0
"""Seconds for the removal of what a run made."""


class Workload:
    """The clients of a run. anomalies: what they found wrong themselves."""

    def __init__(self, run: WorkloadRun, log: MetadataLogReader) -> None:
        self.run = run
        self.log = log
        self.anomalies: list[Anomaly] = []
        self._clients: list[WorkloadClient] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._brokers = BrokerWorkload(self) if run.topology.brokers else None
        self.checks = ChecksUnderFaults(run)

    async def prepare(self) -> None:
        """Make what the clients need before the faults begin. Raises KwireError if it cannot."""
        try:
            async with asyncio.timeout(REMOVAL):
                await remove_everything(self.client(), self.log.image)
                if self._brokers is not None:
                    await self._brokers.prepare()
                await self.checks.prepare()
        except TimeoutError:
            raise KwireError(
                f"the cluster could not be prepared within {REMOVAL:g} s: see whether its brokers"
                " are registered, and topics can be created and deleted"
            ) from None

    def start(self) -> None:
        """Start the clients."""
        for _ in range(NAMES):
            topic = SharedName(self.run, "topic", "t")
            config = SharedName(self.run, "config", "c")
            if self._brokers is not None:
                self.spawn(view_topics(self.client(controllers=False), topic))
            for _ in range(CLIENTS_A_NAME):
                self.spawn(work_on_topics(self.client(), topic))
                self.spawn(work_on_configs(self.client(), config))
        spare = self.run.topology.spare_voter
        if spare is not None:
            self.spawn(work_on_voters(self.client(), spare, lambda: self.log.is_voter(spare)))
        if self._brokers is not None:
            self._brokers.start()
        self.spawn(self.checks.work())

    def client(self, *, controllers: bool = True) -> WorkloadClient:
        """Return a new client, which is closed with the workload."""
        client = WorkloadClient(self.run, controllers=controllers)
        self._clients.append(client)
        return client

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a client in a task, which `stop` ends."""
        self._tasks.append(asyncio.create_task(work))

    async def stop(self, within: float) -> None:
        """Wait for the last operations; cut off those that take longer."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within)
        await cancel_and_wait(task for task in self._tasks if not task.done())
        for task in self._tasks:
            if not task.cancelled() and (error := task.exception()) is not None:
                self.anomalies.append(_failed(error))

    async def settle(self) -> int:
        """Return an offset behind all that was acknowledged, as soon as the cluster answers."""
        return await settled_offset(self.client(), self.log)

    async def verify(self) -> None:
        """Read back what was written to brokers."""
        if self._brokers is not None:
            self.anomalies += await self._brokers.verify()

    async def repeat_checks(self) -> None:
        """Repeat the checks that failed for no reason that faults explain."""
        self.anomalies += await self.checks.repeat()

    async def remove(self) -> None:
        """Remove what the run made, as far as it can be done in time; close all connections."""
        try:
            async with asyncio.timeout(REMOVAL):
                client, spare = self.client(), self.run.topology.spare_voter
                if spare is not None and self.log.is_voter(spare):
                    await remove_spare_voter(client, spare)
                await remove_everything(client, self.log.image)
                if self._brokers is not None:
                    await self._brokers.remove()
        except TimeoutError:
            self.run.errors["not removed"] = 1
        finally:
            await asyncio.gather(*(client.close() for client in self._clients))

    def facts(self) -> dict[str, Any]:
        """Return counts for the report."""
        acknowledged = sum(op.fate is Fate.OK for op in self.run.history.operations)
        return {
            "clients": len(self._clients),
            "acknowledged": acknowledged,
            "checks": self.checks.counts,
            "checks_that_fail_without_faults": self.checks.without_faults,
            **self.run.errors,
        }


def _failed(error: BaseException) -> Anomaly:
    """Return the anomaly of a client that failed: it has tested nothing since."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    came = f"{type(error).__name__}: {error}, in {at.name}"
    return Anomaly(rule=UNDERSTOOD, about="a client of the workload", came=came, name="client")
