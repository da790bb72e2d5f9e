"""AlterPartitionReassignments, after Kafka's ReplicationControlManagerTest and KIP-860."""

from typing import Any
from uuid import UUID

import pytest

from kwire.controller.handlers.limits import MAX_RECORDS
from kwire.error_codes import ErrorCode
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a37_create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a43_elect_leaders import TopicPartitions as ElectedPartitions
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a56_alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kwire.messages.config_resource import ResourceType
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition_change import PartitionChangeRecord

Replicas = tuple[int, ...]


@pytest.fixture
def five(lab: Any) -> Any:
    """Brokers 0 to 4 are active."""
    lab.start(0, 1, 2, 3, 4)
    return lab


def reassign(lab: Any, topic: str, *moves: Replicas | None, **changes: Any) -> list[int]:
    """Send the replicas of partitions 0, 1, ...; return their error codes."""
    partitions = [
        ReassignablePartition(partition_index=number, replicas=replicas)
        for number, replicas in enumerate(moves)
    ]
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=partitions)]
    )
    (response,) = lab.ask(request.replace(**changes)).responses
    return [partition.error_code for partition in response.partitions]


def reassigning(lab: Any) -> dict[tuple[str, int], tuple[Replicas, Replicas, Replicas]]:
    """Return replicas, added, and removed ones by partition."""
    response = lab.ask(ListPartitionReassignmentsRequest(topics=None))
    return {
        (topic.name, partition.partition_index): (
            partition.replicas,
            partition.adding_replicas,
            partition.removing_replicas,
        )
        for topic in response.topics
        for partition in topic.partitions
    }


def set_isr(lab: Any, topic: str, number: int, *isr: int) -> Any:
    """Send what the leader sends whose followers caught up."""
    partition = lab.partition(topic, number)
    brokers = lab.image.cluster.brokers
    data = PartitionData(
        partition_index=number,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        new_isr_with_epochs=[
            BrokerState(broker_id=id, broker_epoch=brokers[id].epoch) for id in isr
        ],
    )
    id = lab.image.topics.ids[topic]
    leader = partition.leader
    request = AlterPartitionRequest(
        broker_id=leader,
        broker_epoch=brokers[leader].epoch,
        topics=[TopicData(topic_id=id, partitions=[data])],
    )
    return lab.ask(request).topics[0].partitions[0]


def directories(*brokers: int) -> tuple[UUID, ...]:
    return tuple(UUID(int=2000 + broker) for broker in brokers)


