"""Versions and fields of requests that a controller sends to ZooKeeper-era brokers (KIP-866)."""

from uuid import UUID

from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.partition import PartitionRegistration
from kwire.messages.a04_leader_and_isr import LeaderAndIsrRequest
from kwire.messages.a06_update_metadata import UpdateMetadataRequest
from kwire.messages.control_requests import ControlRequestType
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.migration.driver.propagation import ControlRequestSender
from kwire.migration.driver.propagation.control_requests import ControlRequestBatch

SENDER = ControlRequestSender(node_id=3000, zk_epoch=5, inter_broker_listener="PLAINTEXT")
PARTITION = PartitionRegistration(
    replicas=(0, 7), directories=(UUID(int=0), UUID(int=0)), isr=(0,), leader=0
)


def with_broker(level: int) -> MetadataImage:
    broker = RegisterBrokerRecord(broker_id=0, is_migrating_zk_broker=True, fenced=False)
    return apply_all(
        EMPTY, [FeatureLevelRecord(name="metadata.version", feature_level=level), broker]
    )


def batch(level: int) -> ControlRequestBatch:
    return ControlRequestBatch(
        SENDER, with_broker(level), raft_epoch=3, type=ControlRequestType.FULL
    )


def test_versions_are_those_of_the_metadata_version() -> None:
    versions = {}
    for level in (7, 8, 21):
        requests = batch(level)
        requests.lead_or_follow([0], "orders", 0, PARTITION)
        requests.delete_replicas([0], "bills", 0, leader_epoch=-2)
        made = list(requests.requests())
        versions[level] = [(type(item.request).key, item.version) for item in made]
        for item in made:
            kind = type(item.request)
            assert kind.decode(item.request.encode(item.version), item.version)

    assert versions == {
        7: [(4, 6), (6, 7), (5, 3)],
        8: [(4, 7), (6, 8), (5, 4)],
        21: [(4, 7), (6, 8), (5, 4)],
    }


def test_a_leader_without_the_listener_of_the_brokers_is_left_out() -> None:
    requests = batch(21)
    requests.lead_or_follow([0], "orders", 0, PARTITION)

    (leader_and_isr, update) = [item.request for item in requests.requests()]
    assert isinstance(leader_and_isr, LeaderAndIsrRequest)
    assert leader_and_isr.live_leaders == []
    assert isinstance(update, UpdateMetadataRequest)
    # 7 is not registered.
    assert update.topic_states[0].partition_states[0].offline_replicas == (7,)


def test_brokers_that_are_not_told_have_no_requests() -> None:
    requests = batch(21)
    requests.lead_or_follow([7], "orders", 0, PARTITION)
    requests.delete_replicas([7], "bills", 0, leader_epoch=-2)

    assert [(item.broker_id, type(item.request).key) for item in requests.requests()] == [(0, 6)]
