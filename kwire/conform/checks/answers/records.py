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
    POSITIVE,
    expect_in_each_version,
    expect_whole,
    of_version,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import a00_produce as produced
from kwire.messages import a01_fetch as fetched
from kwire.messages import a02_list_offsets as listed
from kwire.messages import a21_delete_records as deleted
from kwire.messages import a23_offset_for_leader_epoch as epochs

SECTION = CheckSection("answers/records", "Records, and the offsets of partitions")

_BOTH = (0, 1)
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

    def fetch(self, offset: int = 0, **fields: Any) -> fetched.FetchRequest:
        """Return a request for both partitions."""
        parts = [fetch_partition(offset, partition=partition) for partition in _BOTH]
        topic = fetched.FetchTopic(topic=self.log.topic, topic_id=self.id, partitions=parts)
        limits: dict[str, Any] = {"max_wait_ms": 500, "min_bytes": 1, "max_bytes": _BYTES}
        return fetched.FetchRequest(topics=[topic], **(limits | fields))

    def response(self, version: int, **fields: Any) -> fetched.FetchResponse:
        """Return the answer with both batches."""
        parts = [
            fetched.PartitionData(
                partition_index=partition,
                high_watermark=1,
                last_stable_offset=1,
                log_start_offset=0,
                aborted_transactions=one_of(None, []),
                records=self.data if version >= _AS_WRITTEN else ANYTHING,
            )
            for partition in _BOTH
        ]
        topic = fetched.FetchableTopicResponse(
            topic=self.log.topic, topic_id=self.id, partitions=parts
        )
        return fetched.FetchResponse(responses=[topic], **fields)


async def _written(server: Server) -> _Written:
    log = await new_log(server, 2)
    began = time.time_ns() // 1_000_000
    for partition in _BOTH:
        part = await log.produce(batch(timestamp=began), partition=partition)
        expect_error(part, ErrorCode.NONE)
    return _Written(log=log, id=await server.topic_id(log.topic), began=began)


@SECTION.broker_check(1, schema("ProduceResponse"))
async def _(server: Server) -> None:
    """Produce answers each partition once, with the offset of its batch, in every version."""
    log = await new_log(server, 2)
    topic_id = await server.topic_id(log.topic)
    data = [produced.PartitionProduceData(index=index, records=batch()) for index in _BOTH]
    request = produced.ProduceRequest(
        acks=-1,
        timeout_ms=10_000,
        topic_data=[
            produced.TopicProduceData(name=log.topic, topic_id=topic_id, partition_data=data)
        ],
    )
    versions = [v for v in log.leader.offered(type(request)) if v >= _WITH_BATCHES]
    for offset, version in enumerate(versions):
        parts = [
            produced.PartitionProduceResponse(index=index, base_offset=offset, log_start_offset=0)
            for index in _BOTH
        ]
        topic = produced.TopicProduceResponse(
            name=log.topic, topic_id=topic_id, partition_responses=parts
        )
        answer = await log.leader.ask(of_version(request, version), version)
        expect_whole(answer, produced.ProduceResponse(responses=[topic]), version)


@SECTION.broker_check(2, schema("FetchResponse"))
async def _(server: Server) -> None:
    """Fetch answers each partition once, with its batch as it was written, in every version."""
    written = await _written(server)
    for version in written.log.leader.offered(fetched.FetchRequest):
        answer = await written.log.leader.ask(of_version(written.fetch(), version), version)
        expect_whole(answer, written.response(version), version)


@SECTION.broker_check(3, schema("FetchResponse", "SessionId"))
async def _(server: Server) -> None:
    """Fetch has the id of its session, and what is new in it, in every version with sessions."""
    written = await _written(server)
    leader = written.log.leader
    for version in leader.offered(fetched.FetchRequest):
        if version >= _WITH_SESSIONS:
            opens = of_version(written.fetch(session_epoch=_OPENS), version)
            answer = await leader.ask(opens, version)
            expect_whole(answer, written.response(version, session_id=POSITIVE), version)
            own: dict[str, Any] = {"session_id": answer.session_id}
            follows = written.fetch(1, **own, session_epoch=_SECOND, max_wait_ms=0)
            answer = await leader.ask(of_version(follows, version), version)
            expect_whole(answer, fetched.FetchResponse(**own), version)
            answer = await leader.ask(opens.replace(**own, session_epoch=_CLOSES), version)
            expect_whole(answer, written.response(version), version)


