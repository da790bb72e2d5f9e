"""Elections, reassignments, producer ids, unregistering, directories."""

from typing import Any
from uuid import UUID

import pytest

from kwire.error_codes import ErrorCode
from kwire.image.partition import LOST, NO_LEADER, RECOVERING
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions
from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.a73_assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kwire.messages.a94_unregister_controller import UnregisterControllerRequest
from kwire.messages.metadata_versions import metadata_version
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.unregister_controller import UnregisterControllerRecord

PREFERRED, UNCLEAN = 0, 1


@pytest.fixture
def three(lab: Any) -> Any:
    """Brokers 1, 2 and 3 are active."""
    lab.start(1, 2, 3)
    return lab


def elect(lab: Any, type: int, *numbers: int, topic: str = "foo") -> list[int]:
    wanted = [TopicPartitions(topic=topic, partitions=numbers)] if numbers else None
    response = lab.ask(ElectLeadersRequest(election_type=type, topic_partitions=wanted))
    assert response.error_code == ErrorCode.NONE
    return [one.error_code for one in response.replica_election_results[0].partition_result]


def restart(lab: Any, id: int) -> None:
    """Fenced, unfenced, and back in no ISR."""
    lab.heartbeat(id, want_fence=True)
    lab.heartbeat(id)


def back_in_isr(lab: Any, *isr: int) -> None:
    change = PartitionChangeRecord(topic_id=lab.image.topics.ids["foo"], partition_id=0, isr=isr)
    lab.write(change, 2)


def test_the_preferred_replica_leads_again_where_it_is_in_the_isr(three: Any) -> None:
    three.create("foo", (1, 2, 3))
    restart(three, 1)

    assert three.partition("foo").leader == 2
    assert elect(three, PREFERRED, 0) == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]
    back_in_isr(three, 2, 3, 1)
    assert elect(three, PREFERRED, 0) == [ErrorCode.NONE]
    assert three.partition("foo").leader == 1
    assert elect(three, PREFERRED, 0) == [ErrorCode.ELECTION_NOT_NEEDED]


def test_leadership_goes_back_by_itself_after_an_interval(three: Any) -> None:
    three.create("foo", (1, 2, 3))
    restart(three, 1)
    back_in_isr(three, 2, 3, 1)
    for _ in range(60):
        three.now += 5000
        for id in (1, 2, 3):
            three.heartbeat(id)

    three.tick()

    assert three.partition("foo").leader == 1


def offline(lab: Any) -> None:
    """foo is on 1 and 2, only 1 was in the ISR, and 1 is gone."""
    lab.create("foo", (1, 2))
    restart(lab, 2)
    lab.heartbeat(1, want_fence=True)
    assert lab.partition("foo").leader == NO_LEADER


def test_an_unclean_election_makes_another_replica_the_whole_isr(three: Any) -> None:
    offline(three)

    assert elect(three, PREFERRED, 0) == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]
    assert elect(three, UNCLEAN, 0) == [ErrorCode.NONE]
    partition = three.partition("foo")
    assert (partition.leader, partition.isr) == (2, (2,))
    assert partition.leader_recovery_state == RECOVERING
    assert elect(three, UNCLEAN, 0) == [ErrorCode.ELECTION_NOT_NEEDED]


def test_an_unclean_election_needs_somebody(three: Any) -> None:
    offline(three)
    three.heartbeat(2, want_fence=True)

    assert elect(three, UNCLEAN, 0) == [ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE]


@pytest.mark.parametrize(
    "config",
    [
        ConfigRecord(
            resource_type=2,
            resource_name="foo",
            name="unclean.leader.election.enable",
            value="true",
        ),
        ConfigRecord(
            resource_type=4, resource_name="", name="unclean.leader.election.enable", value="true"
        ),
    ],
    ids=["topic", "cluster"],
)
def test_topics_that_allow_it_get_an_unclean_leader_by_themselves(
    three: Any, config: ConfigRecord
) -> None:
    offline(three)
    three.write(config)
    three.controller.resign()
    three.append(three.controller.activate(2, three.now, three.end_offset))

    three.tick()

    assert (three.partition("foo").leader, three.partition("foo").isr) == (2, (2,))


def test_unknown_partitions_and_types_of_election_are_refused(three: Any) -> None:
    three.create("foo", (1,))

    assert elect(three, PREFERRED, 7) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert elect(three, PREFERRED, 0, topic="x") == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    wrong = ElectLeadersRequest(election_type=5, topic_partitions=None)
    assert three.ask(wrong).error_code == ErrorCode.INVALID_REQUEST


