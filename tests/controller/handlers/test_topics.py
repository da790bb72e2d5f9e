"""CreateTopics, DeleteTopics and CreatePartitions, after Kafka's ReplicationControlManagerTest."""

from typing import Any
from uuid import UUID

import pytest

from kwire.error_codes import ErrorCode
from kwire.image.configs import ResourceType
from kwire.image.partition import UNASSIGNED
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.topic import TopicRecord


def topic(name: str = "foo", **changes: Any) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1).replace(**changes)


def assigned(*replicas: tuple[int, ...], first: int = 0) -> list[CreatableReplicaAssignment]:
    return [
        CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
        for index, ids in enumerate(replicas, first)
    ]


def create(lab: Any, *topics: CreatableTopic, **changes: Any) -> Any:
    request = CreateTopicsRequest(topics=list(topics)).replace(**changes)
    return lab.ask(request).topics


@pytest.fixture
def three(lab: Any) -> Any:
    """Brokers 1, 2 and 3 are active."""
    lab.start(1, 2, 3)
    return lab


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

    assert refused.error_code == ErrorCode.INVALID_REPLICATION_FACTOR


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
    assert [type(one.record).__name__ for one in three.log[-3:]] == [
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

    assert {one.error_code for one in results} == {ErrorCode.POLICY_VIOLATION}


def test_one_bad_topic_does_not_stop_the_others(three: Any) -> None:
    results = create(three, topic("a"), topic("b", num_partitions=0), topic("c"))

    assert [(one.name, one.error_code == 0) for one in results] == [
        ("a", True),
        ("b", False),
        ("c", True),
    ]


def test_a_name_that_occurs_twice_is_refused_once(three: Any) -> None:
    results = create(three, topic("a"), topic("b"), topic("a"))

    assert [(one.name, one.error_code) for one in results] == [
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


def grow(lab: Any, count: int, *replicas: tuple[int, ...], name: str = "foo", **more: Any) -> Any:
    assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in replicas]
    wanted = CreatePartitionsTopic(name=name, count=count, assignments=assignments or None)
    (result,) = lab.ask(CreatePartitionsRequest(topics=[wanted]).replace(**more)).results
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
        (20_000, (), ErrorCode.POLICY_VIOLATION),
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


def test_an_unknown_topic_does_not_grow(three: Any) -> None:
    assert grow(three, 3).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_growth_is_only_validated_where_that_is_wanted(three: Any) -> None:
    three.create("foo", (1, 2))
    before = three.end_offset

    assert grow(three, 3, validate_only=True).error_code == ErrorCode.NONE
    assert three.end_offset == before


def delete(lab: Any, *wanted: DeleteTopicState) -> list[tuple[str | None, int]]:
    response = lab.ask(DeleteTopicsRequest(topics=list(wanted)))
    return [(one.name, one.error_code) for one in response.responses]


def test_topics_are_deleted_by_name_and_by_id(three: Any) -> None:
    three.create("foo", (1,))
    id = three.create("bar", (1,))

    results = delete(three, DeleteTopicState(name="foo"), DeleteTopicState(topic_id=id))

    assert results == [("foo", 0), ("bar", 0)]
    assert not three.image.topics.ids


def test_versions_without_ids_delete_by_name(three: Any) -> None:
    three.create("foo", (1,))

    response = three.ask(DeleteTopicsRequest(topic_names=("foo", "bar")), 5)

    assert [(one.name, one.error_code) for one in response.responses] == [
        ("foo", ErrorCode.NONE),
        ("bar", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_what_is_wrong_with_a_deletion_is_refused(three: Any) -> None:
    id = three.create("foo", (1,))
    states = [
        DeleteTopicState(),
        DeleteTopicState(name="foo", topic_id=id),
        DeleteTopicState(name="twice"),
        DeleteTopicState(name="twice"),
        DeleteTopicState(topic_id=UUID(int=5)),
        DeleteTopicState(topic_id=id),
        DeleteTopicState(name="foo"),
    ]

    results = delete(three, *states)

    assert [code for _, code in results] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
    ]


@pytest.mark.parametrize(
    ("version", "code"),
    [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)],
)
def test_deletion_can_be_disabled(make_lab: Any, version: int, code: ErrorCode) -> None:
    lab = make_lab(delete_topic_enable=False)

    response = lab.ask(DeleteTopicsRequest(topic_names=("foo",)), version)

    assert [one.error_code for one in response.responses] == [code]


def test_a_request_may_bring_10000_records_and_no_more(three: Any) -> None:
    """A TopicRecord and its partitions: Java's BoundedList takes no more in one operation."""
    (full,) = create(three, topic("a", num_partitions=9_999))
    assert full.error_code == ErrorCode.NONE
    (over,) = create(three, topic("b", num_partitions=10_000))
    assert over.error_code == ErrorCode.POLICY_VIOLATION
    assert create(three, topic("c"))[0].error_code == ErrorCode.NONE


def test_topics_beyond_10000_are_not_deleted_by_one_request(three: Any) -> None:
    """Each by itself, with the code that Java has for faults (ReplicationControlManager)."""
    ids = [UUID(int=number + 1) for number in range(10_001)]
    for number, id in enumerate(ids):
        three.write(TopicRecord(name=f"t{number}", topic_id=id))
    names = [f"t{number}" for number in range(10_001)]
    answer = three.ask(DeleteTopicsRequest(topics=[DeleteTopicState(name=name) for name in names]))
    codes = [one.error_code for one in answer.responses]
    assert codes == [ErrorCode.NONE] * 10_000 + [ErrorCode.UNKNOWN_SERVER_ERROR]
    assert len(three.image.topics.ids) == 1