def test_partitions_move_are_listed_and_are_moved_back(five: Any) -> None:
    """Java: testReassignPartitions."""
    id = five.create("foo", (1, 2, 3), (3, 2, 1))

    codes = reassign(five, "foo", (3, 2, 1), (0, 2, 1), (0, 2, 1))

    assert codes == [ErrorCode.NONE, ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert reassigning(five) == {("foo", 1): ((0, 2, 1, 3), (0,), (3,))}
    # An order alone is there at once, without a new leader epoch.
    ordered = five.partition("foo", 0)
    assert (ordered.replicas, ordered.leader, ordered.leader_epoch) == ((3, 2, 1), 1, 0)

    codes = reassign(five, "foo", None, None, None)

    assert codes == [
        ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert five.log[-1].version == 2
    assert five.log[-1].record == PartitionChangeRecord(
        topic_id=id,
        partition_id=1,
        replicas=(2, 1, 3),
        directories=directories(2, 1, 3),
        leader=3,
        removing_replicas=(),
        adding_replicas=(),
    )
    assert reassigning(five) == {}


def test_the_isr_that_completes_a_move_may_cost_its_sender_the_leadership(five: Any) -> None:
    five.create("foo", (1, 2, 3), (3, 2, 1))
    reassign(five, "foo", (1, 2, 3), (0, 2, 1))

    assert set_isr(five, "foo", 1, 3, 0, 2, 1).error_code == ErrorCode.NEW_LEADER_ELECTED

    moved = five.partition("foo", 1)
    assert (moved.replicas, moved.isr, moved.leader) == ((0, 2, 1), (0, 2, 1), 0)
    assert reassigning(five) == {}


def test_replicas_leave_at_once_and_come_when_they_are_in_sync(five: Any) -> None:
    """Java: testCancelReassignPartitions, the half before the cancellation."""
    five.create("foo", (1, 2, 3, 4), (0, 1, 2, 3), (4, 3, 1, 0), (2, 3, 4, 1))
    five.create("bar", (4, 3, 2))
    five.heartbeat(3, want_fence=True)

    codes = reassign(five, "foo", (1, 2, 4), (1, 2, 3, 0), (5, 6, 7), ())

    invalid = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert codes == [ErrorCode.NONE, ErrorCode.NONE, invalid, invalid]
    assert reassign(five, "bar", (1, 2, 3, 4, 0)) == [ErrorCode.NONE]
    left = five.partition("foo", 0)
    assert (left.replicas, left.isr, left.leader) == ((1, 2, 4), (1, 2, 4), 1)
    assert (left.leader_epoch, left.partition_epoch) == (1, 2)
    ordered = five.partition("foo", 1)
    assert (ordered.replicas, ordered.isr) == ((1, 2, 3, 0), (0, 1, 2))
    assert (ordered.leader_epoch, ordered.partition_epoch) == (0, 2)
    grown = five.partition("bar")
    assert (grown.replicas, grown.isr) == ((1, 2, 3, 4, 0), (4, 2))
    assert (grown.adding_replicas, grown.removing_replicas) == ((0, 1), ())
    assert grown.directories == directories(1, 2, 3, 4, 0)


def test_a_growth_is_complete_when_the_new_replicas_are_in_sync(five: Any) -> None:
    """Replica 3 stays and is out of sync: Kafka 4.3 does not wait for it, Kafka 4.0 did."""
    five.create("bar", (4, 3, 2))
    five.heartbeat(3, want_fence=True)
    reassign(five, "bar", (1, 2, 3, 4, 0))

    set_isr(five, "bar", 0, 4, 1, 2, 0)

    grown = five.partition("bar")
    assert (grown.replicas, grown.isr) == ((1, 2, 3, 4, 0), (4, 1, 2, 0))
    assert (grown.adding_replicas, grown.removing_replicas) == ((), ())


def test_a_cancelled_growth_bumps_the_leader_epoch(five: Any) -> None:
    """Java: testCancelReassignPartitions, the cancellation."""
    five.create("bar", (4, 3, 2))
    five.heartbeat(3, want_fence=True)
    reassign(five, "bar", (1, 2, 3, 4, 0))

    assert set_isr(five, "bar", 0, 4, 1, 2).isr == (4, 1, 2)
    assert reassign(five, "bar", None) == [ErrorCode.NONE]

    record = five.log[-1].record
    assert (record.leader, record.replicas, record.isr) == (4, (2, 3, 4), (4, 2))
    assert (record.removing_replicas, record.adding_replicas) == (None, ())


def test_a_growth_is_complete_when_all_that_come_are_in_sync(five: Any) -> None:
    """A replica that stays may be out of sync: PartitionReassignmentReplicas of 4.x."""
    five.create("bar", (4, 3, 2))
    five.heartbeat(3, want_fence=True)
    reassign(five, "bar", (1, 2, 3, 4, 0))

    assert set_isr(five, "bar", 0, 4, 1, 2, 0).error_code == ErrorCode.NONE

    assert reassigning(five) == {}
    assert five.partition("bar").replicas == (1, 2, 3, 4, 0)


@pytest.mark.parametrize("replicas", [(), (1, 1), (1, 77), (-1,)])
def test_bad_replicas_are_refused(five: Any, replicas: Replicas) -> None:
    five.create("foo", (1, 2, 3))
    before = five.end_offset

    assert reassign(five, "foo", replicas) == [ErrorCode.INVALID_REPLICA_ASSIGNMENT]
    assert five.end_offset == before


def test_an_unknown_topic_is_said_of_each_partition(five: Any) -> None:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert reassign(five, "nowhere", (1, 2), None) == [code, code]


def test_a_fenced_broker_may_be_a_target_and_is_waited_for(five: Any) -> None:
    five.create("foo", (1,))
    five.heartbeat(2, want_fence=True)

    assert reassign(five, "foo", (2,)) == [ErrorCode.NONE]
    assert reassigning(five) == {("foo", 0): ((2, 1), (2,), (1,))}
    assert set_isr(five, "foo", 0, 1, 2).error_code == ErrorCode.INELIGIBLE_REPLICA
    five.heartbeat(2)
    assert set_isr(five, "foo", 0, 1, 2).error_code == ErrorCode.NEW_LEADER_ELECTED
    assert five.partition("foo").replicas == (2,)


def test_a_new_target_replaces_the_one_before(five: Any) -> None:
    five.create("foo", (1, 2))
    reassign(five, "foo", (1, 3))

    reassign(five, "foo", (1, 4))

    # Added before, to be removed now: as Kafka counts from all present replicas.
    assert reassigning(five) == {("foo", 0): ((1, 4, 2, 3), (4,), (2, 3))}


def test_a_target_of_the_present_replicas_leaves_the_lists_of_the_move(five: Any) -> None:
    """Empty lists are not set: Kafka's changePartitionReassignment."""
    five.create("foo", (1, 2))
    reassign(five, "foo", (1, 3))

    reassign(five, "foo", (3, 2, 1))

    assert reassigning(five) == {("foo", 0): ((3, 2, 1), (3,), (2,))}


@pytest.mark.parametrize(
    ("moves", "codes"),
    [
        ([(1, 2, 3)], [ErrorCode.INVALID_REPLICATION_FACTOR]),
        ([(1,)], [ErrorCode.INVALID_REPLICATION_FACTOR]),
        ([(77,)], [ErrorCode.INVALID_REPLICA_ASSIGNMENT]),
        ([(3, 4), (1, 0)], [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]),
    ],
)
def test_another_replication_factor_may_be_forbidden(
    five: Any, moves: list[Replicas], codes: list[int]
) -> None:
    """KIP-860."""
    five.create("foo", (1, 2))

    assert reassign(five, "foo", *moves, allow_replication_factor_change=False) == codes


def test_the_replication_factor_of_a_moving_partition_is_that_after_the_move(five: Any) -> None:
    five.create("foo", (1, 2))
    reassign(five, "foo", (1, 3, 4))

    two = reassign(five, "foo", (1, 2), allow_replication_factor_change=False)
    three = reassign(five, "foo", (0, 3, 4), allow_replication_factor_change=False)

    assert (two, three) == ([ErrorCode.INVALID_REPLICATION_FACTOR], [ErrorCode.NONE])


def test_the_answer_repeats_what_the_request_allows(five: Any) -> None:
    five.create("foo", (1,))
    topics = [ReassignableTopic(name="foo")]
    for allowed in (True, False):
        request = AlterPartitionReassignmentsRequest(
            topics=topics, allow_replication_factor_change=allowed
        )
        answer = five.ask(request)
        assert answer.allow_replication_factor_change is allowed
        assert (answer.error_code, answer.error_message) == (ErrorCode.NONE, None)
        assert five.ask(request, 0).responses[0].name == "foo"


@pytest.mark.parametrize("unclean", [False, True])
def test_a_cancellation_that_needs_an_unclean_leader_needs_the_topics_leave(
    five: Any, unclean: bool
) -> None:
    id = five.create("foo", (1, 2))
    reassign(five, "foo", (3, 4))
    five.write(PartitionChangeRecord(topic_id=id, partition_id=0, isr=(3,), leader=3), 2)
    if unclean:
        five.write(
            ConfigRecord(
                resource_type=ResourceType.TOPIC,
                resource_name="foo",
                name="unclean.leader.election.enable",
                value="true",
            )
        )

    code = ErrorCode.NONE if unclean else ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert reassign(five, "foo", None) == [code]

    if unclean:
        reverted = five.partition("foo")
        assert (reverted.replicas, reverted.isr, reverted.leader) == ((1, 2), (1,), 1)
        assert reassigning(five) == {}


def test_a_partition_that_is_named_twice_is_as_the_first_time_left_it(five: Any) -> None:
    """Java makes both changes of the one state from before, and fails when they do not fit."""
    five.create("foo", (1, 2))
    moves = [(1,), (2, 3), None, (2,)]
    request = AlterPartitionReassignmentsRequest(
        topics=[
            ReassignableTopic(
                name="foo", partitions=[ReassignablePartition(partition_index=0, replicas=replicas)]
            )
            for replicas in moves
        ]
    )
    responses = five.ask(request).responses
    codes = [partition.error_code for topic in responses for partition in topic.partitions]
    assert codes == [0, 0, 0, 0]
    moving = five.partition("foo")
    assert (moving.replicas, moving.adding_replicas, moving.removing_replicas) == (
        (2, 1),
        (2,),
        (1,),
    )


def test_partitions_beyond_the_limit_get_an_error_and_the_others_move(five: Any) -> None:
    """Java: BoundedList, within the loop over the partitions."""
    five.create("foo", (1, 2))
    moves = [
        ReassignablePartition(partition_index=0, replicas=(1, 2) if number % 2 else (2, 1))
        for number in range(MAX_RECORDS + 1)
    ]
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name="foo", partitions=moves)]
    )

    answer = five.answer(request)

    codes = [partition.error_code for partition in answer.response.responses[0].partitions]
    assert codes == [ErrorCode.NONE] * MAX_RECORDS + [ErrorCode.UNKNOWN_SERVER_ERROR]
    assert len(answer.records) == MAX_RECORDS


