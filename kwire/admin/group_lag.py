"""The lag of groups: their offsets beside the ends of the logs, of many groups at once.

Kafka's ConsumerGroupCommand asks for one group after the other, and for the offsets of each member
by themselves; here each broker is asked once for all groups.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from kwire.admin.deadline import Deadline
from kwire.admin.driver import Driver
from kwire.admin.group_descriptions import (
    GroupDescription,
    GroupType,
    MemberDescription,
    ShareMemberDescription,
)
from kwire.admin.group_offsets import (
    CommittedOffsets,
    OffsetAndMetadata,
    list_group_offsets,
    list_share_group_offsets,
)
from kwire.admin.groups import describe_groups
from kwire.admin.list_groups import GroupListing
from kwire.admin.outcomes import Outcomes
from kwire.admin.partitions import ListOffsetsResultInfo, OffsetSpec, list_offsets
from kwire.admin.share_group_offsets import SharePartitionOffsetInfo, StartOffsets
from kwire.admin.streams_group_descriptions import (
    StreamsGroupDescription,
    StreamsGroupMemberDescription,
)
from kwire.admin.topic_partition import TopicPartition
from kwire.errors import KwireError

GroupMember = MemberDescription | ShareMemberDescription | StreamsGroupMemberDescription
"""A member of a group of any type."""

END_SHARE = 1 / 3
"""Of the time that is left: the part for the ends of the logs. A partition without a leader is
looked up again all that time, and must not cost the whole deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLag:
    """The place of a group in one partition.

    current_offset: None if the group has committed none; of a share group its start offset.
    log_end_offset: None if the leader did not say. lag: None if one of them is not known.
    members: that the partition is assigned to; of share groups there may be several.
    error: the reason why an offset is not known.
    """

    partition: TopicPartition
    current_offset: int | None
    leader_epoch: int | None
    log_end_offset: int | None
    lag: int | None
    members: tuple[GroupMember, ...] = ()
    error: KwireError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLag:
    """A group and its place in every partition that it has offsets of, or that a member reads."""

    group: GroupDescription
    partitions: tuple[PartitionLag, ...]

    @property
    def total(self) -> int | None:
        """The sum of the lags that are known; None if none is."""
        known = [partition.lag for partition in self.partitions if partition.lag is not None]
        return sum(known) if known else None


async def describe_group_lag(
    driver: Driver,
    group_ids: Iterable[str],
    *,
    listed: Outcomes[int, tuple[GroupListing, ...]] | None = None,
    timeout: float | None = None,
) -> Outcomes[str, GroupLag]:
    """Return the lag of groups of any type, partition by partition.

    listed: an answer of list_groups that is at hand, by which the types are known.

    1. Describe the groups, each type by its API.
    2. Ask every coordinator for the offsets of all its groups.
    3. Ask every leader for the ends of all its partitions, of all groups together.

    Refused: as describe_groups and list_group_offsets. A partition whose end is not known, as
    it has no leader, has an error of its own.
    """
    deadline = driver.deadline(timeout)
    # 1.
    described = await describe_groups(driver, group_ids, listed=listed, timeout=deadline.remaining)
    # 2.
    offsets = await _offsets_of(driver, described, deadline)
    # 3.
    readers = {name: _readers(group) for name, group in described.items()}
    partitions = {name: sorted({*readers[name], *_known(offsets.get(name))}) for name in described}
    everything = {partition for places in partitions.values() for partition in places}
    ends = await _ends_of(driver, everything, deadline)
    entries: dict[str, GroupLag | KwireError] = {}
    for name, group in described.entries().items():
        found = offsets.get(name)
        if isinstance(group, KwireError) or isinstance(found, KwireError):
            entries[name] = group if isinstance(group, KwireError) else cast(KwireError, found)
            continue
        known = _known(found)
        places = [
            _lag(partition, readers[name].get(partition, []), known.get(partition), ends)
            for partition in partitions[name]
        ]
        entries[name] = GroupLag(group=group, partitions=tuple(places))
    return Outcomes(entries)


async def _ends_of(
    driver: Driver, partitions: Iterable[TopicPartition], deadline: Deadline
) -> Mapping[TopicPartition, ListOffsetsResultInfo | KwireError]:
    latest = dict.fromkeys(partitions, int(OffsetSpec.LATEST))
    try:
        ends = await list_offsets(driver, latest, timeout=deadline.remaining * END_SHARE)
    except KwireError as error:  # the groups' own offsets stay of use
        return dict.fromkeys(latest, error)
    return ends.entries()


async def _offsets_of(
    driver: Driver, described: Outcomes[str, GroupDescription], deadline: Deadline
) -> Mapping[str, CommittedOffsets | StartOffsets | KwireError]:
    share = [name for name, group in described.items() if group.type == GroupType.SHARE]
    others = [name for name, group in described.items() if group.type != GroupType.SHARE]
    committed, started = await asyncio.gather(
        list_group_offsets(driver, others, timeout=deadline.remaining),
        list_share_group_offsets(driver, share, timeout=deadline.remaining),
    )
    return {**committed.entries(), **started.entries()}


def _known(
    offsets: CommittedOffsets | StartOffsets | KwireError | None,
) -> Mapping[TopicPartition, OffsetAndMetadata | SharePartitionOffsetInfo | KwireError | None]:
    """Return what is known of each partition; nothing if the group's offsets were refused."""
    return {} if offsets is None or isinstance(offsets, KwireError) else offsets.entries()


def _readers(group: GroupDescription) -> dict[TopicPartition, list[GroupMember]]:
    """Return the members by the partitions that are assigned to them."""
    readers: defaultdict[TopicPartition, list[GroupMember]] = defaultdict(list)
    for member in cast("Iterable[GroupMember]", getattr(group, "members", ())):
        for partition in _assigned(group, member):
            readers[partition].append(member)
    return readers


def _assigned(group: GroupDescription, member: GroupMember) -> Iterable[TopicPartition]:
    if not isinstance(member, StreamsGroupMemberDescription):
        return member.assignment or ()
    assert isinstance(group, StreamsGroupDescription)
    topics = {part.subtopology_id: part.topics_read for part in group.subtopologies}
    return [
        TopicPartition(topic, task.partition)
        for task in member.assignment.active
        for topic in topics.get(task.subtopology_id, ())
    ]


def _lag(
    partition: TopicPartition,
    members: Iterable[GroupMember],
    known: OffsetAndMetadata | SharePartitionOffsetInfo | KwireError | None,
    ends: Mapping[TopicPartition, ListOffsetsResultInfo | KwireError],
) -> PartitionLag:
    found = ends.get(partition)
    end = found.offset if isinstance(found, ListOffsetsResultInfo) else None
    errors = [value for value in (known, found) if isinstance(value, KwireError)]
    offset, epoch, lag = None, None, None
    if isinstance(known, OffsetAndMetadata):
        offset, epoch = known.offset, known.leader_epoch
    elif isinstance(known, SharePartitionOffsetInfo):
        offset, epoch, lag = known.start_offset, known.leader_epoch, known.lag
    if lag is None and offset is not None and end is not None:
        lag = end - offset
    return PartitionLag(
        partition=partition,
        current_offset=offset,
        leader_epoch=epoch,
        log_end_offset=end,
        lag=lag,
        members=tuple(members),
        error=errors[0] if errors else None,
    )
