"""Whole answers about share groups, their records and the state of their partitions (KIP-932)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kwire.batches.building import with_base_offset
from kwire.conform.check import CheckSection
from kwire.conform.checks.groups.settings import group_setting
from kwire.conform.checks.producers.producer import CheckedProducer
from kwire.conform.checks.records.log import expect_leader
from kwire.conform.checks.share.member import (
    ACCEPT,
    LEAVES,
    OPENS,
    ShareMember,
    kafka_uuid,
    new_share_member,
)
from kwire.conform.checks.topics.creating import some_broker
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_error, first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import schema
from kwire.conform.whole_answer import (
    A_GROUPS_OPERATIONS,
    expect_in_each_version,
    expect_whole,
    filled,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AlterShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupStateRequest,
    DescribeShareGroupOffsetsRequest,
    FindCoordinatorRequest,
    InitializeShareGroupStateRequest,
    ReadShareGroupStateRequest,
    ReadShareGroupStateSummaryRequest,
    ShareAcknowledgeRequest,
    ShareFetchRequest,
    ShareGroupDescribeRequest,
    ShareGroupHeartbeatRequest,
    WriteShareGroupStateRequest,
)
from kwire.messages import a78_share_fetch as share_fetch

SECTION = CheckSection("answers/share", "Share groups")

_INTERVAL, _LOCK = "share.heartbeat.interval.ms", "share.record.lock.duration.ms"
_SHARE = 2
"""The key type of a share group's partition."""
_EPOCH, _LEADER_EPOCH, _START = 3, 1, 5
_LATER = 1000
"""An epoch that no session is in."""
_ACKNOWLEDGED = 2
"""The state of delivery of records that were accepted."""


@SECTION.broker_check(1, schema("ShareGroupHeartbeatResponse"))
async def _(server: Server) -> None:
    """ShareGroupHeartbeat has the member's id and epoch, and its partition at first."""
    member = await new_share_member(server)
    version = member.connection.version_for(ShareGroupHeartbeatRequest())
    first = await member.joined()
    own = {
        "member_id": member.member_id,
        "member_epoch": member.epoch,
        "heartbeat_interval_ms": await group_setting(server, member.group, _INTERVAL),
    }
    part = {"topic_id": member.topic_id, "partitions": (0,)}
    expect_whole(first, {**own, "assignment": {"topic_partitions": [part]}}, version)
    expect_whole(await member.heartbeat(), own, version)


@SECTION.broker_check(2, schema("ShareGroupDescribeResponse"))
async def _(server: Server) -> None:
    """ShareGroupDescribe describes a group and its member, in every version."""
    member = await new_share_member(server)
    await member.joined()
    part = {"topic_id": member.topic_id, "topic_name": member.topic, "partitions": (0,)}
    own = {
        "member_id": member.member_id,
        "member_epoch": member.epoch,
        "client_id": member.connection.client_id or "",
        "client_host": f"/{member.connection.own_host}",
        "subscribed_topic_names": (member.topic,),
        "assignment": {"topic_partitions": [part]},
    }
    group = {
        "group_id": member.group,
        "group_state": "Stable",
        "group_epoch": member.epoch,
        "assignment_epoch": member.epoch,
        "assignor_name": "simple",
        "members": [own],
        "authorized_operations": A_GROUPS_OPERATIONS,
    }
    request = ShareGroupDescribeRequest(
        group_ids=(member.group,), include_authorized_operations=True
    )
    await expect_in_each_version(member.connection, request, {"groups": [group]})


async def _of_the_second_partition(server: Server) -> ShareMember:
    """Return a member that fetches partition 1: 0 would be a field's default."""
    topic = await server.topic(2, broker=some_broker(server))
    return replace(await new_share_member(server, topic=topic), partition=1)


@SECTION.broker_check(3, schema("ShareFetchResponse"))
async def _(server: Server) -> None:
    """ShareFetch and ShareAcknowledge answer a partition once, in every version of both."""
    member = await _of_the_second_partition(server)
    await member.joined()
    producer = CheckedProducer(leaders=[member.leader] * 2, topic=member.topic)
    lock = await group_setting(server, member.group, _LOCK)
    fetches = member.leader.offered(ShareFetchRequest)
    for version in member.leader.offered(ShareAcknowledgeRequest):
        data = producer.batch(-1, 2)
        sent = await producer.send(data, partition=1)
        expect_error(sent, ErrorCode.NONE)
        first = sent.base_offset
        if version in fetches:
            await _acquires(member, version, first, with_base_offset(data, first, 0), lock)
        topic = {"topic_id": member.topic_id, "partitions": [{"partition_index": 1}]}
        given = {"acquisition_lock_timeout_ms": lock, "responses": [topic]}
        answer = await member.acknowledge((first, first + 1, ACCEPT), version=version)
        expect_whole(answer, given, version)
        refused = {"error_code": ErrorCode.INVALID_SHARE_SESSION_EPOCH}
        for ask in (member.acknowledge, member.fetch):
            answer = await ask(version=version, share_session_epoch=_LATER)
            expect_whole(answer, refused, version)