def test_no_topics_change_nothing(five: Any) -> None:
    before = five.end_offset
    assert five.ask(AlterPartitionReassignmentsRequest(topics=[])).responses == []
    assert five.end_offset == before


@pytest.mark.parametrize(("level", "version"), [(16, 0), (17, 1), (22, 1), (23, 2)])
def test_the_record_version_follows_metadata_version(
    make_lab: Any, level: int, version: int
) -> None:
    lab = make_lab(level=level)
    lab.start(1, 2)
    lab.create("foo", (1,))

    reassign(lab, "foo", (2,))

    assert lab.log[-1].version == version
    assert lab.log[-1].record.directories == (directories(2, 1) if version else None)


def test_a_broker_with_several_directories_chooses_one_for_the_new_replica(lab: Any) -> None:
    """KIP-858."""
    lab.start(1)
    lab.start(2, log_dirs=(UUID(int=2021), UUID(int=2022)))
    lab.create("foo", (1,))

    reassign(lab, "foo", (1, 2))

    assert lab.partition("foo").directories == (UUID(int=2001), UUID(int=1))


def test_a_moving_topic_gets_partitions_a_leader_and_is_deleted(five: Any) -> None:
    """New partitions have as many replicas as partition 0 has now: the added ones count."""
    five.create("foo", (1, 2))
    reassign(five, "foo", (3, 4))

    more = CreatePartitionsTopic(name="foo", count=2, assignments=None)
    (created,) = five.ask(CreatePartitionsRequest(timeout_ms=9000, topics=[more])).results
    assert created.error_code == ErrorCode.NONE
    assert len(five.partition("foo", 1).replicas) == 4

    preferred = ElectLeadersRequest(
        election_type=0, topic_partitions=[ElectedPartitions(topic="foo", partitions=(0,))]
    )
    (elected,) = five.ask(preferred).replica_election_results
    # Its preferred leader is the first replica of the target, which is not in sync yet.
    code = elected.partition_result[0].error_code
    assert code == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE

    named = DeleteTopicsRequest(timeout_ms=9000, topics=[DeleteTopicState(name="foo")])
    assert five.ask(named).responses[0].error_code == ErrorCode.NONE
    assert reassigning(five) == {}
