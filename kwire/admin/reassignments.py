"""Reassignments: move partitions to other brokers (KIP-455, KIP-860).

AlterPartitionReassignments and ListPartitionReassignments go to the controller, which KIP-919 lets
clients ask without a broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.operation import Operation, OperationCall, RequestPart
from kwire.admin.outcomes import Outcomes
from kwire.admin.topic_partition import TopicPartition, by_topic
from kwire.errors import KwireError, UnsupportedVersion
from kwire.messages import a45_alter_partition_reassignments as altered
from kwire.messages import a46_list_partition_reassignments as listed

TargetsByPartition = Mapping[TopicPartition, Sequence[int] | None]
"""The replicas that each partition is to have; None takes back what was asked for before."""

_FIXED_FACTOR_SINCE = 1

_MOST_OF_A_REQUEST = 5_000
"""Partitions of one request: Kafka's controller refuses what exceeds 10,000 records of the log
(QuorumController.MAX_RECORDS_PER_USER_OP)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OngoingReassignment:
    """A partition on the move: all its replicas, and those of them that come and go."""

    replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    removing_replicas: tuple[int, ...]

    @property
    def target(self) -> tuple[int, ...]:
        """The replicas after the move."""
        return tuple(b for b in self.replicas if b not in self.removing_replicas)


@dataclass(frozen=True, slots=True)
class _ReassignmentArguments:
    replicas: TargetsByPartition
    allow_replication_factor_change: bool


def _reassignment_parts(
    call: OperationCall[TopicPartition, _ReassignmentArguments],
) -> Iterator[RequestPart[TopicPartition]]:
    allowed = call.arguments.allow_replication_factor_change
    request = altered.AlterPartitionReassignmentsRequest
    if not allowed and not call.offers(request, _FIXED_FACTOR_SINCE):
        raise UnsupportedVersion(
            f"{call.peer} cannot refuse a change of the replication factor: that needs"
            f" AlterPartitionReassignments v{_FIXED_FACTOR_SINCE}"
        )
    for first in range(0, len(call.keys), _MOST_OF_A_REQUEST):
        keys = call.keys[first : first + _MOST_OF_A_REQUEST]
        yield (
            keys,
            request(
                timeout_ms=call.timeout_ms,
                allow_replication_factor_change=allowed,
                topics=_topics(keys, call.arguments.replicas),
            ),
        )


def _topics(
    keys: Sequence[TopicPartition], targets: TargetsByPartition
) -> list[altered.ReassignableTopic]:
    return [
        altered.ReassignableTopic(
            name=topic,
            partitions=[
                altered.ReassignablePartition(
                    partition_index=index, replicas=_brokers(targets[TopicPartition(topic, index)])
                )
                for index in indexes
            ],
        )
        for topic, indexes in by_topic(keys).items()
    ]


def _brokers(replicas: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if replicas is None else tuple(replicas)


def _reassigned(
    response: altered.AlterPartitionReassignmentsResponse,
    call: OperationCall[TopicPartition, _ReassignmentArguments],
) -> Iterator[tuple[TopicPartition, KwireError | None]]:
    raise_for_code(response.error_code, response.error_message)
    for topic in response.responses:
        for partition in topic.partitions:
            key = TopicPartition(topic.name, partition.partition_index)
            yield key, refusal(partition.error_code, partition.error_message)


ALTER_PARTITION_REASSIGNMENTS: Operation[TopicPartition, _ReassignmentArguments, None] = Operation(
    row=registry.ALTER_PARTITION_REASSIGNMENTS, build=_reassignment_parts, parse=_reassigned
)


def _listing_request(
    call: OperationCall[None, tuple[TopicPartition, ...] | None],
) -> listed.ListPartitionReassignmentsRequest:
    partitions = call.arguments
    return listed.ListPartitionReassignmentsRequest(
        timeout_ms=call.timeout_ms,
        topics=None
        if partitions is None
        else [
            listed.ListPartitionReassignmentsTopics(name=topic, partition_indexes=indexes)
            for topic, indexes in by_topic(partitions).items()
        ],
    )


def _ongoing(
    response: listed.ListPartitionReassignmentsResponse,
    call: OperationCall[None, tuple[TopicPartition, ...] | None],
) -> Iterator[tuple[None, Mapping[TopicPartition, OngoingReassignment]]]:
    raise_for_code(response.error_code, response.error_message)
    found = {
        TopicPartition(topic.name, partition.partition_index): OngoingReassignment(
            replicas=tuple(partition.replicas),
            adding_replicas=tuple(partition.adding_replicas),
            removing_replicas=tuple(partition.removing_replicas),
        )
        for topic in response.topics
        for partition in topic.partitions
    }
    yield None, dict(sorted(found.items()))


LIST_PARTITION_REASSIGNMENTS: Operation[
    None, tuple[TopicPartition, ...] | None, Mapping[TopicPartition, OngoingReassignment]
] = Operation(row=registry.LIST_PARTITION_REASSIGNMENTS, build=_listing_request, parse=_ongoing)


async def alter_partition_reassignments(
    driver: Driver,
    replicas: TargetsByPartition,
    *,
    allow_replication_factor_change: bool = True,
    timeout: float | None = None,
) -> Outcomes[TopicPartition, None]:
    """Begin to move partitions to other replicas; None takes a running move back.

    It is done when the controller has noted it: `list_partition_reassignments` shows the move
    until every new replica is in sync. Refused with INVALID_REPLICA_ASSIGNMENT for brokers that
    are unknown or named twice, and with NO_REASSIGNMENT_IN_PROGRESS for None where nothing
    moves.
    """
    arguments = _ReassignmentArguments(replicas, allow_replication_factor_change)
    return await driver.run(ALTER_PARTITION_REASSIGNMENTS, replicas, arguments, timeout=timeout)


async def list_partition_reassignments(
    driver: Driver,
    partitions: Iterable[TopicPartition] | None = None,
    *,
    timeout: float | None = None,
) -> Mapping[TopicPartition, OngoingReassignment]:
    """Return the partitions that are on the move, among these or of all, sorted."""
    requested = None if partitions is None else tuple(partitions)
    return await driver.ask(LIST_PARTITION_REASSIGNMENTS, None, requested, timeout=timeout)
