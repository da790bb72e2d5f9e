"""Whole answers about groups: every field, in every version."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.groups.committed import new_offsets
from kwire.conform.checks.groups.consumer import new_consumer
from kwire.conform.checks.groups.member import (
    ASSIGNMENT,
    METADATA,
    PROTOCOL,
    TYPE,
    WITH_INSTANCE,
    ClassicMember,
    new_member,
    stable_member,
)
from kwire.conform.expectation import expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kip, schema
from kwire.conform.whole_answer import (
    A_GROUPS_OPERATIONS,
    BOTH,
    FILLED,
    POSITIVE,
    both,
    expect_in_each_version,
    expect_whole,
    filled,
    fitting,
    including,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)

SECTION = CheckSection("answers/groups", "Groups and their offsets")

_OFFSET, _METADATA = 5, "kwire é"
_IN_KAFKA = 1
"""The first version of OffsetCommit and OffsetFetch for offsets that are not in ZooKeeper."""
_WITH_MEMBER = 9
"""The version of OffsetFetch with a member and its epoch, and topics by name."""
_SKIPS_ASSIGNMENT = 9
"""The first version of JoinGroup that tells a leader to skip the assignment (KIP-814)."""


@SECTION.broker_check(1, schema("OffsetCommitResponse"))
async def _(server: Server) -> None:
    """OffsetCommit answers each partition once, under its topic, from v1 on."""
    offsets = await new_offsets(server, partitions=2)
    topic = {"name": offsets.topic, "topic_id": offsets.topic_id, "partitions": both()}
    for version in offsets.connection.offered(OffsetCommitRequest, since=_IN_KAFKA):
        answer = await offsets.commit_partitions(_OFFSET, *BOTH, version=version)
        expect_whole(answer, {"topics": [topic]}, version)


@SECTION.broker_check(2, schema("OffsetFetchResponse"))
async def _(server: Server) -> None:
    """OffsetFetch answers each partition once, as it was committed, from v1 on."""
    offsets = await new_offsets(server, partitions=2)
    expect_error(
        await offsets.commit_partitions(_OFFSET, *BOTH, metadata=_METADATA), ErrorCode.NONE
    )
    group, name = {"group_id": offsets.group}, {"name": offsets.topic}
    own = {**name, "topic_id": offsets.topic_id}
    asked = {"partition_indexes": BOTH}
    request = filled(
        OffsetFetchRequest,
        **group,
        topics=[name | asked],
        groups=[{**group, "topics": [own | asked]}],
    )
    found = {"partitions": both(committed_offset=_OFFSET, metadata=_METADATA)}
    expected = {"topics": [name | found], "groups": [{**group, "topics": [own | found]}]}
    await expect_in_each_version(offsets.connection, request, expected, since=_IN_KAFKA)


def _joined(member: ClassicMember, generation: int, member_id: Any) -> dict[str, Any]:
    """Return the answer to a leader that is the only member."""
    instance_id = member.instance_id
    own = {"member_id": member_id, "group_instance_id": instance_id, "metadata": METADATA}
    return {
        "generation_id": generation,
        "protocol_type": TYPE,
        "protocol_name": PROTOCOL,
        "leader": member_id,
        "member_id": FILLED,
        "members": [own],
    }


@SECTION.broker_check(3, schema("JoinGroupResponse"))
async def _(server: Server) -> None:
    """JoinGroup tells the leader of generation, protocol and members, in every version."""
    for instance_id, first in ((None, 0), (server.name(), WITH_INSTANCE)):
        member = await new_member(server, instance_id=instance_id)
        versions = member.connection.offered(JoinGroupRequest, since=first)
        for generation, version in enumerate(versions, 1):
            answer = await member.joined(version)
            expect_whole(answer, _joined(member, generation, member.member_id), version)
            expect_error(await member.sync(), ErrorCode.NONE)


@SECTION.broker_check(4, schema("SyncGroupResponse"))
async def _(server: Server) -> None:
    """SyncGroup answers with protocol and assignment, in every version."""
    member = await stable_member(server)
    expected = {"protocol_type": TYPE, "protocol_name": PROTOCOL, "assignment": ASSIGNMENT}
    for version in member.connection.offered(SyncGroupRequest):
        expect_whole(await member.sync(version), expected, version)


@SECTION.broker_check(5, schema("LeaveGroupResponse"))
async def _(server: Server) -> None:
    """LeaveGroup answers each member once, by its ids, in every version."""
    connection = await server.connection()
    for version in connection.offered(LeaveGroupRequest):
        instance_id = server.name() if version >= 3 else None
        member = await new_member(server, instance_id=instance_id)
        await member.joined()
        gone = {"member_id": member.member_id, "group_instance_id": instance_id}
        answer = await member.leave(version)
        expect_whole(answer, {"members": [gone]}, version)


@SECTION.broker_check(6, schema("DescribeGroupsResponse"))
async def _(server: Server) -> None:
    """DescribeGroups describes a stable group and its member, in every version."""
    member = await stable_member(server, instance_id=server.name())
    described = {
        "member_id": member.member_id,
        "group_instance_id": member.instance_id,
        "client_id": member.connection.client_id or "",
        "client_host": f"/{member.connection.own_host}",
        "member_metadata": METADATA,
        "member_assignment": ASSIGNMENT,
    }
    group = {
        "group_id": member.group,
        "group_state": "Stable",
        "protocol_type": TYPE,
        "protocol_data": PROTOCOL,
        "members": [described],
        "authorized_operations": A_GROUPS_OPERATIONS,
    }
    request = DescribeGroupsRequest(groups=(member.group,), include_authorized_operations=True)
    await expect_in_each_version(member.connection, request, {"groups": [group]})


@SECTION.broker_check(7, schema("ListGroupsResponse"))
async def _(server: Server) -> None:
    """ListGroups lists a stable group once, in every version."""
    member = await stable_member(server)
    group = {
        "group_id": member.group,
        "protocol_type": TYPE,
        "group_state": "Stable",
        "group_type": "classic",
    }
    await expect_in_each_version(
        member.connection, ListGroupsRequest(), {"groups": including(group)}
    )


@SECTION.broker_check(8, schema("DeleteGroupsResponse"))
async def _(server: Server) -> None:
    """DeleteGroups answers each group once, in every version."""
    offsets = await new_offsets(server)
    missing = server.name()
    while (await server.coordinator(missing)).peer != offsets.connection.peer:
        missing = server.name()
    results = [
        {"group_id": offsets.group},
        {"group_id": missing, "error_code": ErrorCode.GROUP_ID_NOT_FOUND},
    ]
    request = DeleteGroupsRequest(groups_names=(offsets.group, missing))
    for version in offsets.connection.offered(DeleteGroupsRequest):
        expect_error(await offsets.commit(_OFFSET), ErrorCode.NONE)
        answer = await offsets.connection.ask_coordinator(request, version)
        expect_whole(answer, {"results": results}, version)


@SECTION.broker_check(9, schema("OffsetDeleteResponse"))
async def _(server: Server) -> None:
    """OffsetDelete answers each partition once, under its topic."""
    offsets = await new_offsets(server, partitions=2)
    expect_error(await offsets.commit_partitions(_OFFSET, *BOTH), ErrorCode.NONE)
    topic = {"name": offsets.topic, "partitions": both()}
    request = filled(OffsetDeleteRequest, group_id=offsets.group, topics=[topic])
    await expect_in_each_version(offsets.connection, request, {"topics": [topic]})


@SECTION.broker_check(10, schema("ConsumerGroupHeartbeatResponse"))
async def _(server: Server) -> None:
    """ConsumerGroupHeartbeat gives a member id, epoch and partitions, in every version."""
    offsets = await new_offsets(server, partitions=2)
    part = {"topic_id": offsets.topic_id, "partitions": BOTH}
    for version in offsets.connection.offered(ConsumerGroupHeartbeatRequest):
        member = await new_consumer(server, topics=(offsets.topic,))
        await member.joined(version)
        await member.owns(2)
        expected = {
            "member_id": member.member_id,
            "member_epoch": member.epoch,
            "heartbeat_interval_ms": POSITIVE,
            "assignment": {"topic_partitions": [part]},
        }
        own = {"subscribed_topic_names": member.topics, "topic_partitions": member.assignment}
        full = await member.heartbeat(version, rebalance_timeout_ms=10_000, **own)
        expect_whole(full, expected, version)


@SECTION.broker_check(11, schema("ConsumerGroupDescribeResponse"))
async def _(server: Server) -> None:
    """ConsumerGroupDescribe describes a group and its member, in every version."""
    offsets = await new_offsets(server, partitions=2)
    member = await new_consumer(server, topics=(offsets.topic,), instance_id=server.name())
    await member.joined(rack_id="rack")
    await member.owns(2)
    await member.beat()
    part = {"topic_id": offsets.topic_id, "topic_name": offsets.topic, "partitions": BOTH}
    described = {
        "member_id": member.member_id,
        "instance_id": member.instance_id,
        "rack_id": "rack",
        "member_epoch": member.epoch,
        "client_id": member.connection.client_id or "",
        "client_host": f"/{member.connection.own_host}",
        "subscribed_topic_names": member.topics,
        "subscribed_topic_regex": one_of(None, ""),
        "assignment": {"topic_partitions": [part]},
        "target_assignment": {"topic_partitions": [part]},
        "member_type": 1,
    }
    group = {
        "group_id": member.group,
        "group_state": "Stable",
        "group_epoch": member.epoch,
        "assignment_epoch": member.epoch,
        "assignor_name": "uniform",
        "members": [described],
        "authorized_operations": A_GROUPS_OPERATIONS,
    }
    request = filled(
        ConsumerGroupDescribeRequest, group_ids=(member.group,), include_authorized_operations=True
    )
    await expect_in_each_version(member.connection, request, {"groups": [group]})


@SECTION.broker_refuses(12, guide("Error Codes"), ErrorCode.FENCED_INSTANCE_ID)
async def _(server: Server) -> Any:
    """OffsetCommit of an instance's id by another member gets"""
    offsets = await new_offsets(server)
    member = await stable_member(server, offsets.group, server.name())
    own: dict[str, Any] = {"member_id": "nobody", "group_instance_id": member.instance_id}
    generation = member.generation
    return await offsets.commit(_OFFSET, generation_id_or_member_epoch=generation, **own)