async def _acquires(member: ShareMember, version: int, first: int, data: bytes, lock: Any) -> None:
    """Fetch until records come, and demand the whole answer."""

    async def acquired() -> Any:
        answer = await member.fetch(version=version)
        expect_error(answer, ErrorCode.NONE)
        return answer if answer.responses else None

    answer = await member.server.wait_for("acquired records", acquired)
    both = {"first_offset": first, "last_offset": first + 1, "delivery_count": 1}
    part = {"partition_index": 1, "records": data, "acquired_records": [both]}
    topic = {"topic_id": member.topic_id, "partitions": [part]}
    expect_whole(answer, {"acquisition_lock_timeout_ms": lock, "responses": [topic]}, version)


@SECTION.broker_check(4, schema("DescribeShareGroupOffsetsResponse"))
async def _(server: Server) -> None:
    """The offsets of a share group are altered, described and deleted, in every version."""
    member = await _of_the_second_partition(server)
    await CheckedProducer(leaders=[member.leader] * 2, topic=member.topic).append(
        -1, 2, partition=1
    )
    await member.joined()
    expect_error(await member.heartbeat(member_epoch=LEAVES), ErrorCode.NONE)
    group, name = {"group_id": member.group}, {"topic_name": member.topic}
    own = {**name, "topic_id": member.topic_id}
    topic = {**name, "partitions": [{"partition_index": 1, "start_offset": 1}]}
    request = filled(AlterShareGroupOffsetsRequest, **group, topics=[topic])
    expected = {"responses": [{**own, "partitions": [{"partition_index": 1}]}]}
    await expect_in_each_version(member.connection, request, expected)
    asked = {**group, "topics": [{**name, "partitions": (1,)}]}
    part = {"partition_index": 1, "start_offset": 1, "leader_epoch": 0, "lag": one_of(1, -1)}
    told = {**group, "topics": [{**own, "partitions": [part]}]}
    described = filled(DescribeShareGroupOffsetsRequest, groups=[asked])
    await expect_in_each_version(member.connection, described, {"groups": [told]})
    gone = filled(DeleteShareGroupOffsetsRequest, **group, topics=[name])
    await expect_in_each_version(member.connection, gone, {"responses": [own]})


async def _share_coordinator(server: Server, key: str) -> CheckedConnection:
    """Return a connection to the coordinator of a share group's partition, once it is there."""
    request = FindCoordinatorRequest(key_type=_SHARE, coordinator_keys=(key,))

    async def found() -> int | None:
        answer = await server.ask(request)
        node: int = answer.coordinators[0].node_id
        return node if first_error(answer) == ErrorCode.NONE else None

    node = await server.wait_for("the share coordinator", found)
    return await server.node(node)


@SECTION.broker_check(5, schema("ReadShareGroupStateResponse"))
async def _(server: Server) -> None:
    """The state of a share group's partition is written, read, summed up and deleted."""
    (await server.connection()).demand(InitializeShareGroupStateRequest)
    topic_id = await server.topic_id(await server.topic(2))
    group = server.name()
    coordinator = await _share_coordinator(server, f"{group}:{kafka_uuid(topic_id)}:1")
    start = {"state_epoch": _EPOCH, "start_offset": _START}
    leader, count = {"leader_epoch": _LEADER_EPOCH}, {"delivery_complete_count": 2}
    batch = {
        "first_offset": _START + 2,
        "last_offset": _START + 3,
        "delivery_state": _ACKNOWLEDGED,
        "delivery_count": 1,
    }
    batches = {"state_batches": [batch]}
    for api, asked, answered in (
        (InitializeShareGroupStateRequest, start, {}),
        (WriteShareGroupStateRequest, start | leader | count | batches, {}),
        (ReadShareGroupStateRequest, leader, start | batches),
        (ReadShareGroupStateSummaryRequest, leader, start | leader | count),
        (DeleteShareGroupStateRequest, {}, {}),
    ):
        topic, result = (
            {"topic_id": topic_id, "partitions": [{"partition": 1, **fields}]}
            for fields in (asked, answered)
        )
        request = filled(api, group_id=group, topics=[topic])
        await expect_in_each_version(coordinator, request, {"results": [result]})


@SECTION.broker_check(6, schema("ShareFetchResponse", "CurrentLeader"))
async def _(server: Server) -> None:
    """A broker that does not lead has who does and where, in every version of ShareFetch."""
    member = await new_share_member(server)
    await member.joined()
    member.leader = await server.another_node(member.leader)
    for version in member.leader.offered(ShareFetchRequest):
        member.session_epoch = OPENS
        answer = await member.fetch(version=version)
        await expect_leader(server, member.topic, answer, share_fetch)
