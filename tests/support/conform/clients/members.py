"""The model client as a member of a group, of the classic protocol and of KIP-848's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from kwire.conform.clients.case import RECORDS
from kwire.error_codes import ErrorCode
from kwire.messages import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)
from kwire.messages.a08_offset_commit import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kwire.messages.a09_offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kwire.messages.a11_join_group import JoinGroupRequestProtocol
from kwire.messages.a13_leave_group import MemberIdentity
from kwire.messages.a14_sync_group import SyncGroupRequestAssignment
from tests.support.conform.clients.model_client import Disconnected, Refused, demand
from tests.support.conform.clients.transactional import CoordinatedClient

HEARTBEAT = 0.05
"""Seconds between heartbeats."""
JOINED_ANEW = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.FENCED_MEMBER_EPOCH,
)


class Member(CoordinatedClient):
    """Joins a group, reads all records, and commits. epoch: its generation, or member epoch."""

    member_id = ""
    epoch = 0
    is_consumer = False
    is_joined = False
    offset = -1
    next_heartbeat = 0.0

    async def group_member(self) -> None:
        """Do the task in the classic protocol."""
        await self.read_all()

    async def consumer_member(self) -> None:
        """Do the task in KIP-848's."""
        self.is_consumer, self.member_id = True, "model-member"
        await self.read_all()

    async def read_all(self) -> None:
        """Read all, with heartbeats in between, and commit."""
        end = time.monotonic() + self.limit
        received = 0
        while received < RECORDS and time.monotonic() < end:
            try:
                values = await self.repeated(self.poll)
            except Refused as error:
                await self.leave_for(error)
                continue
            for value in values:
                self.say("received", value)
            received += len(values)
        if received < RECORDS:
            raise Disconnected(f"{received} records came")
        await self.repeated(self.commit)
        self.say("committed")
        await self.repeated(self.leave)

    async def leave_for(self, error: Refused) -> None:
        """Forget the membership that an error ended. Raises Refused for another error."""
        if error.code not in JOINED_ANEW:
            raise error
        self.is_joined = False
        if self.is_consumer:
            self.epoch = 0
        elif error.code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        await asyncio.sleep(HEARTBEAT)

    def may_repeat(self, error: Exception) -> bool:
        """Return True for an error after which the same may work."""
        stale = isinstance(error, Refused) and error.code == ErrorCode.STALE_MEMBER_EPOCH
        return super().may_repeat(error) or stale

    async def poll(self) -> Sequence[str]:
        """Be a member, and return the next records."""
        node = await self.find_coordinator()
        if not self.is_joined:
            await (self.heartbeat_anew(node) if self.is_consumer else self.join(node))
            self.is_joined, self.offset = True, -1
        elif time.monotonic() > self.next_heartbeat:
            self.next_heartbeat = time.monotonic() + HEARTBEAT
            await (self.heartbeat_again(node) if self.is_consumer else self.heartbeat(node))
        if self.offset < 0:
            self.offset = await self.committed()
        return await self.read()

    async def join(self, node: int) -> None:
        """Join, and take the assignment of its own making."""
        protocol = JoinGroupRequestProtocol(name="range", metadata=b"\0")
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=1000,
            rebalance_timeout_ms=1000,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[protocol],
        )
        answer = await self.ask(node, request)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            request.member_id = self.member_id = answer.member_id
            answer = await self.ask(node, request)
        demand(answer.error_code)
        self.member_id, self.epoch = answer.member_id, answer.generation_id
        answer = await self.ask(
            node,
            SyncGroupRequest(
                group_id=self.group,
                generation_id=self.epoch,
                member_id=self.member_id,
                protocol_type="consumer",
                protocol_name="range",
                assignments=[
                    SyncGroupRequestAssignment(member_id=self.member_id, assignment=b"\0")
                ],
            ),
        )
        demand(answer.error_code)

    async def heartbeat(self, node: int) -> None:
        """Tell that it is there."""
        request = HeartbeatRequest(
            group_id=self.group, generation_id=self.epoch, member_id=self.member_id
        )
        demand((await self.ask(node, request)).error_code)

    async def heartbeat_anew(self, node: int) -> None:
        """Join with the epoch 0."""
        await self.beat(
            node,
            rebalance_timeout_ms=1000,
            subscribed_topic_names=(self.topic,),
            topic_partitions=[],
        )

    async def heartbeat_again(self, node: int) -> None:
        """Tell that it is there, with nothing new."""
        await self.beat(node)

    async def beat(self, node: int, **fields: Any) -> None:
        """Send a heartbeat of a consumer group."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group, member_id=self.member_id, member_epoch=self.epoch, **fields
        )
        answer = await self.ask(node, request)
        demand(answer.error_code)
        self.epoch = answer.member_epoch

    async def committed(self) -> int:
        """Return the committed offset, -1 if there is none."""
        node = await self.find_coordinator()
        if self.version(await self.connect(node), OffsetFetchRequest) < 8:
            old = OffsetFetchRequestTopic(name=self.topic, partition_indexes=(0,))
            request = OffsetFetchRequest(group_id=self.group, topics=[old])
            answer = await self.ask(node, request)
            results: Any = answer.topics
        else:
            member = (self.member_id, self.epoch) if self.is_consumer else (None, -1)
            topic = OffsetFetchRequestTopics(name=self.topic, partition_indexes=(0,))
            group = OffsetFetchRequestGroup(
                group_id=self.group, member_id=member[0], member_epoch=member[1], topics=[topic]
            )
            request = OffsetFetchRequest(groups=[group], require_stable=True)
            answer = (await self.ask_until(node, request, 9)).groups[0]
            results = answer.topics
        demand(answer.error_code, *(results and [results[0].partitions[0].error_code]))
        offset: int = results[0].partitions[0].committed_offset
        return offset

    async def leave(self) -> None:
        """Leave the group."""
        node = await self.find_coordinator()
        if self.is_consumer:
            self.epoch = -1
            await self.beat(node)
            return
        member = MemberIdentity(member_id=self.member_id)
        request = LeaveGroupRequest(group_id=self.group, members=[member])
        if self.version(await self.connect(node), LeaveGroupRequest) < 3:
            request = LeaveGroupRequest(group_id=self.group, member_id=self.member_id)
        demand((await self.ask(node, request)).error_code)

    async def commit(self) -> None:
        """Commit what was read, once."""
        part = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=self.offset, committed_metadata=""
        )
        request = OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=self.epoch,
            member_id=self.member_id,
            topics=[OffsetCommitRequestTopic(name=self.topic, partitions=[part])],
        )
        node = await self.find_coordinator()
        answer = await self.ask_until(node, request, 9)
        demand(answer.topics[0].partitions[0].error_code)
