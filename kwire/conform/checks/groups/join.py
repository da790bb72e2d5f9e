"""JoinGroup: who is let into a classic group, and what it learns (KIP-62, KIP-394)."""

from __future__ import annotations

import asyncio
from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.groups.member import (
    METADATA,
    PROTOCOL,
    TYPE,
    new_member,
    stable_member,
)
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import guide, kip
from kwire.messages.a11_join_group import JoinGroupRequest, JoinGroupRequestProtocol

_GROUPS = guide("Group Membership API")
_MEMBER_ID_FIRST = 4
"""The first version in which a member gets its id before it joins (KIP-394)."""
_WITH_TYPE = 7
"""The first version whose answer has the protocol type (KIP-559)."""


def _refuses(what: str, code: int, error: str, **fields: Any) -> Any:
    @broker_scenario(f"{what} gets {error}.", _GROUPS)
    async def refuses(server: Server) -> None:
        member = await new_member(server)
        expect_error(await member.join(**fields), code)

    return refuses


@broker_scenario("A member that names no id gets one with MEMBER_ID_REQUIRED.", kip(394))
async def _id_required(server: Server) -> None:
    member = await new_member(server)
    member.connection.demand(JoinGroupRequest, _MEMBER_ID_FIRST)
    answer = await member.join()
    expect_error(answer, 79)
    expect(answer.member_id, "a member id", repr(answer.member_id))
    expect_equal("generation", answer.generation_id, -1)


@broker_scenario("Up to v3 a member that names no id joins at once.", kip(394))
async def _joins_at_once(server: Server) -> None:
    member = await new_member(server)
    answer = await member.join(_MEMBER_ID_FIRST - 1)
    expect_error(answer, 0)
    expect(answer.member_id, "a member id", repr(answer.member_id))


@broker_scenario("A member joins with the id that MEMBER_ID_REQUIRED gave, and keeps it.", kip(394))
async def _id_is_known(server: Server) -> None:
    member = await new_member(server)
    member.connection.demand(JoinGroupRequest, _MEMBER_ID_FIRST)
    given: list[str] = []

    async def joins() -> bool:
        given.append((await member.join(member_id="")).member_id)
        answer = await member.join()
        return bool(answer.error_code == 0)  # up to Kafka 3.6 it may have forgotten the id

    await server.wait_for("the given id accepted", joins)
    expect_equal("member id", member.member_id, given[-1])


@broker_scenario(
    "The first member leads generation 1 and learns of all members with their metadata.", _GROUPS
)
async def _first_leads(server: Server) -> None:
    member = await new_member(server)
    answer = await member.joined()
    expect_equal("leader", answer.leader, member.member_id)
    expect_equal("generation", answer.generation_id, 1)
    members = [(other.member_id, other.metadata) for other in answer.members]
    expect_equal("members", members, [(member.member_id, METADATA)])
    expect_equal("protocol", answer.protocol_name, PROTOCOL)


@broker_scenario("From v7 on the answer has the protocol type.", kip(559))
async def _protocol_type(server: Server) -> None:
    member = await new_member(server)
    member.connection.demand(JoinGroupRequest, _WITH_TYPE)
    expect_equal("protocol type", (await member.joined()).protocol_type, TYPE)


@broker_scenario(
    "A second member makes a new generation, in which only the leader learns of the members.",
    _GROUPS,
)
async def _second_member(server: Server) -> None:
    leader = await stable_member(server)
    follower = await new_member(server, leader.group)
    await follower.join()
    waiting = asyncio.ensure_future(follower.joined())

    async def rebalances() -> bool:
        return bool((await leader.heartbeat()).error_code)

    await server.wait_for("REBALANCE_IN_PROGRESS", rebalances)
    first, second = await asyncio.gather(leader.joined(), waiting)
    expect_equal("generations", (first.generation_id, second.generation_id), (2, 2))
    expect_equal("leader", second.leader, leader.member_id)
    members = {other.member_id for other in first.members}
    expect_equal("members of the leader", members, {leader.member_id, follower.member_id})
    expect_equal("members of the follower", second.members, [])


def _refuses_second(what: str, **fields: Any) -> Any:
    @broker_scenario(f"{what} gets INCONSISTENT_GROUP_PROTOCOL.", _GROUPS)
    async def refuses(server: Server) -> None:
        leader = await stable_member(server)
        second = await new_member(server, leader.group)
        expect_error(await second.join(**fields), 23)

    return refuses


_OTHER = [JoinGroupRequestProtocol(name="other", metadata=METADATA)]

SECTION = CheckSection(
    "groups/join",
    "JoinGroup of classic groups",
    {
        1: _refuses("An empty group id", 24, "INVALID_GROUP_ID", group_id=""),
        2: _refuses(
            "A session timeout of 1 ms", 26, "INVALID_SESSION_TIMEOUT", session_timeout_ms=1
        ),
        3: _refuses(
            "A session timeout of 24 days",
            26,
            "INVALID_SESSION_TIMEOUT",
            session_timeout_ms=2**31 - 1,
        ),
        4: _refuses(
            "A member id that no member was given", 25, "UNKNOWN_MEMBER_ID", member_id="nobody"
        ),
        5: _refuses("A member without protocols", 23, "INCONSISTENT_GROUP_PROTOCOL", protocols=[]),
        6: _refuses("An empty protocol type", 23, "INCONSISTENT_GROUP_PROTOCOL", protocol_type=""),
        7: _id_required,
        8: _joins_at_once,
        9: _id_is_known,
        10: _first_leads,
        11: _protocol_type,
        12: _second_member,
        13: _refuses_second("Another protocol type than the group's", protocol_type="other"),
        14: _refuses_second("A member without a protocol of the others", protocols=_OTHER),
    },
)
