"""Moves of a group to other offsets: first a plan of old and new, then the change.

As kafka-consumer-groups --reset-offsets: offsets outside of the log become its ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kwire.admin.deadline import Deadline
from kwire.admin.driver import Driver
from kwire.admin.group_descriptions import GroupDescription, GroupType
from kwire.admin.group_lag import END_SHARE
from kwire.admin.group_offsets import (
    OffsetAndMetadata,
    alter_group_offsets,
    alter_share_group_offsets,
    list_group_offsets,
    list_share_group_offsets,
)
from kwire.admin.group_seek_target import AsGroup, AsListed, AtOffset, AtTime, SeekTarget, ShiftedBy
from kwire.admin.groups import describe_groups
from kwire.admin.outcomes import Outcomes
from kwire.admin.partitions import ListOffsetsResultInfo, OffsetSpec, list_offsets
from kwire.admin.share_group_offsets import SharePartitionOffsetInfo
from kwire.admin.topic_partition import TopicPartition
from kwire.admin.topics import describe_topics
from kwire.error_codes import ErrorCode
from kwire.errors import InvalidValue, KwireError

TopicChoice = Mapping[str, tuple[int, ...] | None]
"""The partitions to move, by topic; None for all of them. Empty: all that the group has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetMove:
    """One partition's move. old_offset: None if the group had none.

    new_offset: None if it cannot be found, for the reason in `error`. note: a correction.
    """

    partition: TopicPartition
    old_offset: int | None
    new_offset: int | None
    note: str | None = None
    error: KwireError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekPlan:
    """The moves of a group. group: None if it does not exist, and would be made."""

    group_id: str
    group: GroupDescription | None
    moves: tuple[OffsetMove, ...]

    @property
    def obstacle(self) -> str | None:
        """The reason why the coordinator would refuse it: members that would overwrite it."""
        members = getattr(self.group, "members", ())
        if not members:
            return None
        noun = "member" if len(members) == 1 else "members"
        return f"{self.group_id} has {len(members)} {noun}: stop them first"


async def plan_group_seek(
    driver: Driver,
    group_id: str,
    target: SeekTarget,
    topics: TopicChoice | None = None,
    *,
    timeout: float | None = None,
) -> SeekPlan:
    """Return the old and new offset of each partition; nothing is changed.

    1. Describe the group, which may be missing.
    2. Choose the partitions: of the topics, of the file or other group, or the group's own.
    3. Find their new offsets, and keep them inside the log.

    Raises InvalidValue if there is nothing to move.
    """
    deadline = driver.deadline(timeout)
    # 1.
    described = await describe_groups(driver, [group_id], timeout=deadline.remaining)
    error = described.failed.get(group_id)
    if error is not None and getattr(error, "code", None) != ErrorCode.GROUP_ID_NOT_FOUND:
        raise error
    group = None if error is not None else described[group_id]
    # 2.
    old = await _offsets(driver, group_id, group, deadline)
    named = await _named_offsets(driver, target, deadline)
    chosen = await _chosen(driver, topics or {}, old if named is None else named, deadline)
    if named is not None:
        chosen = [partition for partition in chosen if partition in named]
    # 3.
    moves = await _moves(driver, target, chosen, old, named or {}, deadline) if chosen else ()
    plan = SeekPlan(group_id=group_id, group=group, moves=moves)
    if not chosen and not plan.obstacle:
        raise InvalidValue(f"{group_id} has no offsets there: name the topics to seek in")
    return plan


async def seek_group(
    driver: Driver, plan: SeekPlan, *, timeout: float | None = None
) -> Outcomes[TopicPartition, None]:
    """Carry out a plan; return the outcome of each partition that has a new offset.

    Raises InvalidValue if the group has members: then nothing is sent.
    """
    if plan.obstacle:
        raise InvalidValue(plan.obstacle)
    new = {m.partition: m.new_offset for m in plan.moves if m.new_offset is not None}
    if plan.group is not None and plan.group.type == GroupType.SHARE:
        return await alter_share_group_offsets(driver, plan.group_id, new, timeout=timeout)
    offsets = {partition: OffsetAndMetadata(offset=offset) for partition, offset in new.items()}
    return await alter_group_offsets(driver, plan.group_id, offsets, timeout=timeout)


