"""AlterPartition, after Kafka's ReplicationControlManagerTest and KIP-841."""

from typing import Any
from uuid import UUID

import pytest

from kwire.error_codes import ErrorCode
from kwire.image.partition import RECOVERING
from kwire.messages.a56_alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kwire.messages.records.partition_change import PartitionChangeRecord


@pytest.fixture
def foo(lab: Any) -> Any:
    """Brokers 1 to 4, topic foo on 1 to 3, led by 1."""
    lab.start(1, 2, 3, 4)
    lab.create("foo", (1, 2, 3))
    return lab


def request(lab: Any, *isr: int, version: int = 3, **changes: Any) -> AlterPartitionRequest:
    partition = lab.partition("foo")
    brokers = lab.image.cluster.brokers
    data = PartitionData(
        partition_index=0,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        new_isr=isr if version < 3 else (),
        new_isr_with_epochs=[
            BrokerState(broker_id=id, broker_epoch=brokers[id].epoch if id in brokers else 1)
            for id in isr
            if version > 2
        ],
    ).replace(**changes)
    topic = TopicData(topic_id=lab.image.topics.ids["foo"], partitions=[data])
    return AlterPartitionRequest(broker_id=1, broker_epoch=brokers[1].epoch, topics=[topic])


def alter(lab: Any, *isr: int, version: int = 3, **changes: Any) -> Any:
    response = lab.ask(request(lab, *isr, version=version, **changes), version)
    return response.topics[0].partitions[0]


def test_an_isr_shrinks_and_expands_and_the_answer_has_the_new_partition_epoch(foo: Any) -> None:
    shrunk = alter(foo, 1, 2)
    expanded = alter(foo, 1, 2, 3)

    assert (shrunk.isr, shrunk.partition_epoch, shrunk.leader_epoch) == ((1, 2), 1, 0)
    assert (expanded.isr, expanded.partition_epoch, expanded.leader_epoch) == ((1, 2, 3), 2, 0)


def test_versions_without_broker_epochs_are_not_checked_for_them(foo: Any) -> None:
    assert alter(foo, 1, 2, version=2).error_code == ErrorCode.NONE


def test_the_same_isr_writes_nothing_and_keeps_the_partition_epoch(foo: Any) -> None:
    before = foo.end_offset

    assert alter(foo, 1, 2, 3).partition_epoch == 0
    assert foo.end_offset == before


def test_before_3_6_a_shrink_bumps_the_leader_epoch(make_lab: Any) -> None:
    """KAFKA-15021."""
    for level, epoch in ((11, 1), (12, 0)):
        lab = make_lab(level=level)
        lab.start(1, 2, 3)
        lab.create("foo", (1, 2, 3))
        assert alter(lab, 1, 2).leader_epoch == epoch


