"""Committed offsets of groups: OffsetFetch, OffsetCommit, OffsetDelete (KIP-222, KIP-496, KIP-709).

Streams groups commit by the same requests; share groups have their own, in share_group_offsets.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import MissingFromAnswer, raise_for_code, refusal
from kwire.admin.operation import AGAIN, Operation, OperationCall, RequestPart
from kwire.admin.outcomes import Outcomes
from kwire.admin.share_group_offsets import (
    ALTER_SHARE_GROUP_OFFSETS,
    DELETE_SHARE_GROUP_OFFSETS,
    LIST_SHARE_GROUP_OFFSETS,
    OffsetChange,
    SharePartitionOffsetInfo,
)
from kwire.admin.topic_partition import TopicPartition, by_topic
from kwire.admin.wire_values import known
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, KwireError, UnsupportedVersion
from kwire.messages import a08_offset_commit as commit
from kwire.messages import a09_offset_fetch as fetch
from kwire.messages import a47_offset_delete as deletion

WantedOffsets = Mapping[str, Iterable[TopicPartition] | None]
"""The partitions to look up, by group; None for all that the group has committed."""

_STABLE_SINCE = 7
_BATCHED_SINCE = 8
_LAST_WITH_NAMES = 9
"""The version of OffsetFetch and OffsetCommit after which topics have ids only (KIP-848)."""
_UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetAndMetadata:
    """A committed offset: the next record to read. leader_epoch: None if it was not given."""

    offset: int
    leader_epoch: int | None = None
    metadata: str = ""


CommittedOffsets = Outcomes[TopicPartition, OffsetAndMetadata | None]
"""The offsets of one group: None for a partition that was named and never committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetLookup:
    """The arguments of list_group_offsets."""

    partitions: Mapping[str, tuple[TopicPartition, ...] | None]
    require_stable: bool = False


async def list_group_offsets(
    driver: Driver,
    groups: Iterable[str] | WantedOffsets,
    *,
    require_stable: bool = False,
    timeout: float | None = None,
) -> Outcomes[str, CommittedOffsets]:
    """Return the committed offsets of many groups; each coordinator is asked once.

    groups: ids, for all partitions of each; or partitions by id.
    require_stable: wait for open transactions that commit offsets (KIP-447); the offsets are
    UNSTABLE_OFFSET_COMMIT (88) if they are still open when time is up.

    A group that does not exist has no offsets: that is what Kafka answers. Refused:
    GROUP_AUTHORIZATION_FAILED (30); a partition alone TOPIC_AUTHORIZATION_FAILED (29).
    """
    lookup = OffsetLookup(partitions=wanted_partitions(groups), require_stable=require_stable)
    return await driver.run(LIST_GROUP_OFFSETS, lookup.partitions, lookup, timeout=timeout)


async def alter_group_offsets(
    driver: Driver,
    group_id: str,
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
    *,
    timeout: float | None = None,
) -> Outcomes[TopicPartition, None]:
    """Commit offsets in the place of a group without members; makes the group if need be.

    Refused: UNKNOWN_MEMBER_ID (25) while it has members, UNKNOWN_TOPIC_OR_PARTITION (3),
    OFFSET_METADATA_TOO_LARGE (12), GROUP_AUTHORIZATION_FAILED (30), and for a share group
    GROUP_ID_NOT_FOUND (69).
    """
    change = OffsetChange(group_id=group_id, offsets=offsets)
    return await driver.run(ALTER_GROUP_OFFSETS, offsets, change, timeout=timeout)


async def delete_group_offsets(
    driver: Driver,
    group_id: str,
    partitions: Iterable[TopicPartition],
    *,
    timeout: float | None = None,
) -> Outcomes[TopicPartition, None]:
    """Make a group forget its offsets of partitions; to forget what is not there is no error.

    Refused: GROUP_SUBSCRIBED_TO_TOPIC (86) while a member reads the topic, GROUP_ID_NOT_FOUND
    (69), NON_EMPTY_GROUP (68) where the members are no consumers.
    """
    return await driver.run(DELETE_GROUP_OFFSETS, partitions, group_id, timeout=timeout)


