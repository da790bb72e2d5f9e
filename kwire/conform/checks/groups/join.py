"""JoinGroup: who is let into a classic group, and what it learns (KIP-62, KIP-394)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.groups.member import (
    MEMBER_ID_FIRST,
    METADATA,
    new_member,
    second_member,
    stable_member,
)
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a11_join_group import JoinGroupRequest, JoinGroupRequestProtocol

SECTION = CheckSection("groups/join", "JoinGroup of classic groups")

_CODES = guide("Error Codes")


def _refuses(
    what: str, code: ErrorCode, *, differs: tuple[ErrorCode, ...] = (), **fields: Any
) -> Any:
    @broker_scenario(f"{what} gets {code.name}.", _CODES)
    async def refuses(server: Server) -> None:
        member = await new_member(server)
        expect_error(await member.join(**fields), code, differs=differs)

    return refuses


SECTION[1] = _refuses("An empty group id", ErrorCode.INVALID_GROUP_ID, group_id="")
SECTION[2] = _refuses(
    "A session timeout of -1 ms", ErrorCode.INVALID_SESSION_TIMEOUT, session_timeout_ms=-1
)
SECTION[3] = _refuses(
    "A session timeout of 24 days",
    ErrorCode.INVALID_SESSION_TIMEOUT,
    differs=(ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED),  # it may be the greatest allowed
    session_timeout_ms=2**31 - 1,
)
SECTION[5] = _refuses(
    "A member without protocols", ErrorCode.INCONSISTENT_GROUP_PROTOCOL, protocols=[]
)
SECTION[6] = _refuses(
    "An empty protocol type", ErrorCode.INCONSISTENT_GROUP_PROTOCOL, protocol_type=""
)


@SECTION.broker_check(7, kip(394, "Public Interfaces"))
async def _(server: Server) -> None:
    """A member that names no id gets one with MEMBER_ID_REQUIRED."""
    member = await new_member(server)
    member.connection.demand(JoinGroupRequest, MEMBER_ID_FIRST)
    answer = await member.join()
    expect_error(answer, ErrorCode.MEMBER_ID_REQUIRED)
    expect(answer.member_id, "a member id", repr(answer.member_id))
    expect_equal("generation", answer.generation_id, -1)


@SECTION.broker_check(8, kip(394, "Public Interfaces"))
async def _(server: Server) -> None:
    """Up to v3 a member that names no id joins at once."""
    member = await new_member(server)
    answer = await member.join(MEMBER_ID_FIRST - 1)
    expect_error(answer, ErrorCode.NONE)
    expect(answer.member_id, "a member id", repr(answer.member_id))


@SECTION.broker_check(9, kip(394, "Proposed Changes"))
async def _(server: Server) -> None:
    """A member joins with the id that MEMBER_ID_REQUIRED gave, and keeps it."""
    member = await new_member(server)
    member.connection.demand(JoinGroupRequest, MEMBER_ID_FIRST)
    given: list[str] = []

    async def joins() -> bool:
        given.append((await member.join(member_id="")).member_id)
        answer = await member.join()
        return bool(
            answer.error_code == ErrorCode.NONE
        )  # up to Kafka 3.6 it may have forgotten the id

    await server.wait_for("the given id accepted", joins)
    expect_equal("member id", member.member_id, given[-1])


@SECTION.broker_check(12, kafka("GroupMetadataManager.classicGroupJoin"))
async def _(server: Server) -> None:
    """A second member makes a new generation, in which only the leader learns of the members."""
    leader = await stable_member(server)
    before = leader.generation
    follower, first, second = await second_member(leader)
    expect(first.generation_id > before, f"a generation after {before}", first.generation_id)
    expect_equal("generation of the follower", second.generation_id, first.generation_id)
    expect_equal("leader", second.leader, leader.member_id)
    members = {other.member_id for other in first.members}
    expect_equal("members of the leader", members, {leader.member_id, follower.member_id})
    expect_equal("members of the follower", second.members, [])


def _refuses_second(what: str, **fields: Any) -> Any:
    @broker_scenario(f"{what} gets INCONSISTENT_GROUP_PROTOCOL.", _CODES)
    async def refuses(server: Server) -> None:
        leader = await stable_member(server)
        second = await new_member(server, leader.group)
        expect_error(await second.join(**fields), ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    return refuses


SECTION[13] = _refuses_second("Another protocol type than the group's", protocol_type="other")
_OTHER = [JoinGroupRequestProtocol(name="other", metadata=METADATA)]
SECTION[14] = _refuses_second("A member without a protocol of the others", protocols=_OTHER)