async def _offsets(
    driver: Driver, group_id: str, group: GroupDescription | None, deadline: Deadline
) -> dict[TopicPartition, int]:
    if group is None:
        return {}
    if group.type == GroupType.SHARE:
        started = await list_share_group_offsets(driver, [group_id], timeout=deadline.remaining)
        return _known_offsets(started[group_id])
    committed = await list_group_offsets(driver, [group_id], timeout=deadline.remaining)
    return _known_offsets(committed[group_id])


async def _named_offsets(
    driver: Driver, target: SeekTarget, deadline: Deadline
) -> dict[TopicPartition, int] | None:
    """Return the offsets that the target names itself; None if the log decides."""
    if isinstance(target, AsListed):
        return dict(target.offsets)
    if not isinstance(target, AsGroup):
        return None
    described = await describe_groups(driver, [target.group_id], timeout=deadline.remaining)
    group = described[target.group_id]
    return await _offsets(driver, target.group_id, group, deadline)


async def _chosen(
    driver: Driver, topics: TopicChoice, known: Iterable[TopicPartition], deadline: Deadline
) -> list[TopicPartition]:
    if not topics:
        return sorted(known)
    chosen = {
        TopicPartition(topic, index) for topic, indexes in topics.items() for index in indexes or ()
    }
    whole = [topic for topic, indexes in topics.items() if indexes is None]
    if whole:
        described = await describe_topics(driver, whole, timeout=deadline.remaining)
        for error in described.failed.values():
            raise error
        for topic in described.values():
            chosen |= {TopicPartition(topic.name, p.partition) for p in topic.partitions}
    return sorted(chosen)


async def _moves(
    driver: Driver,
    target: SeekTarget,
    chosen: list[TopicPartition],
    old: Mapping[TopicPartition, int],
    named: Mapping[TopicPartition, int],
    deadline: Deadline,
) -> tuple[OffsetMove, ...]:
    lookups = [int(OffsetSpec.EARLIEST), int(OffsetSpec.LATEST)]
    if isinstance(target, AtTime):
        lookups.append(target.time)
    share = deadline.remaining * END_SHARE
    answers = await asyncio.gather(
        *(list_offsets(driver, dict.fromkeys(chosen, time), timeout=share) for time in lookups)
    )
    entries = [answer.entries() for answer in answers]
    return tuple(
        _planned(partition, target, old.get(partition), named, [e[partition] for e in entries])
        for partition in chosen
    )


def _planned(
    partition: TopicPartition,
    target: SeekTarget,
    old: int | None,
    named: Mapping[TopicPartition, int],
    found: list[ListOffsetsResultInfo | KwireError],
) -> OffsetMove:
    """Return the move of one partition. found: its earliest and latest offset, and at a time."""
    errors = [value for value in found if isinstance(value, KwireError)]
    if isinstance(target, ShiftedBy) and old is None:
        errors.append(InvalidValue("it has no offset from which to shift"))
    if errors:
        return OffsetMove(partition=partition, old_offset=old, new_offset=None, error=errors[0])
    earliest, latest, *at_time = [
        value.offset for value in found if isinstance(value, ListOffsetsResultInfo)
    ]
    wished = at_time[0] if at_time else _wished(target, partition, old, named)
    new, note = wished, None
    if new is None:
        new, note = latest, "no record of that time or later: the end"
    elif earliest is not None and new < earliest:
        new, note = earliest, f"{wished} is before the start of the log"
    elif latest is not None and new > latest:
        new, note = latest, f"{wished} is after the end of the log"
    return OffsetMove(partition=partition, old_offset=old, new_offset=new, note=note)


def _wished(
    target: SeekTarget,
    partition: TopicPartition,
    old: int | None,
    named: Mapping[TopicPartition, int],
) -> int | None:
    """Return the offset that is asked for; None if the log decides."""
    match target:
        case AtOffset(offset=offset):
            return offset
        case ShiftedBy(records=records) if old is not None:
            return old + records
    return named.get(partition)


def _known_offsets(
    offsets: Outcomes[TopicPartition, OffsetAndMetadata | None]
    | Outcomes[TopicPartition, SharePartitionOffsetInfo | None],
) -> dict[TopicPartition, int]:
    """Return the offsets that are there. Raises the first error of the others."""
    known = {}
    for error in offsets.failed.values():
        raise error
    for partition, value in offsets.items():
        if isinstance(value, OffsetAndMetadata):
            known[partition] = value.offset
        elif isinstance(value, SharePartitionOffsetInfo):
            known[partition] = value.start_offset
    return known