async def list_share_group_offsets(
    driver: Driver, groups: Iterable[str] | WantedOffsets, *, timeout: float | None = None
) -> Outcomes[str, Outcomes[TopicPartition, SharePartitionOffsetInfo | None]]:
    """Return the start offsets of share groups (KIP-932); as list_group_offsets.

    Refused: GROUP_ID_NOT_FOUND (69); UnsupportedVersion before Kafka 4.1.
    """
    requested = wanted_partitions(groups)
    return await driver.run(LIST_SHARE_GROUP_OFFSETS, requested, requested, timeout=timeout)


async def alter_share_group_offsets(
    driver: Driver,
    group_id: str,
    offsets: Mapping[TopicPartition, int],
    *,
    timeout: float | None = None,
) -> Outcomes[TopicPartition, None]:
    """Set the start offsets of a share group without members; makes the group if need be.

    Refused: NON_EMPTY_GROUP (68), UNKNOWN_TOPIC_OR_PARTITION (3), GROUP_ID_NOT_FOUND (69) for
    a group of another type.
    """
    change = OffsetChange(group_id=group_id, offsets=offsets)
    return await driver.run(ALTER_SHARE_GROUP_OFFSETS, offsets, change, timeout=timeout)


async def delete_share_group_offsets(
    driver: Driver, group_id: str, topics: Iterable[str], *, timeout: float | None = None
) -> Outcomes[str, None]:
    """Make a share group without members forget topics, all partitions of each.

    Refused: NON_EMPTY_GROUP (68), GROUP_ID_NOT_FOUND (69), UNKNOWN_TOPIC_OR_PARTITION (3).
    """
    return await driver.run(DELETE_SHARE_GROUP_OFFSETS, topics, group_id, timeout=timeout)


def wanted_partitions(
    groups: Iterable[str] | WantedOffsets,
) -> dict[str, tuple[TopicPartition, ...] | None]:
    """Return the partitions to look up for each group, None for all."""
    if isinstance(groups, Mapping):
        return {
            group: None if partitions is None else tuple(dict.fromkeys(partitions))
            for group, partitions in groups.items()
        }
    return dict.fromkeys(groups)


# --- list_group_offsets ---------------------------------------------------------------------------

LookupCall = OperationCall[str, OffsetLookup]


def _lookup(call: LookupCall) -> Iterator[RequestPart[str]]:
    lookup = call.arguments
    if lookup.require_stable and not call.offers(fetch.OffsetFetchRequest, _STABLE_SINCE):
        raise UnsupportedVersion(f"{call.peer} cannot tell stable offsets: it is older than 2.5")
    if call.offers(fetch.OffsetFetchRequest, _BATCHED_SINCE):
        groups = [_group_lookup(group, lookup.partitions[group]) for group in call.keys]
        yield (
            call.keys,
            fetch.OffsetFetchRequest(groups=groups, require_stable=lookup.require_stable),
        )
        return
    for group in call.keys:
        requested = lookup.partitions[group]
        topics = None
        if requested is not None:
            topics = [
                fetch.OffsetFetchRequestTopic(name=name, partition_indexes=indexes)
                for name, indexes in by_topic(requested).items()
            ]
        request = fetch.OffsetFetchRequest(
            group_id=group, topics=topics, require_stable=lookup.require_stable
        )
        yield (group,), request


def _group_lookup(
    group: str, requested: tuple[TopicPartition, ...] | None
) -> fetch.OffsetFetchRequestGroup:
    topics = None
    if requested is not None:
        topics = [
            fetch.OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
            for name, indexes in by_topic(requested).items()
        ]
    return fetch.OffsetFetchRequestGroup(group_id=group, topics=topics)


def _looked_up(
    response: fetch.OffsetFetchResponse, call: LookupCall
) -> Iterator[tuple[str, CommittedOffsets | KwireError]]:
    if not call.offers(fetch.OffsetFetchRequest, _BATCHED_SINCE):
        (group,) = call.keys
        yield group, refusal(response.error_code) or _committed(group, response.topics, call)
        return
    for found in response.groups:
        if found.group_id in call.arguments.partitions:
            offsets = _committed(found.group_id, found.topics, call)
            yield found.group_id, refusal(found.error_code) or offsets


_FetchedTopics = (
    Iterable[fetch.OffsetFetchResponseTopic] | Iterable[fetch.OffsetFetchResponseTopics]
)


