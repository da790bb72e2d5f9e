"""A member of a share group for checks: heartbeats, a share session and its acknowledgements."""

from __future__ import annotations

import base64
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from kwire.conform.checks.groups.settings import configure_group
from kwire.conform.checks.producers.producer import CheckedProducer
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import demand_enabled, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.messages.a76_share_group_heartbeat import ShareGroupHeartbeatRequest
from kwire.messages.a78_share_fetch import ShareFetchRequest
from kwire.messages.a79_share_acknowledge import ShareAcknowledgeRequest

JOINS, LEAVES = 0, -1
"""Epochs with which a member joins and leaves."""
OPENS, CLOSES = 0, -1
"""Epochs with which a share session is opened and closed."""
SHARE_GROUPS = "share groups"
ACCEPT, RELEASE, REJECT = 1, 2, 3
"""Types of acknowledgement."""

_WAIT_MS = 500
_MAX_BYTES = 1 << 20


@dataclass(slots=True, kw_only=True)
class ShareMember:
    """A member of a share group, with a share session.

    connection: to the coordinator, which last gave the epoch. leader: to that of partition 0.
    """

    server: Server
    connection: CheckedConnection
    leader: CheckedConnection
    group: str
    topic: str
    topic_id: UUID
    member_id: str = field(default_factory=lambda: kafka_uuid(uuid4()))
    epoch: int = JOINS
    session_epoch: int = OPENS
    partition: int = 0

    async def heartbeat(self, **fields: Any) -> Any:
        """Send one heartbeat, a short one unless fields say more; return the answer."""
        own = {"group_id": self.group, "member_id": self.member_id, "member_epoch": self.epoch}
        request = filled(ShareGroupHeartbeatRequest, **(own | fields))
        answer = await self.connection.ask_coordinator(request)
        demand_enabled(answer, SHARE_GROUPS)
        return answer

    async def join(self, **fields: Any) -> Any:
        """Send a heartbeat as a joining member does; return the answer, whatever its error."""
        own = {"member_epoch": JOINS, "subscribed_topic_names": (self.topic,)}
        answer = await self.heartbeat(**(own | fields))
        if answer.error_code == ErrorCode.NONE:
            self.epoch = answer.member_epoch
            self.server.remove_afterwards(f"member {self.member_id}", self._leave)
        return answer

    async def joined(self) -> Any:
        """Join, and beat until the topic's partition is assigned; return the last answer."""
        answer = await self.join()
        expect_error(answer, ErrorCode.NONE)

        async def assigned() -> bool:
            nonlocal answer
            if answer.assignment is None or not answer.assignment.topic_partitions:
                answer = await self.heartbeat(subscribed_topic_names=(self.topic,))
                expect_error(answer, ErrorCode.NONE)
                self.epoch = answer.member_epoch
            return bool(answer.assignment and answer.assignment.topic_partitions)

        await self.server.wait_for("a partition for the member", assigned)
        return answer

    async def fetch(
        self, *acknowledged: tuple[int, int, int], version: int | None = None, **fields: Any
    ) -> Any:
        """Send ShareFetch for its partition; return the answer, whatever its errors.

        acknowledged: first offset, last offset and type of each batch.
        """
        own = {
            "max_wait_ms": _WAIT_MS,
            "min_bytes": 1,
            "max_bytes": _MAX_BYTES,
            "max_records": 100,
            "batch_size": 100,
        }
        return await self._ask(ShareFetchRequest, acknowledged, version, **(own | fields))

    async def _ask(
        self,
        api: type[ShareFetchRequest] | type[ShareAcknowledgeRequest],
        acknowledged: tuple[tuple[int, int, int], ...],
        version: int | None,
        **fields: Any,
    ) -> Any:
        batches = [
            {"first_offset": first, "last_offset": last, "acknowledge_types": (type,)}
            for first, last, type in acknowledged
        ]
        partition = {"partition_index": self.partition, "acknowledgement_batches": batches}
        own = {
            "group_id": self.group,
            "member_id": self.member_id,
            "share_session_epoch": self.session_epoch,
            "topics": [{"topic_id": self.topic_id, "partitions": [partition]}],
        }
        answer = await self.leader.ask(filled(api, **(own | fields)), version)
        if answer.error_code == ErrorCode.NONE:
            self.session_epoch += 1
        return answer

    async def acquired(self, *acknowledged: tuple[int, int, int]) -> list[tuple[int, int, int]]:
        """Fetch until records come; return first offset, last offset and delivery count."""
        found: list[tuple[int, int, int]] = []

        async def any_records() -> bool:
            nonlocal acknowledged
            answer = await self.fetch(*acknowledged)
            acknowledged = ()
            expect_error(answer, ErrorCode.NONE)
            found.extend(acquired_in(answer))
            return bool(found)

        await self.server.wait_for("acquired records", any_records)
        return found

    async def acknowledge(
        self, *batches: tuple[int, int, int], version: int | None = None, **fields: Any
    ) -> Any:
        """Send ShareAcknowledge for its partition; return the answer, whatever its errors."""
        return await self._ask(ShareAcknowledgeRequest, batches, version, **fields)

    async def close_session(self) -> Any:
        """Close the share session, which gives back what it acquired."""
        return await self.acknowledge(share_session_epoch=CLOSES, topics=[])

    async def produce(self, records: int) -> None:
        """Write records to the topic, in one batch."""
        producer = CheckedProducer(leaders=[self.leader], topic=self.topic)
        await producer.append(-1, records)

    async def another(self) -> ShareMember:
        """Return another member of the group, which has not joined."""
        return ShareMember(
            server=self.server,
            connection=self.connection,
            leader=await self.server.leader(self.topic),
            group=self.group,
            topic=self.topic,
            topic_id=self.topic_id,
        )

    async def _leave(self) -> None:
        with suppress(Skipped):
            await self.heartbeat(member_epoch=LEAVES)


def acquired_in(answer: Any) -> list[tuple[int, int, int]]:
    """Return what an answer to ShareFetch hands over: first offset, last offset, delivery count."""
    return [
        (part.first_offset, part.last_offset, part.delivery_count)
        for topic in answer.responses
        for partition in topic.partitions
        for part in partition.acquired_records
    ]


def kafka_uuid(value: UUID) -> str:
    """Return a UUID as Kafka writes it in text."""
    return base64.urlsafe_b64encode(value.bytes).rstrip(b"=").decode()


def by_offset(acquired: list[tuple[int, int, int]]) -> dict[int, int]:
    """Return the delivery count of each acquired offset: a server may divide them as it likes."""
    return {offset: count for first, last, count in acquired for offset in range(first, last + 1)}


async def new_share_member(server: Server, *, topic: str = "") -> ShareMember:
    """Return a member, which has not joined, of a new group that reads a topic from its start."""
    connection = await server.connection()
    connection.demand(ShareGroupHeartbeatRequest)
    topic = topic or await server.topic()
    group = server.group()
    await configure_group(server, group, "share.auto.offset.reset", "earliest")
    return ShareMember(
        server=server,
        connection=await server.coordinator(group),
        leader=await server.leader(topic),
        group=group,
        topic=topic,
        topic_id=await server.topic_id(topic),
    )
