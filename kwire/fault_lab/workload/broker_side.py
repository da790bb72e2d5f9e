"""The clients of brokers: producers, transactions, groups; and what they left in partitions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

from kwire.fault_lab.anomaly import Anomaly
from kwire.fault_lab.history import Fate, RecordedOperation, RunHistory
from kwire.fault_lab.session import WorkloadClient, WorkloadRun
from kwire.fault_lab.stored_records import (
    check_appends,
    check_transactions,
    visible_numbers,
)
from kwire.fault_lab.workload.brokers import BrokerClient
from kwire.fault_lab.workload.groups import (
    delete_groups,
    fetch,
    work_on_membership,
    work_on_offsets,
)
from kwire.fault_lab.workload.reading import read_partition
from kwire.fault_lab.workload.records import work_on_records
from kwire.fault_lab.workload.shared_name import SharedName
from kwire.fault_lab.workload.topics import create_replicated
from kwire.fault_lab.workload.transactions import work_on_transactions

PARTITIONS = 2
CLIENTS_A_GROUP = 2
PAUSE = 0.3

GENERATIONS = "the generation of a group never goes back"


class ClientSource(Protocol):
    """Makes clients and runs them: the workload of the whole run."""

    run: WorkloadRun

    def client(self, *, controllers: bool = True) -> WorkloadClient: ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> None: ...


class BrokerWorkload:
    """Producers and transactions on two topics, groups that commit offsets."""

    def __init__(self, workload: ClientSource) -> None:
        self._workload = workload
        self._run = workload.run
        self._records = f"{self._run.prefix}-records"
        self._transactions = f"{self._run.prefix}-transactions"
        self._group = f"{self._run.prefix}-members"

    async def prepare(self) -> None:
        """Create the topics, with two replicas where there are two brokers."""
        replicas = min(2, len(self._run.topology.brokers))
        client = self._workload.client()
        for topic in (self._records, self._transactions):
            await create_replicated(client, topic, PARTITIONS, replicas)

    def start(self) -> None:
        """Start the clients."""
        for partition in range(PARTITIONS):
            self._spawn(partial(work_on_records, topic=self._records, partition=partition))
        for _ in range(2):
            self._spawn(
                partial(work_on_transactions, topic=self._transactions, partitions=PARTITIONS)
            )
        group = SharedName(self._run, "offset", "g")
        for _ in range(CLIENTS_A_GROUP):
            self._spawn(partial(work_on_offsets, group=group, topic=self._records))
        self._spawn(partial(work_on_membership, group=self._group))

    def _spawn(self, work: Callable[[WorkloadClient], Coroutine[Any, Any, None]]) -> None:
        self._workload.spawn(work(self._workload.client(controllers=False)))

    async def verify(self) -> list[Anomaly]:
        """Read everything back; return what contradicts the history.

        Also adds a strict fetch of every group's offset to the history.
        """
        broker = BrokerClient(self._workload.client(controllers=False))
        await self._fetch_offsets(broker)
        operations = self._run.history.by_key()
        anomalies = check_generations(self._run.history)
        for partition in range(PARTITIONS):
            batches = await read_partition(broker, self._records, partition)
            key = f"records:{self._records}-{partition}"
            stored = visible_numbers(batches)
            anomalies += check_appends(key, operations.get(key, ()), stored)
        visible = {
            partition: visible_numbers(await read_partition(broker, self._transactions, partition))
            for partition in range(PARTITIONS)
        }
        key = f"transactions:{self._transactions}"
        anomalies += check_transactions(key, operations.get(key, ()), visible)
        return anomalies

    async def remove(self) -> None:
        """Delete the groups; topics are removed with those of the other clients."""
        broker = BrokerClient(self._workload.client(controllers=False))
        keys = [key.partition(":") for key in self._run.history.by_key()]
        groups = [name for kind, _, name in keys if kind in ("offset", "generation")]
        await delete_groups(broker, groups)

    async def _fetch_offsets(self, broker: BrokerClient) -> None:
        groups = [key for key in self._run.history.by_key() if key.startswith("offset:")]
        for key in groups:
            fate: Fate | None = None
            while fate is not Fate.OK:
                work = partial(fetch, broker, key.partition(":")[2], self._records)
                fate = (await broker.client.record(key, "read", work)).fate
                if fate is not Fate.OK:
                    await asyncio.sleep(PAUSE)


def check_generations(history: RunHistory) -> list[Anomaly]:
    """Return the joins that came into an earlier generation than one that had ended before."""
    anomalies = []
    for key, operations in history.by_key().items():
        if not key.startswith("generation:"):
            continue
        joins = [join for join in operations if join.fate is Fate.OK]
        for before, after in pairwise(joins):
            if before.end < after.begin and after.result < before.result:
                anomalies.append(_went_back(key, before, after))
    return anomalies


def _went_back(key: str, before: RecordedOperation, after: RecordedOperation) -> Anomaly:
    came = f"generation {after.result} after {before.result}"
    return Anomaly(
        rule=GENERATIONS, about=key, came=came, operations=(before, after), name="generations"
    )
