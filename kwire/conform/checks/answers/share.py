"""Whole answers about share groups, their records and the state of their partitions (KIP-932)."""

from __future__ import annotations

from typing import Any

from kwire.batches.building import with_base_offset
from kwire.codec.declaration import Response
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
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_error, first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import schema
from kwire.conform.whole_answer import (
    expect_in_each_version,
    expect_whole,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import a76_share_group_heartbeat as beats
from kwire.messages import a77_share_group_describe as described
from kwire.messages import a78_share_fetch as fetched
from kwire.messages import a79_share_acknowledge as acknowledged
from kwire.messages import a83_initialize_share_group_state as initialized
from kwire.messages import a84_read_share_group_state as read
from kwire.messages import a85_write_share_group_state as written
from kwire.messages import a86_delete_share_group_state as deleted
from kwire.messages import a87_read_share_group_state_summary as summed
from kwire.messages import a90_describe_share_group_offsets as offsets
from kwire.messages import a91_alter_share_group_offsets as altered
from kwire.messages import a92_delete_share_group_offsets as removed
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest

SECTION = CheckSection("answers/share", "Share groups")

_INTERVAL, _LOCK = "share.heartbeat.interval.ms", "share.record.lock.duration.ms"
_SHARE = 2
"""The key type of a share group's partition."""
_EPOCH, _LEADER_EPOCH, _START = 3, 1, 5
_LATER = 1000
"""An epoch that no session is in."""
_ACKNOWLEDGED = 2
"""The state of delivery of records that were accepted."""

_StateApi = tuple[type[Any], type[Any], type[Any], type[Any], type[Any], type[Any]]
"""Request, its topic and partition; response, its topic and partition."""

_INITIALIZE: _StateApi = (
    initialized.InitializeShareGroupStateRequest,
    initialized.InitializeStateData,
    initialized.PartitionData,
    initialized.InitializeShareGroupStateResponse,
    initialized.InitializeStateResult,
    initialized.PartitionResult,
)
_READ: _StateApi = (
    read.ReadShareGroupStateRequest,
    read.ReadStateData,
    read.PartitionData,
    read.ReadShareGroupStateResponse,
    read.ReadStateResult,
    read.PartitionResult,
)
_WRITE: _StateApi = (
    written.WriteShareGroupStateRequest,
    written.WriteStateData,
    written.PartitionData,
    written.WriteShareGroupStateResponse,
    written.WriteStateResult,
    written.PartitionResult,
)
_DELETE: _StateApi = (
    deleted.DeleteShareGroupStateRequest,
    deleted.DeleteStateData,
    deleted.PartitionData,
    deleted.DeleteShareGroupStateResponse,
    deleted.DeleteStateResult,
    deleted.PartitionResult,
)
_SUMMARY: _StateApi = (
    summed.ReadShareGroupStateSummaryRequest,
    summed.ReadStateSummaryData,
    summed.PartitionData,
    summed.ReadShareGroupStateSummaryResponse,
    summed.ReadStateSummaryResult,
    summed.PartitionResult,
)


@SECTION.broker_check(1, schema("ShareGroupHeartbeatResponse"))
async def _(server: Server) -> None:
    """ShareGroupHeartbeat has the member's id and epoch, and its partition at first."""
    member = await new_share_member(server)
    part = beats.TopicPartitions(topic_id=member.topic_id, partitions=(0,))
    first = await member.joined()
    own: dict[str, Any] = {
        "member_id": member.member_id,
        "member_epoch": member.epoch,
        "heartbeat_interval_ms": await group_setting(server, member.group, _INTERVAL),
    }
    assignment = beats.Assignment(topic_partitions=[part])
    version = member.connection.version_for(beats.ShareGroupHeartbeatRequest())
    expected = beats.ShareGroupHeartbeatResponse(**own, assignment=assignment)
    expect_whole(first, expected, version)
    expect_whole(await member.heartbeat(), beats.ShareGroupHeartbeatResponse(**own), version)


@SECTION.broker_check(2, schema("ShareGroupDescribeResponse"))
async def _(server: Server) -> None:
    """ShareGroupDescribe describes a group and its member, in every version."""
    member = await new_share_member(server)
    await member.joined()
    part = described.TopicPartitions(
        topic_id=member.topic_id, topic_name=member.topic, partitions=(0,)
    )
    own = described.Member(
        member_id=member.member_id,
        member_epoch=member.epoch,
        client_id=member.connection.client_id or "",
        client_host=f"/{member.connection.own_host}",
        subscribed_topic_names=(member.topic,),
        assignment=described.Assignment(topic_partitions=[part]),
    )
    group = described.DescribedGroup(
        group_id=member.group,
        group_state="Stable",
        group_epoch=member.epoch,
        assignment_epoch=member.epoch,
        assignor_name="simple",
        members=[own],
    )
    request = described.ShareGroupDescribeRequest(group_ids=(member.group,))
    expected = described.ShareGroupDescribeResponse(groups=[group])
    await expect_in_each_version(member.connection, request, expected)


@SECTION.broker_check(3, schema("ShareFetchResponse"))
async def _(server: Server) -> None:
    """ShareFetch and ShareAcknowledge answer a partition once, in every version of both."""
    member = await new_share_member(server)
    await member.joined()
    producer = CheckedProducer(leaders=[member.leader], topic=member.topic)
    lock = await group_setting(server, member.group, _LOCK)
    fetches = member.leader.offered(fetched.ShareFetchRequest)
    for version in member.leader.offered(acknowledged.ShareAcknowledgeRequest):
        data = producer.batch(-1, 2)
        sent = await producer.send(data)
        expect_error(sent, ErrorCode.NONE)
        first = sent.base_offset
        if version in fetches:
            await _acquires(member, version, first, with_base_offset(data, first, 0), lock)
        given = acknowledged.ShareAcknowledgeTopicResponse(
            topic_id=member.topic_id, partitions=[acknowledged.PartitionData()]
        )
        expected = acknowledged.ShareAcknowledgeResponse(
            acquisition_lock_timeout_ms=lock, responses=[given]
        )
        answer = await member.acknowledge((first, first + 1, ACCEPT), version=version)
        expect_whole(answer, expected, version)
        refused = {"error_code": ErrorCode.INVALID_SHARE_SESSION_EPOCH}
        answer = await member.acknowledge(version=version, share_session_epoch=_LATER)
        expect_whole(answer, refused, version)
        answer = await member.fetch(version=version, share_session_epoch=_LATER)
        expect_whole(answer, refused, version)


async def _acquires(member: ShareMember, version: int, first: int, data: bytes, lock: Any) -> None:
    """Fetch until records come, and demand the whole answer."""

    async def acquired() -> Any:
        answer = await member.fetch(version=version)
        expect_error(answer, ErrorCode.NONE)
        return answer if answer.responses else None

    answer = await member.server.wait_for("acquired records", acquired)
    both = fetched.AcquiredRecords(first_offset=first, last_offset=first + 1, delivery_count=1)
    part = fetched.PartitionData(records=data, acquired_records=[both])
    topic = fetched.ShareFetchableTopicResponse(topic_id=member.topic_id, partitions=[part])
    expected = fetched.ShareFetchResponse(acquisition_lock_timeout_ms=lock, responses=[topic])
    expect_whole(answer, expected, version)


async def _describes(member: ShareMember, own: dict[str, Any]) -> None:
    """Describe offsets of which the first was set. own: name and id of the topic."""
    wanted = offsets.DescribeShareGroupOffsetsRequestGroup(
        group_id=member.group,
        topics=[
            offsets.DescribeShareGroupOffsetsRequestTopic(topic_name=member.topic, partitions=(0,))
        ],
    )
    part = offsets.DescribeShareGroupOffsetsResponsePartition(
        start_offset=1, leader_epoch=0, lag=one_of(1, -1)
    )
    topic = offsets.DescribeShareGroupOffsetsResponseTopic(**own, partitions=[part])
    group = offsets.DescribeShareGroupOffsetsResponseGroup(group_id=member.group, topics=[topic])
    await expect_in_each_version(
        member.connection,
        offsets.DescribeShareGroupOffsetsRequest(groups=[wanted]),
        offsets.DescribeShareGroupOffsetsResponse(groups=[group]),
    )


@SECTION.broker_check(4, schema("DescribeShareGroupOffsetsResponse"))
async def _(server: Server) -> None:
    """The offsets of a share group are altered, described and deleted, in every version."""
    member = await new_share_member(server)
    await member.produce(2)
    await member.joined()
    expect_error(await member.heartbeat(member_epoch=LEAVES), ErrorCode.NONE)
    own: dict[str, Any] = {"topic_name": member.topic, "topic_id": member.topic_id}
    changed = altered.AlterShareGroupOffsetsRequest(
        group_id=member.group,
        topics=[
            altered.AlterShareGroupOffsetsRequestTopic(
                topic_name=member.topic,
                partitions=[altered.AlterShareGroupOffsetsRequestPartition(start_offset=1)],
            )
        ],
    )
    changes = altered.AlterShareGroupOffsetsResponseTopic(
        **own, partitions=[altered.AlterShareGroupOffsetsResponsePartition()]
    )
    expected: Response = altered.AlterShareGroupOffsetsResponse(responses=[changes])
    await expect_in_each_version(member.connection, changed, expected)
    await _describes(member, own)
    gone = removed.DeleteShareGroupOffsetsRequest(
        group_id=member.group,
        topics=[removed.DeleteShareGroupOffsetsRequestTopic(topic_name=member.topic)],
    )
    went = removed.DeleteShareGroupOffsetsResponseTopic(**own)
    expected = removed.DeleteShareGroupOffsetsResponse(responses=[went])
    await expect_in_each_version(member.connection, gone, expected)


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
    (await server.connection()).demand(initialized.InitializeShareGroupStateRequest)
    topic_id = await server.topic_id(await server.topic(2))
    group = server.name()
    coordinator = await _share_coordinator(server, f"{group}:{kafka_uuid(topic_id)}:1")
    start: dict[str, Any] = {"state_epoch": _EPOCH, "start_offset": _START}
    leader: dict[str, Any] = {"leader_epoch": _LEADER_EPOCH}
    count: dict[str, Any] = {"delivery_complete_count": 2}
    span: dict[str, Any] = {
        "first_offset": _START + 2,
        "last_offset": _START + 3,
        "delivery_state": _ACKNOWLEDGED,
        "delivery_count": 1,
    }
    batches = {"state_batches": [written.StateBatch(**span)]}
    told = {"state_batches": [read.StateBatch(**span)]}
    for api, asked, answered in (
        (_INITIALIZE, start, {}),
        (_WRITE, start | leader | count | batches, {}),
        (_READ, leader, start | told),
        (_SUMMARY, leader, start | leader | count),
        (_DELETE, {}, {}),
    ):
        request, topic, partition, response, result, partition_result = api
        topics = [topic(topic_id=topic_id, partitions=[partition(partition=1, **asked)])]
        parts = [partition_result(partition=1, **answered)]
        results = [result(topic_id=topic_id, partitions=parts)]
        expected = response(results=results)
        await expect_in_each_version(coordinator, request(group_id=group, topics=topics), expected)


@SECTION.broker_check(6, schema("ShareFetchResponse", "CurrentLeader"))
async def _(server: Server) -> None:
    """A broker that does not lead has who does and where, in every version of ShareFetch."""
    member = await new_share_member(server)
    await member.joined()
    member.leader = await server.another_node(member.leader)
    for version in member.leader.offered(fetched.ShareFetchRequest):
        member.session_epoch = OPENS
        answer = await member.fetch(version=version)
        await expect_leader(server, member.topic, answer, fetched)
