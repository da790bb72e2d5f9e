"""Start offsets of share groups: describe, alter, delete (KIP-932)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.share.member import (
    ACCEPT,
    LEAVES,
    SHARE_GROUPS,
    ShareMember,
    new_share_member,
)
from kwire.conform.expectation import demand_enabled, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kip
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AlterShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequest,
)

SECTION = CheckSection("share/offsets", "Start offsets of share groups")

_OFFSETS = kip(932, "Admin API")


async def _describe(member: ShareMember) -> Any:
    topic = {"topic_name": member.topic, "partitions": (0,)}
    group = {"group_id": member.group, "topics": [topic]}
    answer = await member.connection.ask(filled(DescribeShareGroupOffsetsRequest, groups=[group]))
    return answer.groups[0]


async def _start_offset(member: ShareMember) -> int:
    group = await _describe(member)
    expect_error(group, ErrorCode.NONE)
    offset: int = group.topics[0].partitions[0].start_offset
    return offset


async def _alter(member: ShareMember, offset: int) -> Any:
    topic = {"topic_name": member.topic, "partitions": [{"start_offset": offset}]}
    request = filled(AlterShareGroupOffsetsRequest, group_id=member.group, topics=[topic])
    return await member.connection.ask(request)


async def _delete(member: ShareMember) -> Any:
    topic = {"topic_name": member.topic}
    request = filled(DeleteShareGroupOffsetsRequest, group_id=member.group, topics=[topic])
    answer = await member.connection.ask(request)
    demand_enabled(answer, SHARE_GROUPS)
    return answer


async def _left(server: Server, records: int = 2) -> ShareMember:
    """Return a member that accepted records and has left its group."""
    member = await new_share_member(server)
    await member.produce(records)
    await member.joined()
    await member.acquired()
    expect_error(await member.acknowledge((0, records - 1, ACCEPT)), ErrorCode.NONE)
    await member.close_session()
    expect_error(await member.heartbeat(member_epoch=LEAVES), ErrorCode.NONE)
    return member


@SECTION.broker_check(1, _OFFSETS)
async def _(server: Server) -> None:
    """A partition that the group has read has a start offset."""
    member = await _left(server)
    # What was accepted may be kept beside the start offset, which follows with a later write.
    expect_equal("start offset", await _start_offset(member), 0, 2)


@SECTION.broker_check(2, _OFFSETS)
async def _(server: Server) -> None:
    """A partition that the group never read has the start offset -1."""
    member = await _left(server)
    member.topic = await server.topic()
    expect_equal("start offset", await _start_offset(member), -1)


@SECTION.broker_check(3, _OFFSETS)
async def _(server: Server) -> None:
    """The start offset of an empty group can be set."""
    member = await _left(server)
    expect_error(await _alter(member, 1), ErrorCode.NONE)
    expect_equal("start offset", await _start_offset(member), 1)


@SECTION.broker_refuses(4, _OFFSETS, ErrorCode.NON_EMPTY_GROUP)
async def _(server: Server) -> Any:
    """Setting the start offset of a group with members gets"""
    member = await new_share_member(server)
    await member.joined()
    return await _alter(member, 1)


@SECTION.broker_refuses(5, guide("Error Codes"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
async def _(server: Server) -> Any:
    """Setting an unknown topic's start offset gets"""
    member = await _left(server)
    member.topic = server.name()
    return await _alter(member, 1)


@SECTION.broker_check(6, _OFFSETS)
async def _(server: Server) -> None:
    """The offsets of a topic can be deleted from an empty group."""
    member = await _left(server)
    expect_error(await _delete(member), ErrorCode.NONE)
    expect_equal("start offset", await _start_offset(member), -1)


@SECTION.broker_refuses(7, _OFFSETS, ErrorCode.NON_EMPTY_GROUP)
async def _(server: Server) -> Any:
    """Deleting the offsets of a group with members gets"""
    member = await new_share_member(server)
    await member.joined()
    return await _delete(member)


@SECTION.broker_refuses(8, _OFFSETS, ErrorCode.GROUP_ID_NOT_FOUND)
async def _(server: Server) -> Any:
    """Deleting the offsets of an unknown group gets"""
    member = await new_share_member(server)
    return await _delete(member)
