"""The order of requests to a broker that runs with ZooKeeper, and what they say of topics."""

from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.changes import MetadataChanges
from kwire.messages.a04_leader_and_isr import LeaderAndIsrLiveLeader, LeaderAndIsrRequest
from kwire.messages.a05_stop_replica import StopReplicaPartitionState, StopReplicaRequest
from kwire.messages.a06_update_metadata import UpdateMetadataRequest
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.register_broker import BrokerEndpoint, RegisterBrokerRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.migration.driver.propagation import (
    BrokerRequest,
    ControlRequestSender,
    full_requests,
    incremental_requests,
)

ORDERS, BILLS = UUID(int=71), UUID(int=72)
SENDER = ControlRequestSender(node_id=3000, zk_epoch=5, inter_broker_listener="PLAINTEXT")
RAFT_EPOCH = 3


def broker(id: int, *, zk: bool = True, fenced: bool = False) -> RegisterBrokerRecord:
    endpoint = BrokerEndpoint(name="PLAINTEXT", host=f"b{id}", port=9092, security_protocol=0)
    return RegisterBrokerRecord(
        broker_id=id, broker_epoch=50 + id, is_migrating_zk_broker=zk, fenced=fenced,
        incarnation_id=UUID(int=id), end_points=[endpoint],
    )  # fmt: skip


def partition(topic: UUID, number: int, replicas: tuple[int, ...]) -> PartitionRecord:
    return PartitionRecord(
        topic_id=topic, partition_id=number, replicas=replicas, isr=replicas, leader=replicas[0],
        leader_epoch=4, partition_epoch=9,
    )  # fmt: skip


def cluster() -> MetadataImage:
    """Return two ZooKeeper brokers, one that runs as KRaft, one fenced; a topic on all of them."""
    return apply_all(
        EMPTY,
        [
            FeatureLevelRecord(name="metadata.version", feature_level=21),
            *(broker(0), broker(1), broker(2, zk=False), broker(3, fenced=True)),
            TopicRecord(name="orders", topic_id=ORDERS),
            partition(ORDERS, 0, (0, 1, 2, 3)),
            partition(ORDERS, 1, (1,)),
        ],
    )


def changed(*records: MetadataRecord) -> list[BrokerRequest]:
    before = cluster()
    changes = MetadataChanges.of(before, apply_all(before, records), records)
    return list(incremental_requests(SENDER, changes, RAFT_EPOCH))


def order(requests: list[BrokerRequest]) -> dict[int, list[tuple[str, int]]]:
    """Return the name and the type of each broker's requests."""
    told: dict[int, list[tuple[str, int]]] = {}
    for item in requests:
        type_ = getattr(item.request, "type", -1)
        told.setdefault(item.broker_id, []).append((type(item.request).__name__, type_))
    return told


def test_a_whole_image_goes_to_unfenced_zookeeper_brokers_in_three_requests() -> None:
    requests = list(full_requests(SENDER, cluster(), RAFT_EPOCH))

    full = [("UpdateMetadataRequest", 0), ("LeaderAndIsrRequest", 2), ("UpdateMetadataRequest", 2)]
    assert order(requests) == {0: full, 1: full}
    for item in requests:
        header = item.request
        assert (header.controller_id, header.controller_epoch, header.broker_epoch) == (
            3000, 5, 50 + item.broker_id,
        )  # fmt: skip
        assert header.is_k_raft_controller


def test_a_full_leader_and_isr_lists_each_replica_of_its_broker() -> None:
    (to_0, to_1) = [
        item.request
        for item in full_requests(SENDER, cluster(), RAFT_EPOCH)
        if isinstance(item.request, LeaderAndIsrRequest)
    ]

    listed = [
        [(topic.topic_id, [state.partition_index for state in topic.partition_states])
         for topic in request.topic_states]
        for request in (to_0, to_1)
    ]  # fmt: skip
    assert listed == [[(ORDERS, [0])], [(ORDERS, [0, 1])]]
    assert to_0.live_leaders == [LeaderAndIsrLiveLeader(broker_id=0, host_name="b0", port=9092)]
    state = to_0.topic_states[0].partition_states[0]
    assert (state.controller_epoch, state.leader_epoch, state.partition_epoch) == (3, 4, 9)


