"""Checks that groups of each kind share whose coordinator assigns (KIP-848, KIP-932, KIP-1071)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from kwire.conform.check import Check, broker_scenario
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_equal, expect_error, expect_refused
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource
from kwire.error_codes import ErrorCode
from kwire.messages.a16_list_groups import ListGroupsRequest

_LEAVES = -1


class HeartbeatMember(Protocol):
    """A member of a consumer, share or streams group. connection: to the group's coordinator."""

    connection: CheckedConnection
    group: str
    epoch: int

    async def join(self, **fields: Any) -> Any:
        """Send a heartbeat as a joining member does; return the answer, whatever its error."""

    async def joined(self) -> Any:
        """Join; return the answer. Raises Deviation for an error."""

    async def heartbeat(self, **fields: Any) -> Any:
        """Send one heartbeat; return the answer, whatever its error."""


NewMember = Callable[[Server], Awaitable[HeartbeatMember]]
"""Returns a member that has not joined, of a group of its own."""


def refused_join(
    new_member: NewMember, source: SentenceSource, what: str, code: ErrorCode, **fields: Any
) -> Check:
    """Return a check that a join with these fields is refused."""

    @broker_scenario(f"{what} gets {code.name}.", source)
    async def refuses(server: Server) -> None:
        member = await new_member(server)
        demand = expect_refused if code == ErrorCode.INVALID_REQUEST else expect_error
        demand(await member.join(**fields), code)

    return refuses


def refused_heartbeat(
    new_member: NewMember, source: SentenceSource, what: str, code: ErrorCode, **fields: Any
) -> Check:
    """Return a check that a member's heartbeat with these fields is refused."""

    @broker_scenario(f"{what} gets {code.name}.", source)
    async def refuses(server: Server) -> None:
        member = await new_member(server)
        await member.joined()
        expect_error(await member.heartbeat(**fields), code)

    return refuses


def leaving_member(new_member: NewMember, source: SentenceSource) -> Check:
    """Return a check that a member may leave, and then is none."""

    @broker_scenario("A member that leaves is unknown afterwards.", source)
    async def leaves(server: Server) -> None:
        member = await new_member(server)
        expect_error(await member.join(), ErrorCode.NONE)
        epoch = member.epoch
        answer = await member.heartbeat(member_epoch=_LEAVES)
        expect_error(answer, ErrorCode.NONE)
        expect_equal("epoch", answer.member_epoch, _LEAVES)
        expect_error(
            await member.heartbeat(member_epoch=epoch),
            ErrorCode.UNKNOWN_MEMBER_ID,
            ErrorCode.GROUP_ID_NOT_FOUND,
        )

    return leaves


def listed_type(new_member: NewMember, source: SentenceSource, name: str) -> Check:
    """Return a check that ListGroups tells the type of a group. name: of the type."""

    @broker_scenario(f"ListGroups returns the type of a {name} group.", source)
    async def listed(server: Server) -> None:
        member = await new_member(server)
        await member.joined()
        answer = await member.connection.ask(ListGroupsRequest(types_filter=(name,)))
        types = {group.group_id: group.group_type.lower() for group in answer.groups}
        expect_equal("type", types.get(member.group), name)

    return listed
