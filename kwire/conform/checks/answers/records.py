"""Whole answers about records: what is written, read and deleted, and the offsets of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kwire.batches.building import with_base_offset
from kwire.conform.check import CheckSection
from kwire.conform.checks.records.log import (
    CheckedLog,
    batch,
    expect_leader,
    fetch_partition,
    new_log,
)
from kwire.conform.expectation import expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import schema
from kwire.conform.whole_answer import (
    ANYTHING,
    BOTH,
    POSITIVE,
    both,
    expect_in_each_version,
    expect_whole,
    filled,
    of_version,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    DeleteRecordsRequest,
    FetchRequest,
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
)
from kwire.messages import a00_produce as produced
from kwire.messages import a01_fetch as fetched

SECTION = CheckSection("answers/records", "Records, and the offsets of partitions")

_WITH_BATCHES = 3
"""The first version of Produce with batches of today's format."""
_WITH_SESSIONS = 7
"""The first version of Fetch with sessions."""
_AS_WRITTEN = 4
"""The first version of Fetch that gives batches as they were written."""
_NAMES_LEADER, _WITH_ENDPOINTS = 10, 16
"""The first versions of Produce and Fetch in which a refusal has the leader and its endpoint."""
_BYTES = 1 << 20
_OPENS, _CLOSES, _SECOND = 0, -1, 1
"""Epochs of Fetch sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A topic of two partitions, one batch in each. began: its time."""

    log: CheckedLog
    id: UUID
    began: int

    @property
    def data(self) -> bytes:
        """The batch, as a partition has it."""
        return with_base_offset(batch(timestamp=self.began), 0, 0)

    def fetch(self, offset: int = 0, **fields: Any) -> FetchRequest:
        """Return a request for both partitions."""
        parts = [fetch_partition(offset, partition=partition) for partition in BOTH]
        topic = {"topic": self.log.topic, "topic_id": self.id, "partitions": parts}
        limits = {"max_wait_ms": 500, "min_bytes": 1, "max_bytes": _BYTES}
        return filled(FetchRequest, topics=[topic], **(limits | fields))

    def response(self, version: int, **fields: Any) -> dict[str, Any]:
        """Return the answer with both batches."""
        parts = both(
            high_watermark=1,
            last_stable_offset=1,
            log_start_offset=0,
            aborted_transactions=one_of(None, []),
            records=self.data if version >= _AS_WRITTEN else ANYTHING,
        )
        topic = {"topic": self.log.topic, "topic_id": self.id, "partitions": parts}
        return {"responses": [topic], **fields}


async def _written(server: Server) -> _Written:
    log = await new_log(server, 2)
    began = time.time_ns() // 1_000_000
    for partition in BOTH:
        part = await log.produce(batch(timestamp=began), partition=partition)
        expect_error(part, ErrorCode.NONE)
    return _Written(log=log, id=await server.topic_id(log.topic), began=began)


def _produce(topic: dict[str, Any], *partitions: int) -> ProduceRequest:
    """Return a request for partitions of a topic, which has its name and its id."""
    data = [{"index": index, "records": batch()} for index in partitions]
    topics = [{**topic, "partition_data": data}]
    return filled(ProduceRequest, acks=-1, timeout_ms=10_000, topic_data=topics)


@SECTION.broker_check(1, schema("ProduceResponse"))
async def _(server: Server) -> None:
    """Produce answers each partition once, with the offset of its batch, in every version."""
    log = await new_log(server, 2)
    topic = {"name": log.topic, "topic_id": await server.topic_id(log.topic)}
    request = _produce(topic, *BOTH)
    for offset, version in enumerate(log.leader.offered(ProduceRequest, since=_WITH_BATCHES)):
        part = {"base_offset": offset, "log_start_offset": 0}
        parts = [{"index": index, **part} for index in BOTH]
        answer = await log.leader.ask(of_version(request, version), version)
        expect_whole(answer, {"responses": [{**topic, "partition_responses": parts}]}, version)


