"""Partitions: their offsets by time or end (ListOffsets; KIP-79, KIP-207, KIP-734)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from kwire.admin import registry
from kwire.admin.cluster_client import ClusterClient
from kwire.admin.errors import refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.admin.topic_partition import TopicPartition
from kwire.errors import KwireError, UnsupportedVersion
from kwire.messages import a02_list_offsets as list_offsets

_NO_REPLICA = -1
_UNKNOWN = -1


class OffsetSpec(IntEnum):
    """The ends of a log, in place of a time (ListOffsetsRequest and OffsetSpec of Java)."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


_SINCE = {
    OffsetSpec.MAX_TIMESTAMP: 7,
    OffsetSpec.EARLIEST_LOCAL: 8,
    OffsetSpec.LATEST_TIERED: 9,
    OffsetSpec.EARLIEST_PENDING_UPLOAD: 11,
}
"""The version of ListOffsets that first has an end; older brokers would take it for a time."""


class IsolationLevel(IntEnum):
    """The records that count for an end: all, or those whose transaction is not open."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsetsResultInfo:
    """An offset that a leader found.

    offset: None if there is no record of that time or later.
    timestamp: that of the record, ms since 1970; None for an end. leader_epoch: None if not known.
    """

    offset: int | None
    timestamp: int | None
    leader_epoch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetQuery:
    """The arguments of LIST_OFFSETS: a time in ms, or an OffsetSpec, for each partition."""

    times: Mapping[TopicPartition, int]
    isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED


def _list_offsets(
    call: OperationCall[TopicPartition, OffsetQuery],
) -> list_offsets.ListOffsetsRequest:
    times = call.arguments.times
    for time in {times[partition] for partition in call.keys}:
        since = _SINCE.get(OffsetSpec(time), 0) if time in set(OffsetSpec) else 0
        if not call.offers(list_offsets.ListOffsetsRequest, since):
            raise UnsupportedVersion(
                f"{call.peer} cannot look up {OffsetSpec(time).name}: that needs ListOffsets"
                f" v{since}"
            )
    topics = defaultdict(list)
    for partition in call.keys:
        topics[partition.topic].append(
            list_offsets.ListOffsetsPartition(
                partition_index=partition.partition, timestamp=times[partition]
            )
        )
    return list_offsets.ListOffsetsRequest(
        replica_id=_NO_REPLICA,
        isolation_level=call.arguments.isolation_level,
        topics=[
            list_offsets.ListOffsetsTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
        timeout_ms=call.timeout_ms,
    )


def _listed_offsets(
    response: list_offsets.ListOffsetsResponse, call: OperationCall[TopicPartition, OffsetQuery]
) -> Iterator[tuple[TopicPartition, ListOffsetsResultInfo | KwireError]]:
    for topic in response.topics:
        for found in topic.partitions:
            key = TopicPartition(topic.name, found.partition_index)
            yield (
                key,
                refusal(found.error_code)
                or ListOffsetsResultInfo(
                    offset=_known(found.offset),
                    timestamp=_known(found.timestamp),
                    leader_epoch=_known(found.leader_epoch),
                ),
            )


def _known(number: int) -> int | None:
    return None if number == _UNKNOWN else number


LIST_OFFSETS: Operation[TopicPartition, OffsetQuery, ListOffsetsResultInfo] = Operation(
    row=registry.LIST_OFFSETS, build=_list_offsets, parse=_listed_offsets
)


class Partitions(ClusterClient):
    """The operations of AdminClient on partitions."""

    async def list_offsets(
        self,
        times: Mapping[TopicPartition, int],
        *,
        isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
    ) -> Outcomes[TopicPartition, ListOffsetsResultInfo]:
        """Return the offset of each partition at a time in ms since 1970, or at an OffsetSpec.

        Each leader is asked once for all its partitions. A partition that does not exist is
        UNKNOWN_TOPIC_OR_PARTITION after about a second, one without a leader
        LEADER_NOT_AVAILABLE when time is up.
        """
        query = OffsetQuery(times=times, isolation_level=isolation_level)
        return await self._driver.run(LIST_OFFSETS, times, query, timeout=timeout)
