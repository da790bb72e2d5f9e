"""Partitions: their offsets, records and leaders.

ListOffsets (KIP-79, KIP-207, KIP-734), DeleteRecords (KIP-107), ElectLeaders (KIP-183, KIP-460).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.admin.partition_options import ElectionType, IsolationLevel
from kwire.admin.topic_partition import TopicPartition, by_topic
from kwire.admin.wire_values import known
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError, UnsupportedVersion
from kwire.messages import a02_list_offsets as offsets
from kwire.messages import a21_delete_records as deletion
from kwire.messages import a43_elect_leaders as election

_NO_REPLICA = -1


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
) -> offsets.ListOffsetsRequest:
    times = call.arguments.times
    for time in {times[partition] for partition in call.keys}:
        since = _SINCE.get(OffsetSpec(time), 0) if time in set(OffsetSpec) else 0
        if not call.offers(offsets.ListOffsetsRequest, since):
            raise UnsupportedVersion(
                f"{call.peer} cannot look up {OffsetSpec(time).name}: that needs ListOffsets"
                f" v{since}"
            )
    topics = defaultdict(list)
    for partition in call.keys:
        topics[partition.topic].append(
            offsets.ListOffsetsPartition(
                partition_index=partition.partition, timestamp=times[partition]
            )
        )
    return offsets.ListOffsetsRequest(
        replica_id=_NO_REPLICA,
        isolation_level=call.arguments.isolation_level,
        topics=[
            offsets.ListOffsetsTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
        timeout_ms=call.timeout_ms,
    )


def _listed_offsets(
    response: offsets.ListOffsetsResponse, call: OperationCall[TopicPartition, OffsetQuery]
) -> Iterator[tuple[TopicPartition, ListOffsetsResultInfo | KwireError]]:
    for topic in response.topics:
        for found in topic.partitions:
            key = TopicPartition(topic.name, found.partition_index)
            yield (
                key,
                refusal(found.error_code)
                or ListOffsetsResultInfo(
                    offset=known(found.offset),
                    timestamp=known(found.timestamp),
                    leader_epoch=known(found.leader_epoch),
                ),
            )


LIST_OFFSETS: Operation[TopicPartition, OffsetQuery, ListOffsetsResultInfo] = Operation(
    row=registry.LIST_OFFSETS, build=_list_offsets, parse=_listed_offsets
)


HIGH_WATERMARK = -1
"""DeleteRecords: delete all that every replica in sync has."""


def _delete_request(
    call: OperationCall[TopicPartition, Mapping[TopicPartition, int]],
) -> deletion.DeleteRecordsRequest:
    return deletion.DeleteRecordsRequest(
        topics=[
            deletion.DeleteRecordsTopic(
                name=topic,
                partitions=[
                    deletion.DeleteRecordsPartition(
                        partition_index=index, offset=call.arguments[TopicPartition(topic, index)]
                    )
                    for index in indexes
                ],
            )
            for topic, indexes in by_topic(call.keys).items()
        ],
        timeout_ms=call.timeout_ms,
    )


def _deleted(
    response: deletion.DeleteRecordsResponse,
    call: OperationCall[TopicPartition, Mapping[TopicPartition, int]],
) -> Iterator[tuple[TopicPartition, int | KwireError]]:
    for topic in response.topics:
        for partition in topic.partitions:
            key = TopicPartition(topic.name, partition.partition_index)
            yield key, refusal(partition.error_code) or partition.low_watermark


DELETE_RECORDS: Operation[TopicPartition, Mapping[TopicPartition, int], int] = Operation(
    row=registry.DELETE_RECORDS, build=_delete_request, parse=_deleted
)


class ElectionOutcome(Enum):
    """The two ways in which an election goes well."""

    ELECTED = "elected"
    NOT_NEEDED = "not needed"


_UNCLEAN_SINCE = 1


def _elect_some(
    call: OperationCall[TopicPartition, ElectionType],
) -> election.ElectLeadersRequest:
    topics = [
        election.TopicPartitions(topic=topic, partitions=indexes)
        for topic, indexes in by_topic(call.keys).items()
    ]
    return _election(call, topics)


def _election(
    call: OperationCall[Any, ElectionType], topics: list[election.TopicPartitions] | None
) -> election.ElectLeadersRequest:
    request = election.ElectLeadersRequest
    is_preferred = call.arguments is ElectionType.PREFERRED
    if not (is_preferred or call.offers(request, since=_UNCLEAN_SINCE)):
        raise UnsupportedVersion(
            f"{call.peer} cannot hold unclean elections: that needs ElectLeaders v{_UNCLEAN_SINCE}"
        )
    return request(
        election_type=call.arguments, topic_partitions=topics, timeout_ms=call.timeout_ms
    )


def _elections(
    response: election.ElectLeadersResponse,
) -> Iterator[tuple[TopicPartition, ElectionOutcome | KwireError]]:
    raise_for_code(response.error_code)
    for topic in response.replica_election_results:
        for partition in topic.partition_result:
            key = TopicPartition(topic.topic, partition.partition_id)
            if partition.error_code == ErrorCode.ELECTION_NOT_NEEDED:
                yield key, ElectionOutcome.NOT_NEEDED
            else:
                error = refusal(partition.error_code, partition.error_message)
                yield key, error or ElectionOutcome.ELECTED


ELECT_LEADERS: Operation[TopicPartition, ElectionType, ElectionOutcome] = Operation(
    row=registry.ELECT_LEADERS,
    build=_elect_some,
    parse=lambda response, call: _elections(response),
)
_ELECT_ALL_LEADERS: Operation[
    None, ElectionType, Mapping[TopicPartition, ElectionOutcome | KwireError]
] = Operation(
    row=registry.ELECT_LEADERS,
    build=lambda call: _election(call, None),
    parse=lambda response, call: [(None, dict(_elections(response)))],
)


async def list_offsets(
    driver: Driver,
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
    return await driver.run(LIST_OFFSETS, times, query, timeout=timeout)


async def delete_records(
    driver: Driver, before: Mapping[TopicPartition, int], *, timeout: float | None = None
) -> Outcomes[TopicPartition, int]:
    """Delete the records before an offset, or HIGH_WATERMARK; return the new first offsets.

    The leaders are asked, and wait until every live replica has deleted them. Refused with
    OFFSET_OUT_OF_RANGE beyond the high watermark, and with POLICY_VIOLATION for a compacted
    topic.
    """
    return await driver.run(DELETE_RECORDS, before, dict(before), timeout=timeout)


async def elect_leaders(
    driver: Driver,
    partitions: Iterable[TopicPartition] | None = None,
    *,
    election_type: ElectionType = ElectionType.PREFERRED,
    timeout: float | None = None,
) -> Outcomes[TopicPartition, ElectionOutcome]:
    """Elect the leaders of partitions, of all if None.

    Of all partitions the answer names only those that an election was held for. Refused with
    PREFERRED_LEADER_NOT_AVAILABLE or ELIGIBLE_LEADERS_NOT_AVAILABLE where nobody can lead.
    """
    if partitions is None:
        found = await driver.ask(_ELECT_ALL_LEADERS, None, election_type, timeout=timeout)
        return Outcomes(found)
    return await driver.run(ELECT_LEADERS, partitions, election_type, timeout=timeout)
