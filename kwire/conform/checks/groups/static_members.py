"""Static members of classic groups, which keep their place when they restart (KIP-345)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.groups.member import ASSIGNMENT, LEAVE_MANY, new_member, stable_member
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import kip
from kwire.error_codes import ErrorCode
from kwire.messages.a13_leave_group import LeaveGroupRequest

SECTION = CheckSection("groups/kip-345", "Static members of classic groups")

_INSTANCE = "instance-1"
_PROPOSED = kip(345, "Proposed Changes")


@SECTION.broker_check(1, _PROPOSED)
async def _(server: Server) -> None:
    """A static member joins without MEMBER_ID_REQUIRED."""
    member = await new_member(server, instance_id=_INSTANCE)
    expect_error(await member.join(), ErrorCode.NONE)


@SECTION.broker_check(2, _PROPOSED)
async def _(server: Server) -> None:
    """A static member that comes again gets a new id, and the generation stays."""
    first = await stable_member(server, instance_id=_INSTANCE)
    second = await new_member(server, first.group, _INSTANCE)
    answer = await second.joined()
    expect(answer.member_id != first.member_id, "another member id", answer.member_id)
    expect_equal("generation", answer.generation_id, first.generation)


@SECTION.broker_check(3, _PROPOSED)
async def _(server: Server) -> None:
    """A static member that came again gets the assignment it had."""
    first = await stable_member(server, instance_id=_INSTANCE)
    second = await new_member(server, first.group, _INSTANCE)
    await second.joined()
    answer = await second.sync(assignments=[])
    expect_error(answer, ErrorCode.NONE)
    expect_equal("assignment", answer.assignment, ASSIGNMENT)


@SECTION.broker_refuses(4, _PROPOSED, ErrorCode.FENCED_INSTANCE_ID)
async def _(server: Server) -> Any:
    """The member that was replaced gets"""
    first = await stable_member(server, instance_id=_INSTANCE)
    second = await new_member(server, first.group, _INSTANCE)
    await second.joined()
    return await first.heartbeat()


@SECTION.broker_refuses(5, _PROPOSED, ErrorCode.UNKNOWN_MEMBER_ID)
async def _(server: Server) -> Any:
    """An instance that the group does not have gets"""
    member = await stable_member(server, instance_id=_INSTANCE)
    return await member.heartbeat(group_instance_id="instance-2")


@SECTION.broker_check(6, _PROPOSED)
async def _(server: Server) -> None:
    """An instance can be removed without its member id."""
    member = await stable_member(server, instance_id=_INSTANCE)
    member.connection.demand(LeaveGroupRequest, LEAVE_MANY)
    expect_error(await member.leave(member_id=""), ErrorCode.NONE)
    expect_error(await member.heartbeat(), ErrorCode.UNKNOWN_MEMBER_ID)


@SECTION.broker_check(7, _PROPOSED)
async def _(server: Server) -> None:
    """Removing an unknown instance gets UNKNOWN_MEMBER_ID."""
    member = await stable_member(server, instance_id=_INSTANCE)
    member.connection.demand(LeaveGroupRequest, LEAVE_MANY)
    answer = await member.leave(member_id="", group_instance_id="instance-2")
    expect_equal("errors", [m.error_code for m in answer.members], [ErrorCode.UNKNOWN_MEMBER_ID])
