"""A member of a streams group for checks: every field of its heartbeats can be chosen."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import demand_enabled, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.messages.a88_streams_group_heartbeat import StreamsGroupHeartbeatRequest, Topology

JOINS, LEAVES = 0, -1
"""Epochs with which a member joins and leaves."""
STREAMS_GROUPS = "streams groups"
SUBTOPOLOGY = "0"
REBALANCE_MS = 10_000


def topology(*topics: str, epoch: int = 0, **fields: Any) -> Topology:
    """Return a topology of one subtopology that reads these topics."""
    own = {"subtopology_id": SUBTOPOLOGY, "source_topics": topics}
    return filled(Topology, epoch=epoch, subtopologies=[own | fields])


@dataclass(slots=True, kw_only=True)
class StreamsMember:
    """A member of a streams group. epoch: as the coordinator last gave it."""

    server: Server
    connection: CheckedConnection
    group: str
    topic: str
    member_id: str = field(default_factory=lambda: str(uuid4()))
    epoch: int = JOINS
    partitions: tuple[int, ...] = ()

    async def heartbeat(self, **fields: Any) -> Any:
        """Send one heartbeat, a short one unless fields say more, as `filled` takes them."""
        own = {"group_id": self.group, "member_id": self.member_id, "member_epoch": self.epoch}
        request = filled(StreamsGroupHeartbeatRequest, **(own | fields))
        answer = await self.connection.ask_coordinator(request)
        demand_enabled(answer, STREAMS_GROUPS)
        if answer.error_code == ErrorCode.NONE:
            self.epoch = answer.member_epoch
            if answer.active_tasks is not None:
                self.partitions = tuple(p for t in answer.active_tasks for p in t.partitions)
        return answer

    async def join(self, **fields: Any) -> Any:
        """Send a heartbeat as a joining member does; return the answer, whatever its error."""
        own: dict[str, Any] = {
            "member_epoch": JOINS,
            "rebalance_timeout_ms": REBALANCE_MS,
            "topology": topology(self.topic),
            "active_tasks": [],
            "standby_tasks": [],
            "warmup_tasks": [],
            "process_id": "process-1",
            "client_tags": [],
        }
        answer = await self.heartbeat(**(own | fields))
        if answer.error_code == ErrorCode.NONE:
            self.server.remove_afterwards(f"member {self.member_id}", self._leave)
        return answer

    async def joined(self) -> Any:
        """Join, which must be accepted."""
        answer = await self.join()
        expect_error(answer, ErrorCode.NONE)
        return answer

    async def _leave(self) -> None:
        with suppress(Skipped):
            await self.heartbeat(member_epoch=LEAVES)


async def new_streams_member(server: Server, partitions: int = 1) -> StreamsMember:
    """Return a member, which has not joined, of a new group that reads a new topic."""
    connection = await server.connection()
    connection.demand(StreamsGroupHeartbeatRequest)
    topic = await server.topic(partitions)
    group = server.group()
    return StreamsMember(
        server=server, connection=await server.coordinator(group), group=group, topic=topic
    )
