"""A simulated leader proposes the ISRs that Kafka's would (kafka.cluster.Partition)."""

from uuid import UUID

import pytest
from rpds import HashTrieMap

from kwire.error_codes import ErrorCode
from kwire.image.broker import BrokerRegistration
from kwire.image.cluster import ClusterImage
from kwire.image.partition import MIGRATING, PartitionRegistration
from kwire.messages.a56_alter_partition import ResponsePartitionData
from virtual_nodes.brokers.led_partition import LAG, LedPartition, ProposedIsr

TOPIC = UUID(int=7 << 64)
EPOCHS = {1: 11, 2: 12, 3: 13}


def cluster(*fenced: int, stopping: tuple[int, ...] = ()) -> ClusterImage:
    brokers = {
        id: BrokerRegistration(
            id=id,
            epoch=epoch,
            incarnation_id=UUID(int=id),
            fenced=id in fenced,
            in_controlled_shutdown=id in stopping,
        )
        for id, epoch in EPOCHS.items()
    }
    return ClusterImage(brokers=HashTrieMap(brokers))


def partition(*isr: int, leader_epoch: int = 4, partition_epoch: int = 9) -> PartitionRegistration:
    return PartitionRegistration(
        replicas=(1, 2, 3),
        directories=(MIGRATING,) * 3,
        isr=isr,
        leader=1,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
    )


def proposed(isr: dict[int, int], partition_epoch: int = 9) -> ProposedIsr:
    return ProposedIsr(
        topic_id=TOPIC,
        number=0,
        leader_epoch=4,
        partition_epoch=partition_epoch,
        isr=tuple(isr.items()),
    )


def led(*isr: int) -> LedPartition:
    return LedPartition(1, TOPIC, 0, partition(*isr), 0.0)


def test_a_follower_that_caught_up_joins_with_the_broker_epoch_of_its_fetch() -> None:
    leader = led(1, 2)
    assert leader.proposal(cluster(), 11, 1.0) is None
    leader.fetched(3, 13, in_sync=True, now=1.0)
    # Broker 2 has not fetched from this leader: its epoch is not known.
    assert leader.proposal(cluster(), 11, 1.0) == proposed({1: 11, 2: -1, 3: 13})


@pytest.mark.parametrize(
    ("known", "epoch"),
    [(cluster(3), 13), (cluster(stopping=(3,)), 13), (cluster(), 12), (ClusterImage(), 13)],
    ids=["fenced", "in controlled shutdown", "another incarnation", "not registered"],
)
def test_only_active_replicas_of_the_known_incarnation_join(
    known: ClusterImage, epoch: int
) -> None:
    leader = led(1)
    leader.fetched(3, epoch, in_sync=True, now=1.0)
    assert leader.proposal(known, 11, 1.0) is None


def test_who_does_not_catch_up_for_the_lag_time_leaves() -> None:
    leader = led(1, 2, 3)
    leader.fetched(2, 12, in_sync=True, now=1.0)
    leader.fetched(3, 13, in_sync=False, now=1.0)
    assert leader.proposal(cluster(), 11, LAG) is None
    assert leader.proposal(cluster(), 11, LAG + 0.5) == proposed({1: 11, 2: 12})


@pytest.mark.parametrize("code", [ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED])
def test_a_refusal_returns_to_the_former_isr(code: ErrorCode) -> None:
    leader = led(1)
    leader.fetched(2, 12, in_sync=True, now=1.0)
    proposal = leader.proposal(cluster(), 11, 1.0)
    assert proposal == proposed({1: 11, 2: 12})
    assert leader.proposal(cluster(), 11, 1.0) is None, "one proposal at a time"
    assert not leader.answered(proposal, ResponsePartitionData(error_code=code))
    assert leader.proposal(cluster(), 11, 1.1) == proposal


@pytest.mark.parametrize(
    ("code", "again"),
    [
        (ErrorCode.INVALID_UPDATE_VERSION, False),
        (ErrorCode.FENCED_LEADER_EPOCH, False),
        (ErrorCode.UNKNOWN_TOPIC_ID, False),
        (ErrorCode.NEW_LEADER_ELECTED, False),
        (ErrorCode.NOT_CONTROLLER, True),
        (ErrorCode.UNKNOWN_SERVER_ERROR, True),
    ],
)
def test_after_other_errors_it_waits_for_metadata_or_asks_again(
    code: ErrorCode, again: bool
) -> None:
    leader = led(1)
    leader.fetched(2, 12, in_sync=True, now=1.0)
    proposal = leader.proposal(cluster(), 11, 1.0)
    assert proposal is not None
    assert leader.answered(proposal, ResponsePartitionData(error_code=code)) is again
    assert leader.proposal(cluster(), 11, 1.1) is None, "it is still pending"
    leader.follow(partition(1, partition_epoch=10), 1.2)
    assert leader.proposal(cluster(), 11, 1.2) == proposed({1: 11, 2: 12}, partition_epoch=10)


def test_an_answer_that_metadata_have_overtaken_changes_nothing() -> None:
    leader = led(1)
    leader.fetched(2, 12, in_sync=True, now=1.0)
    proposal = leader.proposal(cluster(), 11, 1.0)
    assert proposal is not None
    leader.follow(partition(1, 2, partition_epoch=12), 1.1)
    answer = ResponsePartitionData(leader_epoch=4, partition_epoch=10, isr=(1, 2))
    assert not leader.answered(proposal, answer)
    leader.fetched(3, 13, in_sync=True, now=1.2)
    assert leader.proposal(cluster(), 11, 1.2) == proposed(
        {1: 11, 2: 12, 3: 13}, partition_epoch=12
    )


def test_in_a_new_leader_epoch_nothing_is_known_of_the_followers() -> None:
    leader = led(1, 2)
    leader.fetched(3, 13, in_sync=True, now=1.0)
    leader.follow(partition(1, 2, leader_epoch=5, partition_epoch=10), 1.1)
    assert leader.proposal(cluster(), 11, 1.2) is None
