"""Rules of a broker in ZooKeeper mode, as ReplicaManager of Kafka 3.9 has them (KIP-866)."""

from uuid import UUID

from kwire.error_codes import ErrorCode
from kwire.messages.a04_leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from kwire.messages.a05_stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
)
from kwire.messages.a06_update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
    UpdateMetadataTopicState,
)
from virtual_nodes.brokers.zookeeper_replicas import StrayReplica, ZooKeeperReplicas

FIRST, SECOND = UUID(int=71), UUID(int=72)
FULL, INCREMENTAL = 2, 1


def broker() -> ZooKeeperReplicas:
    """Return broker 1, registered with epoch 50."""
    replicas = ZooKeeperReplicas(1)
    replicas.start(50)
    return replicas


def lead(
    *topics: tuple[str, UUID, int],
    type: int = INCREMENTAL,
    controller_epoch: int = 5,
    broker_epoch: int = 50,
    replicas: tuple[int, ...] = (1, 2),
) -> LeaderAndIsrRequest:
    """Return a request for partition 0 of topics, by name, id and leader epoch."""
    states = [
        LeaderAndIsrTopicState(
            topic_name=name,
            topic_id=id,
            partition_states=[
                LeaderAndIsrPartitionState(
                    partition_index=0, leader=1, leader_epoch=epoch, replicas=replicas
                )
            ],
        )
        for name, id, epoch in topics
    ]
    return LeaderAndIsrRequest(
        is_k_raft_controller=True, type=type, controller_epoch=controller_epoch,
        broker_epoch=broker_epoch, topic_states=states,
    )  # fmt: skip


def codes(answer: object) -> list[int]:
    assert isinstance(answer, LeaderAndIsrResponse)
    return [answer.error_code] + [
        error.error_code for topic in answer.topics for error in topic.partition_errors
    ]


def stop(epoch: int) -> StopReplicaRequest:
    state = StopReplicaPartitionState(partition_index=0, leader_epoch=epoch, delete_partition=True)
    return StopReplicaRequest(
        controller_epoch=5,
        broker_epoch=50,
        topic_states=[StopReplicaTopicState(topic_name="t", partition_states=[state])],
    )


def test_old_epochs_are_refused() -> None:
    replicas = broker()
    assert codes(replicas.handle(lead(("t", FIRST, 0), broker_epoch=49))) == [
        ErrorCode.STALE_BROKER_EPOCH
    ]
    assert codes(replicas.handle(lead(("t", FIRST, 0)))) == [0, 0]
    assert codes(replicas.handle(lead(("u", FIRST, 0), controller_epoch=4))) == [
        ErrorCode.STALE_CONTROLLER_EPOCH
    ]
    assert replicas.hosted == {("t", 0): (1, 0)}


def test_only_a_full_request_sets_aside_what_it_does_not_list() -> None:
    replicas = broker()
    replicas.handle(lead(("t", FIRST, 0), ("u", SECOND, 0)))
    replicas.handle(lead(("t", FIRST, 1)))
    assert replicas.set_aside == []
    replicas.handle(lead(("t", FIRST, 1), type=FULL))
    assert replicas.set_aside == [StrayReplica(topic="u", topic_id=SECOND, number=0)]
    assert replicas.logs == {("t", 0): FIRST}


def test_another_topic_of_the_name_is_refused_unless_the_request_is_full() -> None:
    replicas = broker()
    replicas.handle(lead(("t", FIRST, 0)))
    assert codes(replicas.handle(lead(("t", SECOND, 0)))) == [0, ErrorCode.INCONSISTENT_TOPIC_ID]
    assert codes(replicas.handle(lead(("t", SECOND, 0), type=FULL))) == [0, 0]
    assert replicas.set_aside == [StrayReplica(topic="t", topic_id=FIRST, number=0)]


def test_a_lower_leader_epoch_is_refused_and_an_equal_one_taken() -> None:
    replicas = broker()
    replicas.handle(lead(("t", FIRST, 3)))
    assert codes(replicas.handle(lead(("t", FIRST, 2)))) == [0, ErrorCode.STALE_CONTROLLER_EPOCH]
    assert codes(replicas.handle(lead(("t", FIRST, 3)))) == [0, 0]
    refused = replicas.handle(lead(("u", SECOND, 0), replicas=(2, 3)))
    assert codes(refused) == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_a_replica_is_deleted_at_its_epoch_or_with_its_topic() -> None:
    for epoch, code in ((2, ErrorCode.FENCED_LEADER_EPOCH), (3, ErrorCode.NONE), (-2, 0)):
        replicas = broker()
        replicas.handle(lead(("t", FIRST, 3)))
        answer = replicas.handle(stop(epoch))
        assert isinstance(answer, StopReplicaResponse)
        assert [error.error_code for error in answer.partition_errors] == [code]
        assert bool(replicas.logs) == (code != 0)


def test_a_new_process_has_its_logs_only() -> None:
    replicas = broker()
    replicas.handle(lead(("t", FIRST, 3)))
    replicas.start(60)
    assert (replicas.logs, replicas.hosted) == ({("t", 0): FIRST}, {})
    assert codes(replicas.handle(lead(("t", FIRST, 3)))) == [ErrorCode.STALE_BROKER_EPOCH]


def test_metadata_is_forgotten_if_a_leader_says_so_or_a_full_request_does_not_list_it() -> None:
    replicas = broker()

    def update(*leaders: tuple[str, int], type: int = INCREMENTAL) -> object:
        states = [
            UpdateMetadataTopicState(
                topic_name=name,
                partition_states=[UpdateMetadataPartitionState(partition_index=0, leader=leader)],
            )
            for name, leader in leaders
        ]
        return replicas.handle(
            UpdateMetadataRequest(
                is_k_raft_controller=True,
                type=type,
                controller_epoch=5,
                broker_epoch=50,
                topic_states=states,
            )
        )

    assert update(("t", 1), ("u", 2), ("v", -1)) == UpdateMetadataResponse()
    update(("t", -2))
    assert sorted(replicas.metadata) == [("u", 0), ("v", 0)]
    update(("u", 1), type=FULL)
    assert sorted(replicas.metadata) == [("u", 0)]