@SECTION.broker_check(4, schema("ListOffsetsResponse"))
async def _(server: Server) -> None:
    """ListOffsets answers each partition once, with a batch's time and offset, in every version."""
    written = await _written(server)
    parts = [
        listed.ListOffsetsPartition(partition_index=partition, timestamp=written.began)
        for partition in _BOTH
    ]
    found = [
        listed.ListOffsetsPartitionResponse(
            partition_index=partition,
            old_style_offsets=ANYTHING,
            timestamp=written.began,
            offset=0,
            leader_epoch=0,
        )
        for partition in _BOTH
    ]
    name = written.log.topic
    request = listed.ListOffsetsRequest(
        replica_id=-1, topics=[listed.ListOffsetsTopic(name=name, partitions=parts)]
    )
    topic = listed.ListOffsetsTopicResponse(name=name, partitions=found)
    expected = listed.ListOffsetsResponse(topics=[topic])
    await expect_in_each_version(written.log.leader, request, expected)


@SECTION.broker_check(5, schema("DeleteRecordsResponse"))
async def _(server: Server) -> None:
    """DeleteRecords answers each partition once, with its first offset, in every version."""
    written = await _written(server)
    name = written.log.topic
    parts = [
        deleted.DeleteRecordsPartition(partition_index=partition, offset=1) for partition in _BOTH
    ]
    results = [
        deleted.DeleteRecordsPartitionResult(partition_index=partition, low_watermark=1)
        for partition in _BOTH
    ]
    request = deleted.DeleteRecordsRequest(
        topics=[deleted.DeleteRecordsTopic(name=name, partitions=parts)], timeout_ms=10_000
    )
    topic = deleted.DeleteRecordsTopicResult(name=name, partitions=results)
    expected = deleted.DeleteRecordsResponse(topics=[topic])
    await expect_in_each_version(written.log.leader, request, expected)


@SECTION.broker_check(6, schema("OffsetForLeaderEpochResponse"))
async def _(server: Server) -> None:
    """OffsetForLeaderEpoch answers each partition once, with an epoch's end, in every version."""
    written = await _written(server)
    name = written.log.topic
    parts = [
        epochs.OffsetForLeaderPartition(partition=partition, leader_epoch=0) for partition in _BOTH
    ]
    ends = [
        epochs.EpochEndOffset(partition=partition, leader_epoch=0, end_offset=1)
        for partition in _BOTH
    ]
    request = epochs.OffsetForLeaderEpochRequest(
        replica_id=-1, topics=[epochs.OffsetForLeaderTopic(topic=name, partitions=parts)]
    )
    topic = epochs.OffsetForLeaderTopicResult(topic=name, partitions=ends)
    expected = epochs.OffsetForLeaderEpochResponse(topics=[topic])
    await expect_in_each_version(written.log.leader, request, expected)


@SECTION.broker_check(7, schema("FetchResponse", "CurrentLeader"))
async def _(server: Server) -> None:
    """A broker that does not lead has who does and where, in Produce v10, Fetch v16 and later."""
    log = await new_log(server)
    own: dict[str, Any] = {"topic_id": await server.topic_id(log.topic)}
    other = await server.another_node(log.leader)
    data = [produced.PartitionProduceData(records=batch())]
    sent = produced.ProduceRequest(
        acks=-1,
        timeout_ms=10_000,
        topic_data=[produced.TopicProduceData(name=log.topic, partition_data=data, **own)],
    )
    topic = fetched.FetchTopic(topic=log.topic, partitions=[fetch_partition()], **own)
    wanted = fetched.FetchRequest(max_wait_ms=0, max_bytes=_BYTES, topics=[topic])
    requests = ((sent, produced, _NAMES_LEADER), (wanted, fetched, _WITH_ENDPOINTS))
    for request, module, first in requests:
        for version in other.offered(type(request)):
            if version >= first:
                answer = await other.ask(of_version(request, version), version)
                await expect_leader(server, log.topic, answer, module)
