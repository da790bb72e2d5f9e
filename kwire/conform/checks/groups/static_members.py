"""Static members of classic groups, which keep their place when they restart (KIP-345)."""

from __future__ import annotations

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.groups.member import ASSIGNMENT, LEAVE_MANY, new_member, stable_member
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import kip
from kwire.messages.a13_leave_group import LeaveGroupRequest
from kwire.messages.a15_describe_groups import DescribeGroupsRequest

_INSTANCE = "instance-1"
_DESCRIBED = 4
"""The first version of DescribeGroups with instance ids."""
_PROPOSED = kip(345, "Proposed Changes")


@broker_scenario("A static member joins without MEMBER_ID_REQUIRED.", _PROPOSED)
async def _joins_at_once(server: Server) -> None:
    member = await new_member(server, instance_id=_INSTANCE)
    expect_error(await member.join(), 0)


@broker_scenario(
    "A static member that comes again gets a new id, and the generation stays.", _PROPOSED
)
async def _comes_again(server: Server) -> None:
    first = await stable_member(server, instance_id=_INSTANCE)
    second = await new_member(server, first.group, _INSTANCE)
    answer = await second.joined()
    expect(answer.member_id != first.member_id, "another member id", answer.member_id)
    expect_equal("generation", answer.generation_id, first.generation)


@broker_scenario("A static member that came again gets the assignment it had.", _PROPOSED)
async def _keeps_assignment(server: Server) -> None:
    first = await stable_member(server, instance_id=_INSTANCE)
    second = await new_member(server, first.group, _INSTANCE)
    await second.joined()
    answer = await second.sync(assignments=[])
    expect_error(answer, 0)
    expect_equal("assignment", answer.assignment, ASSIGNMENT)


@broker_scenario("The member that was replaced gets FENCED_INSTANCE_ID.", _PROPOSED)
async def _fenced(server: Server) -> None:
    first = await stable_member(server, instance_id=_INSTANCE)
    second = await new_member(server, first.group, _INSTANCE)
    await second.joined()
    expect_error(await first.heartbeat(), 82)


@broker_scenario("An instance that the group does not have gets UNKNOWN_MEMBER_ID.", _PROPOSED)
async def _unknown_instance(server: Server) -> None:
    member = await stable_member(server, instance_id=_INSTANCE)
    expect_error(await member.heartbeat(group_instance_id="instance-2"), 25)


@broker_scenario("An instance can be removed without its member id.", _PROPOSED)
async def _removed(server: Server) -> None:
    member = await stable_member(server, instance_id=_INSTANCE)
    member.connection.demand(LeaveGroupRequest, LEAVE_MANY)
    expect_error(await member.leave(member_id=""), 0)
    expect_error(await member.heartbeat(), 25)


@broker_scenario("Removing an unknown instance gets UNKNOWN_MEMBER_ID.", _PROPOSED)
async def _removes_unknown(server: Server) -> None:
    member = await stable_member(server, instance_id=_INSTANCE)
    member.connection.demand(LeaveGroupRequest, LEAVE_MANY)
    answer = await member.leave(member_id="", group_instance_id="instance-2")
    expect_equal("errors", [m.error_code for m in answer.members], [25])


@broker_scenario("DescribeGroups returns the instance ids of members.", _PROPOSED)
async def _described(server: Server) -> None:
    member = await stable_member(server, instance_id=_INSTANCE)
    member.connection.demand(DescribeGroupsRequest, _DESCRIBED)
    answer = await member.connection.ask_coordinator(DescribeGroupsRequest(groups=(member.group,)))
    expect_error(answer, 0)
    instances = [m.group_instance_id for m in answer.groups[0].members]
    expect_equal("instance ids", instances, [_INSTANCE])


SECTION = CheckSection(
    "groups/kip-345",
    "Static members of classic groups",
    {
        1: _joins_at_once,
        2: _comes_again,
        3: _keeps_assignment,
        4: _fenced,
        5: _unknown_instance,
        6: _removed,
        7: _removes_unknown,
        8: _described,
    },
)