@SECTION.broker_check(2, schema("FetchResponse"))
async def _(server: Server) -> None:
    """Fetch answers each partition once, with its batch as it was written, in every version."""
    written = await _written(server)
    for version in written.log.leader.offered(FetchRequest):
        answer = await written.log.leader.ask(of_version(written.fetch(), version), version)
        expect_whole(answer, written.response(version), version)


@SECTION.broker_check(3, schema("FetchResponse", "SessionId"))
async def _(server: Server) -> None:
    """Fetch has the id of its session, and what is new in it, in every version with sessions."""
    written = await _written(server)
    leader = written.log.leader
    for version in leader.offered(FetchRequest, since=_WITH_SESSIONS):
        opens = of_version(written.fetch(session_epoch=_OPENS), version)
        answer = await leader.ask(opens, version)
        expect_whole(answer, written.response(version, session_id=POSITIVE), version)
        own = {"session_id": answer.session_id}
        follows = written.fetch(1, **own, session_epoch=_SECOND, max_wait_ms=0)
        expect_whole(await leader.ask(of_version(follows, version), version), own, version)
        answer = await leader.ask(opens.replace(**own, session_epoch=_CLOSES), version)
        expect_whole(answer, written.response(version), version)


@SECTION.broker_check(4, schema("ListOffsetsResponse"))
async def _(server: Server) -> None:
    """ListOffsets answers each partition once, with a batch's time and offset, in every version."""
    written = await _written(server)
    name, began = {"name": written.log.topic}, written.began
    asked = {**name, "partitions": both(timestamp=began)}
    parts = both(old_style_offsets=ANYTHING, timestamp=began, offset=0, leader_epoch=0)
    request = filled(ListOffsetsRequest, replica_id=-1, topics=[asked])
    expected = {"topics": [{**name, "partitions": parts}]}
    await expect_in_each_version(written.log.leader, request, expected)


@SECTION.broker_check(5, schema("DeleteRecordsResponse"))
async def _(server: Server) -> None:
    """DeleteRecords answers each partition once, with its first offset, in every version."""
    written = await _written(server)
    name = {"name": written.log.topic}
    asked = {**name, "partitions": both(offset=1)}
    request = filled(DeleteRecordsRequest, topics=[asked], timeout_ms=10_000)
    expected = {"topics": [{**name, "partitions": both(low_watermark=1)}]}
    await expect_in_each_version(written.log.leader, request, expected)


@SECTION.broker_check(6, schema("OffsetForLeaderEpochResponse"))
async def _(server: Server) -> None:
    """OffsetForLeaderEpoch answers each partition once, with an epoch's end, in every version."""
    written = await _written(server)
    topic = {"topic": written.log.topic}
    parts = [{"partition": partition, "leader_epoch": 0} for partition in BOTH]
    asked = {**topic, "partitions": parts}
    request = filled(OffsetForLeaderEpochRequest, replica_id=-1, topics=[asked])
    ends = {**topic, "partitions": [{**part, "end_offset": 1} for part in parts]}
    await expect_in_each_version(written.log.leader, request, {"topics": [ends]})


@SECTION.broker_check(7, schema("FetchResponse", "CurrentLeader"))
async def _(server: Server) -> None:
    """A broker that does not lead has who does and where, in Produce v10, Fetch v16 and later."""
    log = await new_log(server)
    own = {"topic_id": await server.topic_id(log.topic)}
    other = await server.another_node(log.leader)
    sent = _produce({"name": log.topic, **own}, 0)
    topic = {"topic": log.topic, "partitions": [fetch_partition()], **own}
    wanted = filled(FetchRequest, max_wait_ms=0, max_bytes=_BYTES, topics=[topic])
    requests = ((sent, produced, _NAMES_LEADER), (wanted, fetched, _WITH_ENDPOINTS))
    for request, module, first in requests:
        for version in other.offered(type(request), since=first):
            answer = await other.ask(of_version(request, version), version)
            await expect_leader(server, log.topic, answer, module)
