"""A topic's log for checks: what is appended and read can be chosen byte by byte."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from kwire.batches import Record, build_batch
from kwire.conform.checks.topics.creating import some_broker
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a01_fetch import FetchPartition, FetchRequest
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a23_offset_for_leader_epoch import OffsetForLeaderEpochRequest

ALL_REPLICAS = -1
PRODUCE_BY_NAME = FETCH_BY_NAME = 12
"""The last versions in which topics have names."""

_CONSUMER = -1
_WITH_EPOCHS = 7
"""The first version of Metadata that has leader epochs (KIP-320)."""
_PRODUCE_TIMEOUT_MS = 10_000
_MAX_WAIT_MS = 500
_BYTES = 1 << 20


@dataclass(slots=True, kw_only=True)
class CheckedLog:
    """The partitions of a topic. leader: a connection to the leader of them all."""

    leader: CheckedConnection
    topic: str

    async def produce(self, data: bytes | None, **fields: Any) -> Any:
        """Append bytes to partition 0, as `produce_request` has it; return its answer's part."""
        version = fields.pop("version", None)
        request = produce_request(self.topic, data, **fields)
        if version is None:
            version = self.leader.version_up_to(request, PRODUCE_BY_NAME)
        answer = await self.leader.ask(request, version)
        return answer.responses[0].partition_responses[0]

    async def append(self, data: bytes | None = None) -> int:
        """Append a batch that must be accepted, of one record if none is given."""
        part = await self.produce(batch() if data is None else data)
        expect_error(part, ErrorCode.NONE)
        offset: int = part.base_offset
        return offset

    async def fetch(self, offset: int = 0, *, version: int | None = None, **fields: Any) -> Any:
        """Read partition 0 from an offset, as `fetch_partition` has it.

        Return the answer's part for it, or the whole answer if that has none.
        """
        request = fetch_request(self.topic, fetch_partition(offset, **fields))
        if version is None:
            version = self.leader.version_up_to(request, FETCH_BY_NAME)
        answer = await self.leader.ask(request, version)
        return answer.responses[0].partitions[0] if answer.responses else answer

    async def leader_epoch(self) -> int:
        """Return the epoch of partition 0's leader, as Metadata tells it. Raises Skipped."""
        self.leader.demand_since(MetadataRequest, _WITH_EPOCHS)
        answer = await self.leader.ask(filled(MetadataRequest, topics=[{"name": self.topic}]))
        epochs: dict[int, int] = {
            p.partition_index: p.leader_epoch for p in answer.topics[0].partitions
        }
        return epochs.get(0, -1)

    async def end_of_epoch(self, epoch: int, *, current: int = -1) -> Any:
        """Ask where an epoch of partition 0 ends; return the answer's part for it.

        current: the leader epoch that the client knows, -1 for none.
        """
        part = {"current_leader_epoch": current, "leader_epoch": epoch}
        topics = [{"topic": self.topic, "partitions": [part]}]
        request = filled(OffsetForLeaderEpochRequest, replica_id=_CONSUMER, topics=topics)
        return (await self.leader.ask(request)).topics[0].partitions[0]


async def new_log(server: Server, partitions: int = 1, **settings: str) -> CheckedLog:
    """Return the log of a new topic. settings: configurations with underscores for dots.

    Raises Skipped where the server does not have several partitions led by one broker.
    """
    broker = some_broker(server) if partitions > 1 else None
    topic = await server.topic(partitions, broker=broker, **settings)
    leaders = [await server.leader(topic, index) for index in range(partitions)]
    if len({leader.peer for leader in leaders}) > 1:
        raise Skipped("the server did not keep to the assigned replicas")
    return CheckedLog(leader=leaders[0], topic=topic)


def batch(records: int = 1, *, value: bytes | None = b"kwire", **fields: Any) -> bytes:
    """Return a batch of records of this moment; fields: of `build_batch`."""
    timestamp = fields.pop("timestamp", int(time.time() * 1000))
    key = fields.pop("key", None)
    record = Record(value=value, key=key, timestamp=timestamp)
    return build_batch([record] * records, **fields)


def produce_request(
    topic: str, data: bytes | None, *, partition: int = 0, acks: int = ALL_REPLICAS
) -> ProduceRequest:
    """Return a request for one partition."""
    topics = [{"name": topic, "partition_data": [{"index": partition, "records": data}]}]
    return filled(ProduceRequest, acks=acks, timeout_ms=_PRODUCE_TIMEOUT_MS, topic_data=topics)


def fetch_partition(offset: int = 0, **fields: Any) -> FetchPartition:
    """Return a partition of a Fetch request, 0 if no other is named, without a tight limit."""
    return FetchPartition(**({"partition_max_bytes": _BYTES, "fetch_offset": offset} | fields))


def fetch_request(topic: str, *partitions: FetchPartition, **fields: Any) -> FetchRequest:
    """Return a request that waits half a second for a byte, outside of any session."""
    limits = {"max_wait_ms": _MAX_WAIT_MS, "min_bytes": 1, "max_bytes": _BYTES}
    topics = [{"topic": topic, "partitions": [*partitions]}] if partitions else []
    return filled(FetchRequest, topics=topics, **(limits | fields))


async def expect_leader(server: Server, topic: str, answer: Any, module: Any) -> None:
    """Demand that a refusal names the leader of a topic's only partition, and its endpoint.

    module: of the API's messages.
    """
    metadata = await server.ask(filled(MetadataRequest, topics=[{"name": topic}]))
    [leader] = metadata.topics[0].partitions
    [at] = [broker for broker in metadata.brokers if broker.node_id == leader.leader_id]
    [told] = answer.responses
    [part] = getattr(told, "partitions", None) or told.partition_responses
    expect_error(part, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    named = module.LeaderIdAndEpoch(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
    expect_equal("leader", part.current_leader, named)
    node = module.NodeEndpoint(node_id=at.node_id, host=at.host, port=at.port, rack=at.rack)
    expect_equal("endpoints", answer.node_endpoints, [node])