@pytest.mark.parametrize(("level", "version"), [(16, 0), (17, 1), (22, 1), (23, 2), (30, 2)])
def test_the_record_version_follows_metadata_version(
    make_lab: Any, level: int, version: int
) -> None:
    lab = make_lab(level=level)
    lab.start(1, 2, 3)
    lab.create("foo", (1, 2, 3))

    alter(lab, 1, 2)

    assert isinstance(lab.log[-1].record, PartitionChangeRecord)
    assert lab.log[-1].version == version


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"partition_index": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"leader_epoch": 9, "partition_epoch": -1}, ErrorCode.NOT_CONTROLLER),
        ({"leader_epoch": -1, "partition_epoch": 9}, ErrorCode.NOT_CONTROLLER),
        ({"leader_epoch": -1, "partition_epoch": -1}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"partition_epoch": -1, "new_isr_with_epochs": []}, ErrorCode.INVALID_UPDATE_VERSION),
        ({"new_isr_with_epochs": []}, ErrorCode.INVALID_REQUEST),
        ({"leader_recovery_state": RECOVERING}, ErrorCode.INVALID_REQUEST),
        ({"leader_recovery_state": 7}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_errors_come_in_kafkas_order(foo: Any, changes: dict[str, Any], code: ErrorCode) -> None:
    before = foo.end_offset

    assert alter(foo, 1, 2, **changes).error_code == code
    assert foo.end_offset == before


@pytest.mark.parametrize("isr", [(1, 4), (2, 3), (1, 1, 2), (1, 9)])
def test_an_isr_is_made_of_replicas_and_has_the_leader(foo: Any, isr: tuple[int, ...]) -> None:
    assert alter(foo, *isr).error_code == ErrorCode.INVALID_REQUEST


def test_a_leader_cannot_go_back_to_recovering(foo: Any) -> None:
    response = alter(foo, 1, leader_recovery_state=RECOVERING)

    assert response.error_code == ErrorCode.INVALID_REQUEST


def test_who_does_not_lead_is_refused_before_its_partition_epoch_is_looked_at(foo: Any) -> None:
    wrong = request(foo, 1, 2, partition_epoch=-1)
    wrong.broker_id, wrong.broker_epoch = 2, foo.image.cluster.brokers[2].epoch

    response = foo.ask(wrong)

    assert response.topics[0].partitions[0].error_code == ErrorCode.INVALID_REQUEST


def test_an_unknown_topic_id_is_said_of_every_partition(foo: Any) -> None:
    wrong = request(foo, 1, 2)
    wrong.topics[0].topic_id = UUID(int=9)

    response = foo.ask(wrong)

    assert response.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_a_stale_broker_epoch_is_said_of_the_whole_request(foo: Any) -> None:
    wrong = request(foo, 1, 2).replace(broker_epoch=1)

    response = foo.ask(wrong)

    assert (response.error_code, response.topics) == (ErrorCode.STALE_BROKER_EPOCH, [])


@pytest.mark.parametrize(("broker_id", "broker_epoch"), [(1, 0), (77, 0)])
def test_who_changes_nothing_is_not_checked(foo: Any, broker_id: int, broker_epoch: int) -> None:
    """Java: QuorumController.alterPartition."""
    nothing = AlterPartitionRequest(broker_id=broker_id, broker_epoch=broker_epoch, topics=[])

    assert foo.ask(nothing, 3).error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", [2, 3])
def test_a_fenced_replica_is_not_eligible_for_the_isr(foo: Any, version: int) -> None:
    """KIP-841."""
    foo.heartbeat(3, want_fence=True)

    response = alter(foo, 1, 2, 3, version=version)

    assert response.error_code == ErrorCode.INELIGIBLE_REPLICA
    assert alter(foo, 1, 2, version=version).error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", [2, 3])
def test_a_replica_in_controlled_shutdown_is_not_eligible_for_the_isr(
    foo: Any, version: int
) -> None:
    """KIP-841."""
    foo.create("bar", (3,))
    foo.heartbeat(3, want_shut_down=True)
    assert foo.partition("foo").isr == (1, 2)

    assert alter(foo, 1, 2, 3, version=version).error_code == ErrorCode.INELIGIBLE_REPLICA


def test_a_replica_of_an_older_broker_epoch_is_not_eligible_for_the_isr(foo: Any) -> None:
    """KIP-903."""
    states = [
        BrokerState(broker_id=1, broker_epoch=foo.image.cluster.brokers[1].epoch),
        BrokerState(broker_id=2, broker_epoch=1),
    ]

    assert alter(foo, new_isr_with_epochs=states).error_code == ErrorCode.INELIGIBLE_REPLICA


def test_a_completed_reassignment_without_the_sender_elects_another_leader(foo: Any) -> None:
    """KIP-841: the change is made, and the sender learns that it leads no more."""
    moving = PartitionChangeRecord(
        topic_id=foo.image.topics.ids["foo"],
        partition_id=0,
        replicas=(2, 3, 4, 1),
        adding_replicas=(4,),
        removing_replicas=(1,),
        directories=(UUID(int=2002), UUID(int=2003), UUID(int=2004), UUID(int=2001)),
    )
    foo.write(moving, version=2)

    response = alter(foo, 1, 2, 3, 4)

    assert response.error_code == ErrorCode.NEW_LEADER_ELECTED
    partition = foo.partition("foo")
    assert (partition.leader, partition.isr, partition.replicas) == (2, (2, 3, 4), (2, 3, 4))
    assert not partition.is_reassigning
    assert partition.leader_epoch == 1


def test_a_partition_that_is_named_twice_is_as_the_first_time_left_it(foo: Any) -> None:
    """Java makes both changes of the one state from before: the second may bring back who left."""
    (topic,) = request(foo, 1, 2).topics
    (again,) = request(foo, 1, 3).topics
    both = request(foo, 1).replace(topics=[topic, again])
    answers = [found.partitions[0] for found in foo.ask(both).topics]
    assert [answer.error_code for answer in answers] == [0, ErrorCode.INVALID_UPDATE_VERSION]
    assert foo.partition("foo").isr == (1, 2)
