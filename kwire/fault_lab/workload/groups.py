"""Groups: clients commit and fetch offsets, and a member joins again and again.

A coordinator that was cut off does not know that another took its place, and answers fetches from
memory: a fetch is a read that may be stale. The last one, after the faults, may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import cast

from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.fault_lab.history import Fate
from kwire.fault_lab.session import WorkloadClient, judged
from kwire.fault_lab.workload.brokers import GROUP, BrokerClient
from kwire.fault_lab.workload.pace import wait_turn
from kwire.fault_lab.workload.shared_name import SharedName
from kwire.messages.a08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kwire.messages.a09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from kwire.messages.a11_join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kwire.messages.a14_sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from kwire.messages.a42_delete_groups import DeleteGroupsRequest, DeleteGroupsResponse

COMMIT, FETCH, JOIN, SYNC = 9, 9, 9, 4
"""The last versions that name topics."""

SESSION_MS = 6000


async def work_on_offsets(client: WorkloadClient, group: SharedName, topic: str) -> None:
    """Commit and fetch offsets until the run stops."""
    broker = BrokerClient(client)
    while not client.run.stopping:
        group.renew_if_due()
        name, key = group.name, group.key
        if client.random.random() < 0.6:
            value = client.run.unique()
            work = partial(commit, broker, name, topic, value)
            operation = await client.record(key, "set", work, value)
        else:
            read = partial(fetch, broker, name, topic)
            operation = await client.record(key, "read", read, stale=True)
        group.note(operation)
        await wait_turn(client, 0.05)


async def work_on_membership(client: WorkloadClient, group: str) -> None:
    """Join one group again and again; the generation of the answers never goes back."""
    broker, member = BrokerClient(client), _Member(group)
    while not client.run.stopping:
        work = partial(member.join, broker)
        await client.record(f"generation:{group}", "join", work)
        await wait_turn(client, 0.03)


async def commit(broker: BrokerClient, group: str, topic: str, offset: int) -> tuple[Fate, object]:
    """Commit an offset of partition 0, as a client that is no member."""
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_metadata=None
    )
    request = OffsetCommitRequest(
        group_id=group, topics=[OffsetCommitRequestTopic(name=topic, partitions=[partition])]
    )
    answer = await broker.ask_coordinator(OffsetCommitResponse, request, group, GROUP, COMMIT)
    code = answer.topics[0].partitions[0].error_code
    return _judged(broker, group, code, None)


async def fetch(broker: BrokerClient, group: str, topic: str) -> tuple[Fate, object]:
    """Fetch the committed offset of partition 0; None if there is none."""
    topics = [OffsetFetchRequestTopics(name=topic, partition_indexes=(0,))]
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)], require_stable=True
    )
    answer = await broker.ask_coordinator(OffsetFetchResponse, request, group, GROUP, FETCH)
    found = answer.groups[0]
    if found.error_code or not found.topics:
        return _judged(broker, group, found.error_code or ErrorCode.UNKNOWN_SERVER_ERROR, None)
    partition = found.topics[0].partitions[0]
    offset = None if partition.committed_offset < 0 else partition.committed_offset
    return _judged(broker, group, partition.error_code, offset)


@dataclass(slots=True, eq=False)
class _Member:
    """A member of a classic group, alone in it. id: as the coordinator gave it."""

    group: str
    id: str = ""

    async def join(self, broker: BrokerClient) -> tuple[Fate, object]:
        """Join and hand in an assignment; the result is the generation.

        The coordinator writes a generation down when its assignment comes, and not before.
        """
        fate, generation = await self._join(broker)
        if fate is not Fate.OK:
            return fate, generation
        request = SyncGroupRequest(
            group_id=self.group,
            generation_id=cast(int, generation),
            member_id=self.id,
            assignments=[SyncGroupRequestAssignment(member_id=self.id, assignment=b"")],
        )
        answer = await broker.ask_coordinator(SyncGroupResponse, request, self.group, GROUP, SYNC)
        return _judged(broker, self.group, answer.error_code, generation)

    async def _join(self, broker: BrokerClient) -> tuple[Fate, object]:
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            member_id=self.id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        answer = await broker.ask_coordinator(JoinGroupResponse, request, self.group, GROUP, JOIN)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.id = answer.member_id
            return Fate.NOT_DONE, "MEMBER_ID_REQUIRED"
        if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.id = ""
        elif answer.error_code == ErrorCode.NONE:
            self.id = answer.member_id
        return _judged(broker, self.group, answer.error_code, answer.generation_id)


async def delete_groups(broker: BrokerClient, groups: Sequence[str]) -> None:
    """Delete groups, each at its coordinator; one that cannot be deleted is left to expire."""
    for group in groups:
        with suppress(KwireError):
            request = DeleteGroupsRequest(groups_names=(group,))
            await broker.ask_coordinator(DeleteGroupsResponse, request, group, GROUP)


def _judged(broker: BrokerClient, group: str, code: int, result: object) -> tuple[Fate, object]:
    if code:
        broker.forget_coordinator(group, GROUP)
    return judged(code, None, frozenset(), result)
