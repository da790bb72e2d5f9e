"""DescribeGroups, ListGroups and DeleteGroups (KIP-229, KIP-518, KIP-848, KIP-1043)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.groups.committed import new_offsets
from kwire.conform.checks.groups.member import ClassicMember, new_member, stable_member
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a15_describe_groups import DescribeGroupsRequest
from kwire.messages.a16_list_groups import ListGroupsRequest
from kwire.messages.a42_delete_groups import DeleteGroupsRequest

SECTION = CheckSection("groups/states", "Descriptions, lists and deletion of groups")

_DESCRIBE = schema("DescribeGroupsResponse", "GroupState")
_STATES, _TYPES = 4, 5
"""The first versions of ListGroups with these filters (KIP-518, KIP-848)."""


async def _describe(server: Server, group: str, version: int | None = None) -> Any:
    coordinator = await server.coordinator(group)
    answer = await coordinator.ask_coordinator(DescribeGroupsRequest(groups=(group,)), version)
    return answer.groups[0]


@SECTION.broker_check(3, _DESCRIBE)
async def _(server: Server) -> None:
    """A group that has only offsets is Empty."""
    offsets = await new_offsets(server)
    await offsets.commit(5)
    described = await _describe(server, offsets.group)
    expect_error(described, ErrorCode.NONE)
    expect_equal("state", described.group_state, "Empty")
    expect_equal("members", described.members, [])


@SECTION.broker_check(5, _DESCRIBE)
async def _(server: Server) -> None:
    """Between JoinGroup and SyncGroup a group is CompletingRebalance."""
    member = await new_member(server)
    await member.joined()
    described = await _describe(server, member.group)
    expect_equal("state", described.group_state, "CompletingRebalance")


@SECTION.broker_check(6, _DESCRIBE)
async def _(server: Server) -> None:
    """When its last member has left, a group is Empty, or already Dead."""
    member = await stable_member(server)
    await member.leave()
    described = await _describe(server, member.group)
    # A broker forgets a group without offsets at its next clean-up, which may be now.
    expect_equal("state", described.group_state, "Empty", "Dead")


async def _listed(member: ClassicMember, version: int | None = None, **filters: Any) -> Any:
    answer = await member.connection.ask(ListGroupsRequest(**filters), version)
    expect_error(answer, ErrorCode.NONE)
    return next((group for group in answer.groups if group.group_id == member.group), None)


@SECTION.broker_check(8, kip(518, "ListGroups API"))
async def _(server: Server) -> None:
    """From v4 on ListGroups returns states, and the filter leaves out others."""
    member = await stable_member(server)
    group = await _listed(member, _STATES, states_filter=("Stable",))
    expect(group, "it among the stable ones", "none")
    expect_equal("state", group.group_state, "Stable")
    group = await _listed(member, _STATES, states_filter=("Empty",))
    expect(group is None, "it not among the empty ones", group)


@SECTION.broker_check(9, kip(848, "ListGroups API"))
async def _(server: Server) -> None:
    """From v5 on ListGroups returns types, and the filter leaves out others."""
    member = await stable_member(server)
    group = await _listed(member, _TYPES, types_filter=("classic",))
    expect(group, "it among the classic ones", "none")
    expect_equal("type", group.group_type.lower(), "classic")
    group = await _listed(member, _TYPES, types_filter=("consumer",))
    expect(group is None, "it not among the others", group)


async def _delete(server: Server, group: str) -> Any:
    coordinator = await server.coordinator(group)
    return await coordinator.ask_coordinator(DeleteGroupsRequest(groups_names=(group,)))


@SECTION.broker_check(10, kip(229, "Proposed Changes"))
async def _(server: Server) -> None:
    """Deleting a group with members gets NON_EMPTY_GROUP."""
    member = await stable_member(server)
    expect_error(await _delete(server, member.group), ErrorCode.NON_EMPTY_GROUP)
    expect_error(await member.heartbeat(), ErrorCode.NONE)


@SECTION.broker_refuses(11, kip(229, "Proposed Changes"), ErrorCode.GROUP_ID_NOT_FOUND)
async def _(server: Server) -> Any:
    """Deleting a group that does not exist gets"""
    return await _delete(server, server.name())


@SECTION.broker_check(12, kip(229, "Public Interfaces"))
async def _(server: Server) -> None:
    """An empty group is deleted together with its offsets."""
    offsets = await new_offsets(server)
    await offsets.commit(5)
    expect_error(await _delete(server, offsets.group), ErrorCode.NONE)
    expect_equal("offset", (await offsets.fetched()).committed_offset, -1)
    expect_error(await _delete(server, offsets.group), ErrorCode.GROUP_ID_NOT_FOUND)
