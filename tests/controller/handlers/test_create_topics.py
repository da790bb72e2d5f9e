"""CreateTopics, after Kafka's ReplicationControlManagerTest."""

from typing import Any
from uuid import UUID

import pytest

from kwire.error_codes import ErrorCode
from kwire.image.partition import UNASSIGNED
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kwire.messages.config_resource import ResourceType
from kwire.messages.records.partition import PartitionRecord
from tests.support.controller.handlers.topic_requests import (
    create,
    topic,
)


def assigned(*replicas: tuple[int, ...], first: int = 0) -> list[CreatableReplicaAssignment]:
    return [
        CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
        for index, ids in enumerate(replicas, first)
    ]


def test_partitions_are_placed_on_active_brokers_and_the_first_replica_leads(three: Any) -> None:
    (result,) = create(three, topic(num_partitions=2, replication_factor=3))

    assert (result.error_code, result.num_partitions, result.replication_factor) == (0, 2, 3)
    for number in (0, 1):
        partition = three.partition("foo", number)
        assert partition.leader == partition.replicas[0]
        assert set(partition.isr) == {1, 2, 3}
        assert partition.directories == tuple(UUID(int=2000 + id) for id in partition.replicas)


def test_numbers_that_are_not_given_are_the_controllers_own(make_lab: Any) -> None:
    lab = make_lab(num_partitions=5, default_replication_factor=2)
    lab.start(1, 2)

    (result,) = create(lab, topic())

    assert (result.num_partitions, result.replication_factor) == (5, 2)


def test_the_isr_of_a_new_partition_has_active_replicas_only(three: Any) -> None:
    """KIP-841."""
    three.heartbeat(1, want_fence=True)
    three.create("bar", (2,))
    three.heartbeat(2, want_shut_down=True)

    three.create("foo", (1, 2, 3))

    assert (three.partition("foo").isr, three.partition("foo").leader) == ((3,), 3)


def test_a_fenced_broker_gets_replicas_only_where_others_are_not_enough(three: Any) -> None:
    three.heartbeat(1, want_fence=True)

    create(three, topic(replication_factor=2), topic("bar", replication_factor=3))

    assert 1 not in three.partition("foo").replicas
    assert three.partition("bar").replicas[-1] == 1


def test_a_broker_in_controlled_shutdown_gets_no_replicas(three: Any) -> None:
    three.create("bar", (1,))
    three.heartbeat(1, want_shut_down=True)

    (refused,) = create(three, topic(replication_factor=3))

    assert refused.error_code == ErrorCode.INVALID_REPLICATION_FACTOR


def test_a_broker_with_cordoned_directories_only_gets_no_replicas(three: Any) -> None:
    """KIP-1066."""
    three.heartbeat(1, cordoned_log_dirs=(UUID(int=2001),))

    (refused,) = create(three, topic(replication_factor=3))
    (assigned_to_it,) = create(three, topic(assignments=assigned((2, 1))))

    assert refused.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert assigned_to_it.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_a_broker_with_several_directories_chooses_one_itself(lab: Any) -> None:
    lab.start(1, log_dirs=(UUID(int=501), UUID(int=502)))

    lab.create("foo", (1,))

    assert lab.partition("foo").directories == (UNASSIGNED,)


