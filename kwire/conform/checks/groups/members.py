"""SyncGroup, Heartbeat and LeaveGroup of classic groups (KIP-62, KIP-345, KIP-559)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.groups.member import (
    ASSIGNMENT,
    LEAVE_MANY,
    PROTOCOL,
    TYPE,
    new_member,
    stable_member,
)
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import guide, kip
from kwire.messages.a13_leave_group import LeaveGroupRequest
from kwire.messages.a14_sync_group import SyncGroupRequest

_GROUPS = guide("Group Membership API")
_WITH_PROTOCOL = 5
"""The first version of SyncGroup with type and name of the protocol (KIP-559)."""


@broker_scenario("SyncGroup hands each member what the leader assigned to it.", _GROUPS)
async def _assigned(server: Server) -> None:
    member = await new_member(server)
    await member.joined()
    answer = await member.sync()
    expect_error(answer, 0)
    expect_equal("assignment", answer.assignment, ASSIGNMENT)


@broker_scenario("From v5 on SyncGroup's answer has type and name of the protocol.", kip(559))
async def _names_protocol(server: Server) -> None:
    member = await new_member(server)
    member.connection.demand(SyncGroupRequest, _WITH_PROTOCOL)
    await member.joined()
    answer = await member.sync(_WITH_PROTOCOL)
    expect_equal("protocol", (answer.protocol_type, answer.protocol_name), (TYPE, PROTOCOL))


@broker_scenario("A stable group's member that syncs again gets the same assignment.", _GROUPS)
async def _assigned_again(server: Server) -> None:
    member = await stable_member(server)
    answer = await member.sync(assignments=[])
    expect_error(answer, 0)
    expect_equal("assignment", answer.assignment, ASSIGNMENT)


def _refuses_sync(what: str, code: int, error: str, **fields: Any) -> Any:
    @broker_scenario(f"SyncGroup with {what} gets {error}.", _GROUPS)
    async def refuses(server: Server) -> None:
        member = await new_member(server)
        if "protocol_name" in fields or "protocol_type" in fields:
            member.connection.demand(SyncGroupRequest, _WITH_PROTOCOL)
        await member.joined()
        expect_error(await member.sync(**fields), code)

    return refuses


def _refuses_heartbeat(what: str, code: int, error: str, **fields: Any) -> Any:
    @broker_scenario(f"Heartbeat with {what} gets {error}.", _GROUPS)
    async def refuses(server: Server) -> None:
        member = await stable_member(server)
        expect_error(await member.heartbeat(), 0)
        expect_error(await member.heartbeat(**fields), code)

    return refuses


def _refuses_unknown_group(name: str, code: int, error: str, group: str | None) -> Any:
    what = "an unknown group" if group is None else "an empty group id"

    @broker_scenario(f"{name} with {what} gets {error}.", _GROUPS)
    async def refuses(server: Server) -> None:
        member = await new_member(server)
        member.member_id, member.generation = "nobody", 1
        fields: dict[str, Any] = {} if group is None else {"group_id": group}
        send = member.heartbeat if name == "Heartbeat" else member.sync
        expect_error(await send(**fields), code, differs=(16, 24, 25, 69))

    return refuses


@broker_scenario("A member that has left gets UNKNOWN_MEMBER_ID.", _GROUPS)
async def _left(server: Server) -> None:
    member = await stable_member(server)
    expect_error(await member.leave(), 0)
    expect_error(await member.heartbeat(), 25)


@broker_scenario("Up to v2 LeaveGroup of an unknown member gets UNKNOWN_MEMBER_ID.", kip(345))
async def _unknown_leaves(server: Server) -> None:
    member = await new_member(server)
    answer = await member.leave(LEAVE_MANY - 1, member_id="nobody")
    expect_error(answer, 25, differs=(69,))


@broker_scenario("From v3 on LeaveGroup answers each member for itself.", kip(345))
async def _unknown_among_many(server: Server) -> None:
    member = await stable_member(server)
    member.connection.demand(LeaveGroupRequest, LEAVE_MANY)
    answer = await member.leave(member_id="nobody")
    expect_equal("error of the whole", answer.error_code, 0)
    expect_equal("errors", [m.error_code for m in answer.members], [25])
    expect_error(await member.heartbeat(), 0)


@broker_scenario("Between JoinGroup and SyncGroup Heartbeat is accepted.", _GROUPS)
async def _before_sync(server: Server) -> None:
    member = await new_member(server)
    await member.joined()
    expect_error(await member.heartbeat(), 0, 27)


@broker_scenario("A broker that does not coordinate the group answers NOT_COORDINATOR.", _GROUPS)
async def _not_coordinator(server: Server) -> None:
    member = await stable_member(server)
    elsewhere = replace(member, connection=await server.another_node(member.connection))
    expect_error(await elsewhere.heartbeat(), 16)


SECTION = CheckSection(
    "groups/members",
    "SyncGroup, Heartbeat and LeaveGroup of classic groups",
    {
        1: _assigned,
        2: _names_protocol,
        3: _assigned_again,
        4: _refuses_sync("an unknown member id", 25, "UNKNOWN_MEMBER_ID", member_id="nobody"),
        5: _refuses_sync("another generation", 22, "ILLEGAL_GENERATION", generation_id=7),
        6: _refuses_sync(
            "another protocol type", 23, "INCONSISTENT_GROUP_PROTOCOL", protocol_type="other"
        ),
        7: _refuses_sync(
            "another protocol", 23, "INCONSISTENT_GROUP_PROTOCOL", protocol_name="other"
        ),
        8: _refuses_heartbeat("an unknown member id", 25, "UNKNOWN_MEMBER_ID", member_id="nobody"),
        9: _refuses_heartbeat("another generation", 22, "ILLEGAL_GENERATION", generation_id=7),
        10: _refuses_unknown_group("Heartbeat", 25, "UNKNOWN_MEMBER_ID", None),
        11: _refuses_unknown_group("SyncGroup", 25, "UNKNOWN_MEMBER_ID", None),
        12: _refuses_unknown_group("Heartbeat", 24, "INVALID_GROUP_ID", ""),
        13: _refuses_unknown_group("SyncGroup", 24, "INVALID_GROUP_ID", ""),
        14: _left,
        15: _unknown_leaves,
        16: _unknown_among_many,
        17: _before_sync,
        18: _not_coordinator,
    },
)
