"""The start of controllers: the first leader of three, and one that has a long log to read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from uuid import UUID

from controller_sides import Side
from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.logdir.log import LogConfig, MetadataLog
from kwire.logdir.quorum_state import QuorumState, read_quorum_state, write_quorum_state
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.topic import TopicRecord

TOPICS, PARTITIONS, BATCH = 10_000, 10, 1000
EPOCH = 50
"""Of the batches, above what the first elections took."""


async def first_leader(side: Side) -> float:
    """Seconds from the start of all controllers at once until one of them takes writes."""
    for member in side.members.values():
        member.kill()
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for member in side.members.values():
            group.create_task(asyncio.to_thread(member.start))
        await side.leader()
        took = time.perf_counter() - began
    return took


def fill_once(side: Side, records: int) -> None:
    """Kill a lone controller and give it a log of so many records."""
    (member,) = side.members.values()
    member.kill()
    folder = member.folder / "data" / "__cluster_metadata-0"
    fill(folder, EPOCH, records)
    state = read_quorum_state(folder)
    assert state is not None, "it has led before"
    # A node that has not voted in the epochs of its log has lost its vote: kwire refuses to start.
    data = state.data.replace(leader_epoch=EPOCH, leader_id=-1, voted_id=-1)
    write_quorum_state(folder, QuorumState(data=data, version=state.version))


async def loaded(side: Side) -> tuple[float, float]:
    """Restart a lone controller; return seconds by the clock, and of CPU, until it takes writes."""
    (member,) = side.members.values()
    member.kill()
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(member.start))
        await asyncio.sleep(0.2)
        await side.leader()
        took = time.perf_counter() - began, member.cpu
    return took


def fill(folder: Path, epoch: int, records: int) -> None:
    """Write a metadata log of so many records."""
    log = MetadataLog.open(folder, config=LogConfig(segment_bytes=1 << 30))
    source = _values()
    left = records
    while left > 0:
        values = list(islice(source, min(BATCH, left)))
        left -= len(values)
        batch = build_batch(
            [Record(value=value, timestamp=1) for value in values],
            base_offset=log.end_offset,
            partition_leader_epoch=epoch,
        )
        log.append(batch)
    log.close()


def _values() -> Iterator[bytes]:
    """Topics of ten partitions; then leaders that change from one replica to the other."""
    ids = [UUID(int=(1 << 100) + number) for number in range(TOPICS)]
    for number, id in enumerate(ids):
        yield VersionedRecord(
            record=TopicRecord(name=f"t{number}", topic_id=id), version=0
        ).encode()
        for partition in range(PARTITIONS):
            record = PartitionRecord(
                partition_id=partition,
                topic_id=id,
                replicas=(1, 2, 3),
                isr=(1, 2, 3),
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
                directories=(id, id, id),
            )
            yield VersionedRecord(record=record, version=1).encode()
    turn = 0
    while True:
        turn += 1
        leader = 1 + turn % 3
        for id in ids:
            for partition in range(PARTITIONS):
                change = PartitionChangeRecord(partition_id=partition, topic_id=id, leader=leader)
                yield VersionedRecord(record=change, version=0).encode()
