"""A producer for checks: every number of its batches can be chosen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from kwire.batches import Record, build_batch
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a02_list_offsets import ListOffsetsRequest
from kwire.messages.a22_init_producer_id import InitProducerIdRequest

LAST_WITH_NAMES = 12
"""The last version of Produce in which topics have names."""
LAST_EXPLICIT = 11
"""The last version of Produce that does not enter partitions into a transaction (KIP-890)."""
ALL_REPLICAS = -1

_CONSUMER = -1
_LATEST = -1
_PRODUCE_TIMEOUT_MS = 10_000
_COMING = (14, 15, 16, 51)
"""Error codes of a coordinator that will answer in a moment."""


@dataclass(slots=True, kw_only=True)
class CheckedProducer:
    """A producer of one topic. epoch, producer_id: of its batches, unless a call names others.

    leaders: a connection to the leader of each of the topic's partitions.
    """

    leaders: list[CheckedConnection]
    topic: str
    producer_id: int = -1
    epoch: int = -1
    transactional_id: str | None = None

    @property
    def leader(self) -> CheckedConnection:
        """The connection to the leader of partition 0."""
        return self.leaders[0]

    def batch(self, sequence: int, records: int = 1, **fields: Any) -> bytes:
        """Return a batch; fields: of `build_batch`, in the place of the producer's own."""
        numbers = {
            "producer_id": self.producer_id,
            "producer_epoch": self.epoch,
            "base_sequence": sequence,
            "is_transactional": self.transactional_id is not None,
        }
        now = time.time_ns() // 1_000_000  # older records roll a segment, where Fetch stops
        values = [Record(value=b"kwire", timestamp=now) for _ in range(records)]
        return build_batch(values, **(numbers | fields))

    async def send(self, data: bytes, *, partition: int = 0, last: int = LAST_EXPLICIT) -> Any:
        """Produce bytes with all acknowledgements; return the answer for the partition.

        last: the highest version of Produce to use.
        """
        part = {"index": partition, "records": data}
        request = filled(
            ProduceRequest,
            transactional_id=self.transactional_id,
            acks=ALL_REPLICAS,
            timeout_ms=_PRODUCE_TIMEOUT_MS,
            topic_data=[{"name": self.topic, "partition_data": [part]}],
        )
        leader = self.leaders[partition]
        answer = await leader.ask(request, leader.version_up_to(request, last))
        expect_equal("topics in the answer", len(answer.responses), 1)
        return answer.responses[0].partition_responses[0]

    async def produce(
        self, sequence: int, records: int = 1, *, partition: int = 0, **fields: Any
    ) -> Any:
        """Produce one batch; return the answer for the partition, whatever its error."""
        return await self.send(self.batch(sequence, records, **fields), partition=partition)

    async def append(
        self, sequence: int, records: int = 1, *, partition: int = 0, **fields: Any
    ) -> int:
        """Produce one batch that must be accepted; return its offset."""
        answer = await self.produce(sequence, records, partition=partition, **fields)
        expect_error(answer, ErrorCode.NONE)
        offset: int = answer.base_offset
        return offset

    async def end_offset(self, *, isolation_level: int = 0) -> int:
        """Return the offset after the last record of partition 0."""
        request = filled(
            ListOffsetsRequest,
            replica_id=_CONSUMER,
            isolation_level=isolation_level,
            topics=[{"name": self.topic, "partitions": [{"timestamp": _LATEST}]}],
        )
        answer = await self.leader.ask(request)
        expect_error(answer, ErrorCode.NONE)
        offset: int = answer.topics[0].partitions[0].offset
        return offset


async def init_producer_id(
    connection: CheckedConnection, version: int | None = None, **fields: Any
) -> Any:
    """Ask for a producer id; return the answer, whatever its error."""
    request = InitProducerIdRequest(
        **({"transactional_id": None, "transaction_timeout_ms": 60_000} | fields)
    )
    return await connection.ask(request, version)


async def settled_init(
    server: Server, connection: CheckedConnection, version: int | None = None, **fields: Any
) -> Any:
    """Ask for a producer id until the coordinator is there and has ended what was open."""

    async def answered() -> Any:
        answer = await init_producer_id(connection, version, **fields)
        return None if answer.error_code in _COMING else answer

    return await server.wait_for("an answer of the transaction coordinator", answered)


async def idempotent_producer(server: Server, partitions: int = 1) -> CheckedProducer:
    """Return a producer without a transactional id, with an id of its own, and a new topic."""
    topic = await server.topic(partitions)
    answer = await settled_init(server, await server.connection())
    expect_error(answer, ErrorCode.NONE)
    return CheckedProducer(
        leaders=[await server.leader(topic, partition) for partition in range(partitions)],
        topic=topic,
        producer_id=answer.producer_id,
        epoch=answer.producer_epoch,
    )
