"""ElectLeaders, after Kafka's ReplicationControlManagerTest."""

from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.image.partition import NO_LEADER, RECOVERING
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition_change import PartitionChangeRecord

PREFERRED, UNCLEAN = 0, 1


def elect(lab: Any, type: int, *numbers: int, topic: str = "foo") -> list[int]:
    wanted = [TopicPartitions(topic=topic, partitions=numbers)] if numbers else None
    response = lab.ask(ElectLeadersRequest(election_type=type, topic_partitions=wanted))
    assert response.error_code == ErrorCode.NONE
    return [result.error_code for result in response.replica_election_results[0].partition_result]


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