def test_records_of_an_open_transaction_are_not_in_a_full_request() -> None:
    """A broker would set aside what the transaction has not come to yet."""
    whole = cluster()
    open_transaction = apply_all(
        whole, [BeginTransactionRecord(), RemoveTopicRecord(topic_id=ORDERS)]
    )

    assert list(full_requests(SENDER, open_transaction, RAFT_EPOCH)) == list(
        full_requests(SENDER, whole, RAFT_EPOCH)
    )


def test_a_deleted_topic_is_forgotten_before_its_replicas_are_deleted() -> None:
    requests = changed(RemoveTopicRecord(topic_id=ORDERS))

    both = [("UpdateMetadataRequest", 1), ("StopReplicaRequest", -1)]
    assert order(requests) == {0: both, 1: both}
    update, stop = [item.request for item in requests if item.broker_id == 0]
    assert isinstance(update, UpdateMetadataRequest)
    assert isinstance(stop, StopReplicaRequest)
    assert [state.leader for state in update.topic_states[0].partition_states] == [-2, -2]
    assert stop.topic_states[0].partition_states == [
        StopReplicaPartitionState(partition_index=0, leader_epoch=-2, delete_partition=True)
    ]


def test_a_topic_created_again_is_deleted_before_its_replicas_are_told_of_the_new_one() -> None:
    again = PartitionRecord(
        topic_id=BILLS, partition_id=0, replicas=(1,), isr=(1,), leader=1, leader_epoch=0
    )
    requests = changed(
        RemoveTopicRecord(topic_id=ORDERS), TopicRecord(name="orders", topic_id=BILLS), again
    )

    first = [("UpdateMetadataRequest", 1), ("StopReplicaRequest", -1)]
    assert order(requests) == {
        0: [*first, ("UpdateMetadataRequest", 1)],
        1: [*first, ("LeaderAndIsrRequest", 1), ("UpdateMetadataRequest", 1)],
    }
    old, stop, lead, new = [item.request for item in requests if item.broker_id == 1]
    assert isinstance(old, UpdateMetadataRequest)
    assert isinstance(stop, StopReplicaRequest)
    assert isinstance(lead, LeaderAndIsrRequest)
    assert isinstance(new, UpdateMetadataRequest)
    assert [state.leader_epoch for state in stop.topic_states[0].partition_states] == [-2, -2]
    ids = [request.topic_states[0].topic_id for request in (old, lead, new)]
    assert ids == [UUID(int=0), BILLS, BILLS]


def test_a_replica_taken_out_of_a_partition_is_deleted() -> None:
    requests = changed(
        PartitionChangeRecord(topic_id=ORDERS, partition_id=0, replicas=(0, 2), isr=(0, 2))
    )

    assert order(requests) == {
        0: [("LeaderAndIsrRequest", 1), ("UpdateMetadataRequest", 1)],
        1: [("UpdateMetadataRequest", 1), ("StopReplicaRequest", -1)],
    }


def test_a_broker_that_is_unfenced_gets_everything_and_the_others_its_address() -> None:
    requests = changed(BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=53, fenced=-1))

    others = [("UpdateMetadataRequest", 0), ("UpdateMetadataRequest", 1)]
    assert order(requests) == {
        0: others,
        1: others,
        3: [
            ("UpdateMetadataRequest", 0),
            ("LeaderAndIsrRequest", 1),
            ("UpdateMetadataRequest", 1),
        ],
    }


def test_a_broker_that_is_new_needs_not_forget() -> None:
    requests = changed(
        BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=53, fenced=-1),
        RemoveTopicRecord(topic_id=ORDERS),
    )

    assert order(requests)[3] == [("UpdateMetadataRequest", 0), ("StopReplicaRequest", -1)]


def test_a_broker_that_comes_back_as_kraft_is_told_nothing() -> None:
    requests = changed(broker(1, zk=False, fenced=True))

    assert order(requests) == {0: [("UpdateMetadataRequest", 0)]}


def test_a_change_of_neither_brokers_nor_topics_sends_nothing() -> None:
    assert changed(FeatureLevelRecord(name="other", feature_level=1)) == []


def test_a_new_topic_goes_to_its_replicas_and_to_every_cache() -> None:
    requests = changed(TopicRecord(name="bills", topic_id=BILLS), partition(BILLS, 0, (1,)))

    assert order(requests) == {
        0: [("UpdateMetadataRequest", 1)],
        1: [("LeaderAndIsrRequest", 1), ("UpdateMetadataRequest", 1)],
    }