def _committed(
    group: str, topics: _FetchedTopics, call: LookupCall
) -> CommittedOffsets | BrokerError:
    requested = call.arguments.partitions[group]
    entries: dict[TopicPartition, OffsetAndMetadata | KwireError | None] = {
        partition: MissingFromAnswer(f"{call.peer} left {partition} of {group} out of its answer")
        for partition in requested or ()
    }
    for topic in topics:
        for found in topic.partitions:
            if found.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT:
                # Asked again, the whole group: a later answer replaces this one.
                return BrokerError(found.error_code, f"{topic.name}-{found.partition_index}")
            key = TopicPartition(topic.name, found.partition_index)
            entries[key] = refusal(found.error_code) or _offset(found)
    return Outcomes(entries)


def _offset(
    found: fetch.OffsetFetchResponsePartition | fetch.OffsetFetchResponsePartitions,
) -> OffsetAndMetadata | None:
    if found.committed_offset < 0:
        return None
    return OffsetAndMetadata(
        offset=found.committed_offset,
        leader_epoch=known(found.committed_leader_epoch),
        metadata=found.metadata or "",
    )


LIST_GROUP_OFFSETS: Operation[str, OffsetLookup, CommittedOffsets] = Operation(
    row=registry.LIST_GROUP_OFFSETS,
    build=_lookup,
    parse=_looked_up,
    last_versions={fetch.OffsetFetchRequest: _LAST_WITH_NAMES},
)


# --- alter_group_offsets --------------------------------------------------------------------------

ChangeCall = OperationCall[TopicPartition, OffsetChange[OffsetAndMetadata]]


def _commit(call: ChangeCall) -> commit.OffsetCommitRequest:
    offsets = call.arguments.offsets
    topics: defaultdict[str, list[commit.OffsetCommitRequestPartition]] = defaultdict(list)
    for partition in call.keys:
        offset = offsets[partition]
        topics[partition.topic].append(
            commit.OffsetCommitRequestPartition(
                partition_index=partition.partition,
                committed_offset=offset.offset,
                committed_leader_epoch=(
                    _UNKNOWN if offset.leader_epoch is None else offset.leader_epoch
                ),
                committed_metadata=offset.metadata,
            )
        )
    return commit.OffsetCommitRequest(
        group_id=call.arguments.group_id,
        topics=[
            commit.OffsetCommitRequestTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )


def _committed_codes(
    response: commit.OffsetCommitResponse, call: ChangeCall
) -> Iterator[tuple[TopicPartition, KwireError | None]]:
    for topic in response.topics:
        for answered in topic.partitions:
            key = TopicPartition(topic.name, answered.partition_index)
            yield key, refusal(answered.error_code)


ALTER_GROUP_OFFSETS: Operation[TopicPartition, OffsetChange[OffsetAndMetadata], None] = Operation(
    row=registry.ALTER_GROUP_OFFSETS,
    build=_commit,
    parse=_committed_codes,
    target=lambda partition, change: change.group_id,
    again=AGAIN | {ErrorCode.REBALANCE_IN_PROGRESS},
    last_versions={commit.OffsetCommitRequest: _LAST_WITH_NAMES},
)


# --- delete_group_offsets -------------------------------------------------------------------------


def _deletion(call: OperationCall[TopicPartition, str]) -> deletion.OffsetDeleteRequest:
    return deletion.OffsetDeleteRequest(
        group_id=call.arguments,
        topics=[
            deletion.OffsetDeleteRequestTopic(
                name=name,
                partitions=[
                    deletion.OffsetDeleteRequestPartition(partition_index=index)
                    for index in indexes
                ],
            )
            for name, indexes in by_topic(call.keys).items()
        ],
    )


def _deleted(
    response: deletion.OffsetDeleteResponse, call: OperationCall[TopicPartition, str]
) -> Iterator[tuple[TopicPartition, KwireError | None]]:
    raise_for_code(response.error_code)
    for topic in response.topics:
        for answered in topic.partitions:
            key = TopicPartition(topic.name, answered.partition_index)
            yield key, refusal(answered.error_code)


DELETE_GROUP_OFFSETS: Operation[TopicPartition, str, None] = Operation(
    row=registry.DELETE_GROUP_OFFSETS,
    build=_deletion,
    parse=_deleted,
    target=lambda partition, group_id: group_id,
)
