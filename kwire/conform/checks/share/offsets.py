"""Start offsets of share groups: describe, alter, delete (KIP-932)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.share.member import ACCEPT, LEAVES, ShareMember, new_share_member
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import kip
from kwire.messages.a90_describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from kwire.messages.a91_alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kwire.messages.a92_delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)

_OFFSETS = kip(932, "Admin API")


async def _describe(member: ShareMember, **fields: Any) -> Any:
    topic = DescribeShareGroupOffsetsRequestTopic(topic_name=member.topic, partitions=(0,))
    own: dict[str, Any] = {"group_id": member.group, "topics": [topic]}
    group = DescribeShareGroupOffsetsRequestGroup(**(own | fields))
    answer = await member.connection.ask(DescribeShareGroupOffsetsRequest(groups=[group]))
    return answer.groups[0]


async def _start_offset(member: ShareMember) -> int:
    group = await _describe(member)
    expect_error(group, 0)
    offset: int = group.topics[0].partitions[0].start_offset
    return offset


async def _alter(member: ShareMember, offset: int, **fields: Any) -> Any:
    partition = AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=offset)
    topic = AlterShareGroupOffsetsRequestTopic(topic_name=member.topic, partitions=[partition])
    own: dict[str, Any] = {"group_id": member.group, "topics": [topic]}
    request = AlterShareGroupOffsetsRequest(**(own | fields))
    return await member.connection.ask(request)


async def _delete(member: ShareMember, **fields: Any) -> Any:
    topic = DeleteShareGroupOffsetsRequestTopic(topic_name=member.topic)
    own: dict[str, Any] = {"group_id": member.group, "topics": [topic]}
    request = DeleteShareGroupOffsetsRequest(**(own | fields))
    return await member.connection.ask(request)


async def _left(server: Server, records: int = 2) -> ShareMember:
    """Return a member that accepted records and has left its group."""
    member = await new_share_member(server)
    await member.produce(records)
    await member.joined()
    await member.acquired()
    expect_error(await member.acknowledge((0, records - 1, ACCEPT)), 0)
    await member.close_session()
    expect_error(await member.heartbeat(member_epoch=LEAVES), 0)
    return member


@broker_scenario("A partition that the group has read has a start offset.", _OFFSETS)
async def _has_one(server: Server) -> None:
    member = await _left(server)
    # What was accepted may be kept beside the start offset, which follows with a later write.
    expect_equal("start offset", await _start_offset(member), 0, 2)


@broker_scenario("A partition that the group never read has the start offset -1.", _OFFSETS)
async def _never_read(server: Server) -> None:
    member = await _left(server)
    member.topic = await server.topic()
    expect_equal("start offset", await _start_offset(member), -1)


@broker_scenario("The start offset of an empty group can be set.", _OFFSETS)
async def _altered(server: Server) -> None:
    member = await _left(server)
    expect_error(await _alter(member, 1), 0)
    expect_equal("start offset", await _start_offset(member), 1)


@broker_scenario("Setting the start offset of a group with members gets NON_EMPTY_GROUP.", _OFFSETS)
async def _alter_non_empty(server: Server) -> None:
    member = await new_share_member(server)
    await member.joined()
    expect_error(await _alter(member, 1), 68)


@broker_scenario(
    "Setting an unknown topic's start offset gets UNKNOWN_TOPIC_OR_PARTITION.", _OFFSETS
)
async def _alter_unknown_topic(server: Server) -> None:
    member = await _left(server)
    member.topic = server.name()
    expect_error(await _alter(member, 1), 3)


@broker_scenario("The offsets of a topic can be deleted from an empty group.", _OFFSETS)
async def _deleted(server: Server) -> None:
    member = await _left(server)
    expect_error(await _delete(member), 0)
    expect_equal("start offset", await _start_offset(member), -1)


@broker_scenario("Deleting the offsets of a group with members gets NON_EMPTY_GROUP.", _OFFSETS)
async def _delete_non_empty(server: Server) -> None:
    member = await new_share_member(server)
    await member.joined()
    expect_error(await _delete(member), 68)


@broker_scenario("Deleting the offsets of an unknown group gets GROUP_ID_NOT_FOUND.", _OFFSETS)
async def _delete_unknown_group(server: Server) -> None:
    member = await new_share_member(server)
    expect_error(await _delete(member), 69)


SECTION = CheckSection(
    "share/offsets",
    "Start offsets of share groups",
    {
        1: _has_one,
        2: _never_read,
        3: _altered,
        4: _alter_non_empty,
        5: _alter_unknown_topic,
        6: _deleted,
        7: _delete_non_empty,
        8: _delete_unknown_group,
    },
)
