"""CreatePartitions, after Kafka's ReplicationControlManagerTest."""

from typing import Any
from uuid import UUID

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)


def grow(lab: Any, count: int, *replicas: tuple[int, ...], name: str = "foo", **more: Any) -> Any:
    assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in replicas]
    wanted = CreatePartitionsTopic(name=name, count=count, assignments=assignments or None)
    (result,) = lab.ask(
        CreatePartitionsRequest(timeout_ms=9000, topics=[wanted]).replace(**more)
    ).results
    return result


def test_a_topic_grows_with_as_many_replicas_as_it_has(three: Any) -> None:
    three.create("foo", (1, 2))

    assert grow(three, 3).error_code == ErrorCode.NONE
    assert grow(three, 4, (3, 1)).error_code == ErrorCode.NONE

    assert [len(three.partition("foo", number).replicas) for number in range(4)] == [2, 2, 2, 2]
    assert three.partition("foo", 3).replicas == (3, 1)


@pytest.mark.parametrize(
    ("count", "replicas", "code"),
    [
        (1, (), ErrorCode.INVALID_PARTITIONS),
        (0, (), ErrorCode.INVALID_PARTITIONS),
        (10_002, (), ErrorCode.POLICY_VIOLATION),
        (3, ((1, 2),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (2, ((1,),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (2, ((1, 9),), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_a_topic_does_not_grow_wrongly(
    three: Any, count: int, replicas: tuple[tuple[int, ...], ...], code: ErrorCode
) -> None:
    three.create("foo", (1, 2))
    before = three.end_offset

    assert grow(three, count, *replicas).error_code == code
    assert three.end_offset == before


def test_10_000_partitions_are_added_at_once_and_no_more_by_all_topics(three: Any) -> None:
    three.create("foo", (1,))
    three.create("bar", (1,))
    both = [
        CreatePartitionsTopic(name=name, count=5_001 + more, assignments=None)
        for name, more in (("foo", 0), ("bar", 1))
    ]

    refused = three.ask(
        CreatePartitionsRequest(timeout_ms=9000, topics=both, validate_only=True)
    ).results

    assert [result.error_code for result in refused] == [ErrorCode.POLICY_VIOLATION] * 2
    assert grow(three, 10_001, validate_only=True).error_code == ErrorCode.NONE


def test_a_broker_with_cordoned_directories_only_gets_no_new_partition(three: Any) -> None:
    """KIP-1066."""
    three.create("foo", (1, 2))
    three.heartbeat(1, cordoned_log_dirs=(UUID(int=2001),))

    assert grow(three, 2, (2, 1)).error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert grow(three, 2, (2, 3)).error_code == ErrorCode.NONE


def test_an_unknown_topic_does_not_grow(three: Any) -> None:
    assert grow(three, 3).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_growth_is_only_validated_where_that_is_wanted(three: Any) -> None:
    three.create("foo", (1, 2))
    before = three.end_offset

    assert grow(three, 3, validate_only=True).error_code == ErrorCode.NONE
    assert three.end_offset == before