@SECTION.broker_refuses(13, guide("Error Codes"), ErrorCode.FENCED_INSTANCE_ID)
async def _(server: Server) -> Any:
    """SyncGroup of an instance's id by another member gets"""
    member = await stable_member(server, instance_id=server.name())
    return await member.sync(member_id="nobody", assignments=[])


async def _fetch_as_member(server: Server, later: int, **fields: Any) -> Any:
    """Fetch offsets as a group's member, in an epoch so much later than its own."""
    (await server.connection()).demand(OffsetFetchRequest, _WITH_MEMBER)
    offsets = await new_offsets(server)
    member = await new_consumer(server, offsets.group, topics=(offsets.topic,))
    await member.joined()
    own = {"member_id": member.member_id, "member_epoch": member.epoch + later}
    return await offsets.fetch_group((0,), _WITH_MEMBER, **(own | fields))


@SECTION.broker_refuses(14, kip(848, "OffsetFetch API"), ErrorCode.STALE_MEMBER_EPOCH)
async def _(server: Server) -> Any:
    """OffsetFetch in an epoch that is not the member's gets"""
    return await _fetch_as_member(server, later=7)


@SECTION.broker_refuses(15, kip(848, "OffsetFetch API"), ErrorCode.UNKNOWN_MEMBER_ID)
async def _(server: Server) -> Any:
    """OffsetFetch of a member that a consumer group does not have gets"""
    return await _fetch_as_member(server, later=0, member_id="nobody")


@SECTION.broker_check(16, schema("JoinGroupResponse", "SkipAssignment"))
async def _(server: Server) -> None:
    """A leader that comes back by its instance id in v9 is told to leave the assignment alone."""
    member = await stable_member(server, instance_id=server.name())
    member.connection.demand(JoinGroupRequest, _SKIPS_ASSIGNMENT)
    old, generation = member.member_id, member.generation
    member.member_id = ""
    another = fitting("another member id", lambda value: value not in ("", old))
    answer = await member.joined(_SKIPS_ASSIGNMENT)
    expected = {**_joined(member, generation, another), "member_id": another}
    expect_whole(answer, {**expected, "skip_assignment": True}, _SKIPS_ASSIGNMENT)
