"""Start offsets of share groups: Describe-, Alter- and DeleteShareGroupOffsets (KIP-932)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from kwire.admin import registry
from kwire.admin.errors import MissingFromAnswer, raise_for_code, refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.admin.topic_partition import TopicPartition, by_topic
from kwire.admin.wire_values import known
from kwire.errors import KwireError
from kwire.messages import a90_describe_share_group_offsets as lookup
from kwire.messages import a91_alter_share_group_offsets as change
from kwire.messages import a92_delete_share_group_offsets as deletion

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharePartitionOffsetInfo:
    """The point before which a share group has dealt with every record of a partition.

    leader_epoch: None if not known. lag: the records after it; None before Kafka 4.2 and where the
    partition's leader does not say.
    """

    start_offset: int
    leader_epoch: int | None
    lag: int | None


StartOffsets = Outcomes[TopicPartition, SharePartitionOffsetInfo | None]
"""The offsets of one share group: None for a partition that it has not read yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetChange(Generic[V]):
    """The arguments of alter_group_offsets and alter_share_group_offsets."""

    group_id: str
    offsets: Mapping[TopicPartition, V]


ShareWanted = Mapping[str, tuple[TopicPartition, ...] | None]
ShareLookupCall = OperationCall[str, ShareWanted]


def _lookup(call: ShareLookupCall) -> lookup.DescribeShareGroupOffsetsRequest:
    groups = []
    for group in call.keys:
        requested = call.arguments[group]
        topics = None
        if requested is not None:
            topics = [
                lookup.DescribeShareGroupOffsetsRequestTopic(topic_name=name, partitions=indexes)
                for name, indexes in by_topic(requested).items()
            ]
        groups.append(lookup.DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=topics))
    return lookup.DescribeShareGroupOffsetsRequest(groups=groups)


def _looked_up(
    response: lookup.DescribeShareGroupOffsetsResponse, call: ShareLookupCall
) -> Iterator[tuple[str, StartOffsets | KwireError]]:
    for group in response.groups:
        if group.group_id in call.arguments:
            error = refusal(group.error_code, group.error_message)
            yield group.group_id, error or _start_offsets(group, call)


def _start_offsets(
    group: lookup.DescribeShareGroupOffsetsResponseGroup, call: ShareLookupCall
) -> StartOffsets:
    entries: dict[TopicPartition, SharePartitionOffsetInfo | KwireError | None] = {
        partition: MissingFromAnswer(f"{call.peer} left {partition} out of its answer")
        for partition in call.arguments[group.group_id] or ()
    }
    for topic in group.topics:
        for found in topic.partitions:
            key = TopicPartition(topic.topic_name, found.partition_index)
            error = refusal(found.error_code, found.error_message)
            entries[key] = error or _offset(found)
    return Outcomes(entries)


def _offset(
    found: lookup.DescribeShareGroupOffsetsResponsePartition,
) -> SharePartitionOffsetInfo | None:
    if found.start_offset < 0:
        return None
    return SharePartitionOffsetInfo(
        start_offset=found.start_offset,
        leader_epoch=known(found.leader_epoch),
        lag=known(found.lag),
    )


LIST_SHARE_GROUP_OFFSETS: Operation[str, ShareWanted, StartOffsets] = Operation(
    row=registry.LIST_SHARE_GROUP_OFFSETS, build=_lookup, parse=_looked_up
)

ShareChangeCall = OperationCall[TopicPartition, OffsetChange[int]]


def _change(call: ShareChangeCall) -> change.AlterShareGroupOffsetsRequest:
    topics: defaultdict[str, list[change.AlterShareGroupOffsetsRequestPartition]] = defaultdict(
        list
    )
    for partition in call.keys:
        topics[partition.topic].append(
            change.AlterShareGroupOffsetsRequestPartition(
                partition_index=partition.partition,
                start_offset=call.arguments.offsets[partition],
            )
        )
    return change.AlterShareGroupOffsetsRequest(
        group_id=call.arguments.group_id,
        topics=[
            change.AlterShareGroupOffsetsRequestTopic(topic_name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )


def _changed(
    response: change.AlterShareGroupOffsetsResponse, call: ShareChangeCall
) -> Iterator[tuple[TopicPartition, KwireError | None]]:
    raise_for_code(response.error_code, response.error_message)
    for topic in response.responses:
        for answered in topic.partitions:
            key = TopicPartition(topic.topic_name, answered.partition_index)
            yield key, refusal(answered.error_code, answered.error_message)


ALTER_SHARE_GROUP_OFFSETS: Operation[TopicPartition, OffsetChange[int], None] = Operation(
    row=registry.ALTER_SHARE_GROUP_OFFSETS,
    build=_change,
    parse=_changed,
    target=lambda partition, change: change.group_id,
)


def _deletion(call: OperationCall[str, str]) -> deletion.DeleteShareGroupOffsetsRequest:
    topics = [deletion.DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in call.keys]
    return deletion.DeleteShareGroupOffsetsRequest(group_id=call.arguments, topics=topics)


def _deleted(
    response: deletion.DeleteShareGroupOffsetsResponse, call: OperationCall[str, str]
) -> Iterator[tuple[str, KwireError | None]]:
    raise_for_code(response.error_code, response.error_message)
    for topic in response.responses:
        yield topic.topic_name, refusal(topic.error_code, topic.error_message)


DELETE_SHARE_GROUP_OFFSETS: Operation[str, str, None] = Operation(
    row=registry.DELETE_SHARE_GROUP_OFFSETS,
    build=_deletion,
    parse=_deleted,
    target=lambda topic, group_id: group_id,
)
