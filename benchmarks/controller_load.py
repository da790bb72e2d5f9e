"""Time in which a controller loads a metadata log of a million records and leads."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from uuid import UUID

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.server.quorum import FIRST_ID, Quorum
from kwire.logdir.log import LogConfig, MetadataLog
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.topic import TopicRecord

TOPICS, PARTITIONS, BATCH = 10_000, 10, 1000


async def seconds(records: int) -> tuple[float, float]:
    """From the start of a lone controller until it leads, with so many records to read.

    By the clock, and of CPU.
    """
    with tempfile.TemporaryDirectory(prefix="kwire-load-") as folder:
        quorum = Quorum(1, folder=Path(folder))
        try:
            await quorum.start()
            epoch = (await quorum.wait_for_leader()).raft.epoch
            await quorum.nodes[FIRST_ID].kill()
            _fill(Path(folder) / f"node-{FIRST_ID}" / "__cluster_metadata-0", epoch, records)
            began, cpu = time.perf_counter(), time.process_time()
            node = await quorum.start_node(FIRST_ID)
            await quorum.wait_for_leader(600)
            took = time.perf_counter() - began, time.process_time() - cpu
            assert node.metadata.offset >= records
            assert len(node.metadata.image.topics.by_id) == TOPICS
            return took
        finally:
            await quorum.stop()


def _fill(folder: Path, epoch: int, records: int) -> None:
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