def test_of_all_partitions_those_without_need_are_not_named(three: Any) -> None:
    three.create("foo", (1, 2), (2, 1))
    restart(three, 1)

    assert elect(three, PREFERRED) == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]


def test_moving_partitions_are_listed(three: Any) -> None:
    """KIP-455; written by another controller, since this one moves none."""
    three.create("foo", (1, 2), (1, 2))
    three.create("still", (1,))
    change = PartitionChangeRecord(
        topic_id=three.image.topics.ids["foo"],
        partition_id=1,
        replicas=(1, 2, 3),
        adding_replicas=(3,),
        removing_replicas=(1,),
        directories=(UUID(int=2001), UUID(int=2002), UUID(int=2003)),
    )
    three.write(change, 2)
    some = ListPartitionReassignmentsTopics(name="foo", partition_indexes=(0, 1, 9))
    none = ListPartitionReassignmentsTopics(name="nowhere", partition_indexes=(0,))

    for topics in (None, [some, none]):
        response = three.ask(ListPartitionReassignmentsRequest(topics=topics))
        (topic,) = response.topics
        (partition,) = topic.partitions
        assert (topic.name, partition.partition_index, partition.replicas) == ("foo", 1, (1, 2, 3))
        assert (partition.adding_replicas, partition.removing_replicas) == ((3,), (1,))


def test_producer_ids_are_given_in_blocks_of_1000(three: Any) -> None:
    epoch = three.image.cluster.brokers[1].epoch
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch)

    blocks = [three.ask(request) for _ in range(2)]

    assert [(one.producer_id_start, one.producer_id_len) for one in blocks] == [
        (0, 1000),
        (1000, 1000),
    ]
    stale = three.ask(request.replace(broker_epoch=1))
    assert stale.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_an_unregistered_broker_leaves_every_isr_and_is_gone(three: Any) -> None:
    three.create("foo", (1, 2))

    assert three.ask(UnregisterBrokerRequest(broker_id=1)).error_code == ErrorCode.NONE

    assert (three.partition("foo").leader, three.partition("foo").isr) == (2, (2,))
    assert 1 not in three.image.cluster.brokers
    again = three.ask(UnregisterBrokerRequest(broker_id=1))
    assert again.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


def registered_controller(lab: Any, id: int) -> None:
    request = ControllerRegistrationRequest(controller_id=id, incarnation_id=UUID(int=id))
    assert lab.ask(request).error_code == ErrorCode.NONE


def test_a_controller_that_is_unregistered_is_forgotten_and_may_come_back(make_lab: Any) -> None:
    lab = make_lab(level=metadata_version("4.4").level)
    registered_controller(lab, 3001)

    assert lab.ask(UnregisterControllerRequest(controller_id=3001)).error_code == ErrorCode.NONE

    assert lab.log[-1].record == UnregisterControllerRecord(controller_id=3001)
    assert 3001 not in lab.image.cluster.controllers
    again = lab.ask(UnregisterControllerRequest(controller_id=3001))
    assert again.error_code == ErrorCode.CONTROLLER_ID_NOT_REGISTERED
    assert again.error_message == "Controller 3001 is not registered."
    registered_controller(lab, 3001)
    assert 3001 in lab.image.cluster.controllers


def test_the_active_controller_does_not_unregister_itself(lab: Any) -> None:
    refused = lab.ask(UnregisterControllerRequest(controller_id=3000))
    assert refused.error_code == ErrorCode.INVALID_REQUEST


def test_before_4_4_iv2_controllers_are_not_unregistered(make_lab: Any) -> None:
    lab = make_lab(level=metadata_version("4.4-IV1").level)
    registered_controller(lab, 3001)

    refused = lab.ask(UnregisterControllerRequest(controller_id=3001))

    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert 3001 in lab.image.cluster.controllers


def test_directories_are_assigned_partition_by_partition(three: Any) -> None:
    id = three.create("foo", (1, 2))
    three.create("other", (2,))
    unknown = UUID(int=5)

    def topic(topic_id: UUID, number: int) -> TopicData:
        return TopicData(topic_id=topic_id, partitions=[PartitionData(partition_index=number)])

    topics = [
        topic(id, 0),
        topic(id, 7),
        topic(unknown, 0),
        topic(three.image.topics.ids["other"], 0),
    ]
    request = AssignReplicasToDirsRequest(
        broker_id=1,
        broker_epoch=three.image.cluster.brokers[1].epoch,
        directories=[DirectoryData(id=LOST, topics=topics)],
    )

    response = three.ask(request)

    assert [one.partitions[0].error_code for one in response.directories[0].topics] == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ]
    partition = three.partition("foo")
    assert (partition.directory(1), partition.leader, partition.isr) == (LOST, 2, (2,))
