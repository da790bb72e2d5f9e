"""A member of a classic group for checks: every field of its requests can be chosen."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.error_codes import ErrorCode
from kwire.messages.a11_join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kwire.messages.a12_heartbeat import HeartbeatRequest
from kwire.messages.a13_leave_group import LeaveGroupRequest, MemberIdentity
from kwire.messages.a14_sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kwire.net.address import Address

TYPE, PROTOCOL = "kwire-conform", "plain"
"""A protocol type that no broker looks into, and a protocol of it."""
METADATA, ASSIGNMENT = b"metadata", b"assignment"
SESSION_MS, REBALANCE_MS = 30_000, 10_000
WITH_INSTANCE = 5
"""The first version of JoinGroup with static members (KIP-345)."""
MEMBER_ID_FIRST = 4
"""The first version of JoinGroup in which a member gets its id before it joins (KIP-394)."""
LEAVE_MANY = 3
"""The first version of LeaveGroup for many members (KIP-345)."""

_ATTEMPTS = 3


def demand_room(answer: Any) -> None:
    """Raise Skipped for GROUP_MAX_SIZE_REACHED, which a server may be set to answer (KIP-389)."""
    if answer.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED:
        raise Skipped("groups of this server may not have so many members")


@dataclass(slots=True, kw_only=True)
class ClassicMember:
    """A member of a group. connection: its own; a request that waits holds up those behind it.

    member_id, generation: as the coordinator gave them. is_leader: of the group.
    """

    server: Server
    connection: CheckedConnection
    group: str
    instance_id: str | None = None
    member_id: str = ""
    generation: int = -1
    is_leader: bool = False

    async def join(self, version: int | None = None, **fields: Any) -> Any:
        """Send one JoinGroup; return the answer, whatever its error."""
        protocol = JoinGroupRequestProtocol(name=PROTOCOL, metadata=METADATA)
        own: dict[str, Any] = {
            "group_id": self.group,
            "session_timeout_ms": SESSION_MS,
            "rebalance_timeout_ms": REBALANCE_MS,
            "member_id": self.member_id,
            "group_instance_id": self.instance_id,
            "protocol_type": TYPE,
            "protocols": [protocol],
        }
        answer = await self.connection.ask_coordinator(JoinGroupRequest(**(own | fields)), version)
        demand_room(answer)
        if answer.error_code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            self.take(answer.member_id)
            self.generation = answer.generation_id
            self.is_leader = answer.leader == answer.member_id
        return answer

    def take(self, member_id: str) -> None:
        """Take over a member id; it leaves the group afterwards."""
        if member_id == self.member_id:
            return
        self.member_id = member_id
        self.server.remove_afterwards(f"member {member_id}", lambda: self._removed(member_id))

    async def joined(self, version: int | None = None, **fields: Any) -> Any:
        """Join, with the id that the coordinator gives; return the answer, which is no error.

        As clients do, begin again where the coordinator has forgotten that id: up to Kafka 3.6 it
        forgets groups without members whenever any topic is deleted.
        """
        for _ in range(_ATTEMPTS):
            answer = await self.join(version, **fields)
            if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                answer = await self.join(version, **fields)
            if answer.error_code != ErrorCode.UNKNOWN_MEMBER_ID:
                break
            self.member_id = ""
        expect_error(answer, ErrorCode.NONE)
        return answer

    async def sync(self, version: int | None = None, **fields: Any) -> Any:
        """Send SyncGroup, with an assignment for itself if it is the leader."""
        part = SyncGroupRequestAssignment(member_id=self.member_id, assignment=ASSIGNMENT)
        own = {
            "assignments": [part] if self.is_leader else [],
            "group_instance_id": self.instance_id,
            "protocol_type": TYPE,
            "protocol_name": PROTOCOL,
        }
        request = SyncGroupRequest(**(self.numbers() | own | fields))
        return await self.connection.ask_coordinator(request, version)

    async def heartbeat(self, version: int | None = None, **fields: Any) -> Any:
        """Send Heartbeat."""
        own = self.numbers() | {"group_instance_id": self.instance_id}
        return await self.connection.ask_coordinator(HeartbeatRequest(**(own | fields)), version)

    async def leave(self, version: int | None = None, **fields: Any) -> Any:
        """Send LeaveGroup for the member; fields: of its identity."""
        own = {"member_id": self.member_id, "group_instance_id": self.instance_id}
        return await _leave(self.connection, self.group, version, **(own | fields))

    def numbers(self) -> dict[str, Any]:
        """Return group, generation and member id of a request."""
        return {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.member_id,
        }

    async def _removed(self, member_id: str) -> None:
        connection = await self.server.new_connection(Address.parse(self.connection.peer))
        with suppress(Skipped):
            await _leave(connection, self.group, member_id=member_id)


async def _leave(
    connection: CheckedConnection, group: str, version: int | None = None, **fields: Any
) -> Any:
    identity = MemberIdentity(**fields)
    request = LeaveGroupRequest(group_id=group, members=[identity])
    chosen = connection.version_for(request) if version is None else version
    if chosen < LEAVE_MANY:
        request = LeaveGroupRequest(group_id=group, member_id=identity.member_id)
    return await connection.ask_coordinator(request, chosen)


async def new_member(
    server: Server, group: str = "", instance_id: str | None = None
) -> ClassicMember:
    """Return a member that has not joined, of a group or a new one, on a connection of its own."""
    group = group or server.group()
    coordinator = await server.coordinator(group)
    connection = await server.new_connection(Address.parse(coordinator.peer))
    if instance_id is not None:
        connection.demand(JoinGroupRequest, WITH_INSTANCE)
    return ClassicMember(server=server, connection=connection, group=group, instance_id=instance_id)


async def second_member(leader: ClassicMember) -> tuple[ClassicMember, Any, Any]:
    """Have another member join a stable group; return it, and both answers, the leader's first."""
    follower = await new_member(leader.server, leader.group)
    follower.connection.demand_since(JoinGroupRequest, MEMBER_ID_FIRST)  # else it waits at once
    await follower.join()
    waiting = asyncio.ensure_future(follower.joined())

    async def rebalances() -> bool:
        if waiting.done():
            await waiting
        return bool((await leader.heartbeat()).error_code)

    try:
        await leader.server.wait_for("REBALANCE_IN_PROGRESS", rebalances)
        first = await leader.joined()
        return follower, first, await waiting
    finally:
        waiting.cancel()


async def stable_member(
    server: Server, group: str = "", instance_id: str | None = None
) -> ClassicMember:
    """Return the only member of a new group, after JoinGroup and SyncGroup."""
    member = await new_member(server, group, instance_id)
    await member.joined()
    expect_error(await member.sync(), ErrorCode.NONE)
    return member
