"""A member of a consumer group for checks, every field of its heartbeats to choose (KIP-848)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from kwire.conform.checks.groups.member import demand_room
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import demand_enabled, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.error_codes import ErrorCode
from kwire.messages.a68_consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kwire.messages.a69_consumer_group_describe import ConsumerGroupDescribeRequest

JOINS, LEAVES, LEAVES_FOR_A_WHILE = 0, -1, -2
"""Epochs with which a member joins, leaves, and leaves with its instance id kept."""
REBALANCE_MS = 10_000

_CONSUMER_GROUPS = "consumer groups"


@dataclass(slots=True, kw_only=True)
class ConsumerMember:
    """A member of a consumer group. epoch, assignment: as the coordinator last gave them."""

    server: Server
    connection: CheckedConnection
    group: str
    topics: tuple[str, ...]
    instance_id: str | None = None
    member_id: str = field(default_factory=lambda: str(uuid4()))
    epoch: int = JOINS
    assignment: list[TopicPartitions] = field(default_factory=list)

    async def heartbeat(self, version: int | None = None, **fields: Any) -> Any:
        """Send one heartbeat, a short one unless fields say more; return the answer."""
        own: dict[str, Any] = {
            "group_id": self.group,
            "member_id": self.member_id,
            "member_epoch": self.epoch,
            "instance_id": self.instance_id,
        }
        request = ConsumerGroupHeartbeatRequest(**(own | fields))
        answer = await self.connection.ask_coordinator(request, version)
        demand_enabled(answer, _CONSUMER_GROUPS)
        demand_room(answer)
        return answer

    async def join(self, version: int | None = None, **fields: Any) -> Any:
        """Send a heartbeat as a joining member does; return the answer, whatever its error."""
        own = {
            "member_epoch": JOINS,
            "rebalance_timeout_ms": REBALANCE_MS,
            "subscribed_topic_names": self.topics,
            "topic_partitions": [],
        }
        answer = await self.heartbeat(version, **(own | fields))
        if answer.error_code == ErrorCode.NONE:
            self.member_id = answer.member_id or self.member_id
            self._take(answer)
            member_id = self.member_id
            self.server.remove_afterwards(
                f"member {member_id}", lambda: self._removed(member_id, fields)
            )
        return answer

    async def joined(self, version: int | None = None, **fields: Any) -> Any:
        """Join, which must be accepted."""
        answer = await self.join(version, **fields)
        expect_error(answer, ErrorCode.NONE)
        return answer

    async def beat(self) -> Any:
        """Tell what it owns, which must be accepted; take over epoch and assignment."""
        answer = await self.heartbeat(topic_partitions=self.assignment)
        expect_error(answer, ErrorCode.NONE)
        self._take(answer)
        return answer

    async def grows(self) -> bool:
        """Beat; return True if the epoch is above 1 then."""
        return bool((await self.beat()).member_epoch > 1)

    def partitions(self) -> list[int]:
        """Return the partitions that it is to own, sorted."""
        return sorted(p for topic in self.assignment for p in topic.partitions)

    async def owns(self, count: int) -> None:
        """Beat until it is to own this many partitions."""

        async def enough() -> bool:
            if len(self.partitions()) != count:
                await self.beat()
            return len(self.partitions()) == count

        await self.server.wait_for(f"{count} partitions for a member", enough)

    def _take(self, answer: Any) -> None:
        self.epoch = answer.member_epoch
        if answer.assignment is not None:
            self.assignment = answer.assignment.topic_partitions

    async def _removed(self, member_id: str, fields: dict[str, Any]) -> None:
        group = fields.get("group_id", self.group)
        request = ConsumerGroupHeartbeatRequest(
            group_id=group, member_id=member_id, member_epoch=LEAVES, instance_id=self.instance_id
        )
        with suppress(Skipped):
            await self.connection.ask(request)


async def describe_consumers(connection: CheckedConnection, group: str) -> Any:
    """Ask ConsumerGroupDescribe for one group; return the part for it. Raises Skipped."""
    answer = await connection.ask_coordinator(ConsumerGroupDescribeRequest(group_ids=(group,)))
    described = answer.groups[0]
    demand_enabled(described, _CONSUMER_GROUPS)
    return described


async def new_consumer(
    server: Server,
    group: str = "",
    *,
    topics: tuple[str, ...] | None = None,
    instance_id: str | None = None,
) -> ConsumerMember:
    """Return a member that has not joined, of a group or a new one. topics: by default one new."""
    connection = await server.connection()
    connection.demand(ConsumerGroupHeartbeatRequest)
    topics = (await server.topic(),) if topics is None else topics
    group = group or server.group()
    return ConsumerMember(
        server=server,
        connection=await server.coordinator(group),
        group=group,
        topics=topics,
        instance_id=instance_id,
    )
