"""Reads whole partitions back after the faults."""

from __future__ import annotations

import asyncio

from kwire.batches import RecordBatch, read_batches
from kwire.errors import BrokerError, KwireError
from kwire.fault_lab.workload.brokers import BrokerClient
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic

FETCH = 12
"""The last version that names topics."""

PAUSE = 0.3
MAX_BYTES = 4 << 20


async def read_partition(broker: BrokerClient, topic: str, partition: int) -> list[RecordBatch]:
    """Return the batches up to the end of the log, as soon as no transaction is open any more.

    It is repeated until the leader answers: the caller's deadline counts.
    """
    batches: list[RecordBatch] = []
    position = 0
    while True:
        try:
            found, end = await _fetch(broker, topic, partition, position)
        except KwireError:
            broker.forget(topic, partition)
            await asyncio.sleep(PAUSE)
            continue
        for batch in found:
            if batch.base_offset >= position:
                batches.append(batch)
                position = batch.last_offset + 1
        if position >= end:
            return batches
        if not found:
            await asyncio.sleep(PAUSE)


async def _fetch(
    broker: BrokerClient, topic: str, partition: int, position: int
) -> tuple[list[RecordBatch], int]:
    """Return the next batches, and the end of the log as the leader knows it.

    Only what is stable is read: a transaction that is open holds up what is behind it.
    """
    wanted = FetchPartition(
        partition=partition, fetch_offset=position, partition_max_bytes=MAX_BYTES
    )
    request = FetchRequest(
        max_wait_ms=200,
        min_bytes=1,
        max_bytes=MAX_BYTES,
        isolation_level=1,
        topics=[FetchTopic(topic=topic, partitions=[wanted])],
    )
    answer = await broker.ask_leader(FetchResponse, request, topic, partition, FETCH)
    data = answer.responses[0].partitions[0]
    if data.error_code:
        raise BrokerError(data.error_code)
    batches = [
        batch for batch in read_batches(data.records or b"") if isinstance(batch, RecordBatch)
    ]
    return batches, data.high_watermark
