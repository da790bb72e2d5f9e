"""SyncGroup, Heartbeat and LeaveGroup of classic groups (KIP-62, KIP-345, KIP-559)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.groups.member import (
    ASSIGNMENT,
    LEAVE_MANY,
    new_member,
    second_member,
    stable_member,
)
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource, guide, kafka, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a13_leave_group import LeaveGroupRequest
from kwire.messages.a14_sync_group import SyncGroupRequest, SyncGroupRequestAssignment

SECTION = CheckSection("groups/members", "SyncGroup, Heartbeat and LeaveGroup of classic groups")

_CODES = guide("Error Codes")
_ASSIGNED = schema("SyncGroupResponse", "Assignment")
_CONSISTENT = schema("SyncGroupRequest", "ProtocolType")
_WITH_PROTOCOL = 5
"""The first version of SyncGroup with type and name of the protocol (KIP-559)."""


@SECTION.broker_check(1, _ASSIGNED)
async def _(server: Server) -> None:
    """SyncGroup hands each member what the leader assigned to it."""
    leader = await stable_member(server)
    follower, _, _ = await second_member(leader)
    shares = {leader.member_id: b"first", follower.member_id: b"second"}
    parts = [SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in shares.items()]
    answers = [await leader.sync(assignments=parts), await follower.sync()]
    expect_equal("assignments", [a.assignment for a in answers], list(shares.values()))


@SECTION.broker_check(3, _ASSIGNED)
async def _(server: Server) -> None:
    """A stable group's member that syncs again gets the same assignment."""
    member = await stable_member(server)
    answer = await member.sync(assignments=[])
    expect_error(answer, ErrorCode.NONE)
    expect_equal("assignment", answer.assignment, ASSIGNMENT)


def _refuses_sync(
    what: str, code: ErrorCode, source: SentenceSource = _CODES, **fields: Any
) -> Any:
    @broker_scenario(f"SyncGroup with {what} gets {code.name}.", source)
    async def refuses(server: Server) -> None:
        member = await new_member(server)
        if "protocol_name" in fields or "protocol_type" in fields:
            member.connection.demand(SyncGroupRequest, _WITH_PROTOCOL)
        await member.joined()
        expect_error(await member.sync(**fields), code)

    return refuses


SECTION[4] = _refuses_sync("an unknown member id", ErrorCode.UNKNOWN_MEMBER_ID, member_id="nobody")
SECTION[5] = _refuses_sync("another generation", ErrorCode.ILLEGAL_GENERATION, generation_id=7)
SECTION[6] = _refuses_sync(
    "another protocol type",
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    _CONSISTENT,
    protocol_type="other",
)
SECTION[7] = _refuses_sync(
    "another protocol", ErrorCode.INCONSISTENT_GROUP_PROTOCOL, _CONSISTENT, protocol_name="other"
)


def _refuses_heartbeat(what: str, code: ErrorCode, **fields: Any) -> Any:
    @broker_scenario(f"Heartbeat with {what} gets {code.name}.", _CODES)
    async def refuses(server: Server) -> None:
        member = await stable_member(server)
        expect_error(await member.heartbeat(), ErrorCode.NONE)
        expect_error(await member.heartbeat(**fields), code)

    return refuses


SECTION[8] = _refuses_heartbeat(
    "an unknown member id", ErrorCode.UNKNOWN_MEMBER_ID, member_id="nobody"
)
SECTION[9] = _refuses_heartbeat("another generation", ErrorCode.ILLEGAL_GENERATION, generation_id=7)


def _refuses_no_group(name: str) -> Any:
    @broker_scenario(f"{name} with an empty group id gets INVALID_GROUP_ID.", _CODES)
    async def refuses(server: Server) -> None:
        member = await new_member(server)
        member.member_id, member.generation = "nobody", 1
        send = member.heartbeat if name == "Heartbeat" else member.sync
        legal = ErrorCode.NOT_COORDINATOR, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND
        expect_error(await send(group_id=""), ErrorCode.INVALID_GROUP_ID, differs=legal)

    return refuses


SECTION[12] = _refuses_no_group("Heartbeat")
SECTION[13] = _refuses_no_group("SyncGroup")


@SECTION.broker_refuses(14, _CODES, ErrorCode.UNKNOWN_MEMBER_ID)
async def _(server: Server) -> Any:
    """A member that has left gets"""
    member = await stable_member(server)
    expect_error(await member.leave(), ErrorCode.NONE)
    return await member.heartbeat()


@SECTION.broker_check(16, schema("LeaveGroupResponse", "Members"))
async def _(server: Server) -> None:
    """From v3 on LeaveGroup answers each member for itself."""
    member = await stable_member(server)
    member.connection.demand(LeaveGroupRequest, LEAVE_MANY)
    answer = await member.leave(member_id="nobody")
    expect_equal("error of the whole", answer.error_code, 0)
    expect_equal("errors", [m.error_code for m in answer.members], [ErrorCode.UNKNOWN_MEMBER_ID])
    expect_error(await member.heartbeat(), ErrorCode.NONE)


@SECTION.broker_check(17, kafka("GroupMetadataManager.classicGroupHeartbeat"))
async def _(server: Server) -> None:
    """Between JoinGroup and SyncGroup Heartbeat is accepted."""
    member = await new_member(server)
    await member.joined()
    expect_error(await member.heartbeat(), ErrorCode.NONE)


@SECTION.broker_refuses(18, _CODES, ErrorCode.NOT_COORDINATOR)
async def _(server: Server) -> Any:
    """A broker that does not coordinate the group answers"""
    member = await stable_member(server)
    elsewhere = replace(member, connection=await server.another_node(member.connection))
    return await elsewhere.heartbeat()