def test_configuration_is_recorded_and_answered(three: Any) -> None:
    configs = [CreatableTopicConfig(name="retention.ms", value="5")]

    (result,) = create(three, topic(configs=configs))

    values = {config.name: config.value for config in result.configs}
    assert values["retention.ms"] == "5"
    assert values["cleanup.policy"] == "delete"
    assert three.image.configs.of(ResourceType.TOPIC, "foo")["retention.ms"] == "5"
    assert [type(record.record).__name__ for record in three.log[-3:]] == [
        "TopicRecord",
        "ConfigRecord",
        "PartitionRecord",
    ]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (topic("no space"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic(""), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("a" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("old.one"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("old_one"), ErrorCode.TOPIC_ALREADY_EXISTS),
        (topic("__cluster_metadata"), ErrorCode.INVALID_REQUEST),
        (
            topic(configs=[CreatableTopicConfig(name="retention.ms", value=None)]),
            ErrorCode.INVALID_CONFIG,
        ),
        (topic(configs=[CreatableTopicConfig(name="x", value="1")]), ErrorCode.INVALID_CONFIG),
        (topic(num_partitions=0), ErrorCode.INVALID_PARTITIONS),
        (topic(num_partitions=-2), ErrorCode.INVALID_PARTITIONS),
        (topic(num_partitions=10_001), ErrorCode.POLICY_VIOLATION),
        (topic(replication_factor=0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic(replication_factor=-2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic(replication_factor=5), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic(assignments=assigned((1,)), num_partitions=1), ErrorCode.INVALID_REQUEST),
        (topic(assignments=assigned((1,)), replication_factor=1), ErrorCode.INVALID_REQUEST),
        (topic(assignments=assigned(())), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic(assignments=assigned((1, 9))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic(assignments=assigned((1, 1))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic(assignments=assigned((1, 2), (3,))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic(assignments=assigned((1,), first=1)), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (
            topic(assignments=assigned((1,)) + assigned((2,))),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ),
        (topic(assignments=assigned((4,))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_what_is_wrong_with_a_topic_is_refused(
    three: Any, wanted: CreatableTopic, code: ErrorCode
) -> None:
    three.register(4)
    three.create("old_one", (1,))
    before = three.end_offset

    (result,) = create(three, wanted)

    assert result.error_code == code
    assert three.end_offset == before


def test_topics_that_are_too_many_together_are_all_refused(three: Any) -> None:
    results = create(three, *(topic(f"t{i}", num_partitions=101) for i in range(100)))

    assert {result.error_code for result in results} == {ErrorCode.POLICY_VIOLATION}


def test_one_bad_topic_does_not_stop_the_others(three: Any) -> None:
    results = create(three, topic("a"), topic("b", num_partitions=0), topic("c"))

    assert [(result.name, result.error_code == 0) for result in results] == [
        ("a", True),
        ("b", False),
        ("c", True),
    ]


def test_a_name_that_occurs_twice_is_refused_once(three: Any) -> None:
    results = create(three, topic("a"), topic("b"), topic("a"))

    assert [(result.name, result.error_code) for result in results] == [
        ("b", ErrorCode.NONE),
        ("a", ErrorCode.INVALID_REQUEST),
    ]


def test_validating_writes_nothing(three: Any) -> None:
    before = three.end_offset

    (result,) = create(three, topic(), validate_only=True)

    assert result.error_code == ErrorCode.NONE
    assert three.end_offset == before


@pytest.mark.parametrize(("level", "version", "directories"), [(16, 0, 0), (17, 1, 1), (23, 2, 1)])
def test_the_version_of_partition_records_follows_metadata_version(
    make_lab: Any, level: int, version: int, directories: int
) -> None:
    """Pitfall: 3.9 brokers at metadata.version 21 read version 1, not 2."""
    lab = make_lab(level=level)
    lab.start(1)

    lab.create("foo", (1,))

    written = lab.log[-1]
    assert isinstance(written.record, PartitionRecord)
    assert (written.version, len(written.record.directories)) == (version, directories)


INVALID_CONFIG = ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize("key", ["leader", "follower"])
def test_a_topic_is_not_created_with_replicas_that_would_kill_its_brokers(
    three: Any, key: str
) -> None:
    config = CreatableTopicConfig(name=f"{key}.replication.throttled.replicas", value="abc")
    before = three.end_offset

    topic = CreatableTopic(name="foo", num_partitions=1, replication_factor=1, configs=[config])
    (result,) = three.ask(CreateTopicsRequest(topics=[topic])).topics

    assert result.error_code == INVALID_CONFIG
    assert three.end_offset == before
