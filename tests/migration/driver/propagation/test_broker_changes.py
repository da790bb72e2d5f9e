"""The brokers to connect to, as an image follows another (MigrationPropagator, KIP-866)."""

from uuid import UUID

import pytest
from msgspec.structs import replace
from rpds import HashTrieMap

from kwire.image import EMPTY, MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.image.endpoint import Endpoint
from kwire.migration.driver.propagation import BrokerChanges, is_told
from kwire.net.negotiation import VersionRange

INSIDE = Endpoint(name="INSIDE", host="b1", port=9092, security_protocol=0)
OUTSIDE = Endpoint(name="OUTSIDE", host="b1", port=9093, security_protocol=3)
BROKER = BrokerRegistration(
    id=1,
    epoch=50,
    incarnation_id=UUID(int=1),
    endpoints=(INSIDE, OUTSIDE),
    fenced=False,
    is_migrating_zk_broker=True,
)


def image(*brokers: BrokerRegistration) -> MetadataImage:
    by_id = HashTrieMap({broker.id: broker for broker in brokers})
    return replace(EMPTY, cluster=replace(EMPTY.cluster, brokers=by_id))


def test_the_first_image_adds_its_brokers() -> None:
    second = replace(BROKER, id=0)

    changes = BrokerChanges.of({}, image(BROKER, second))

    assert changes == BrokerChanges(added=(second, BROKER))


@pytest.mark.parametrize(
    "now",
    [replace(BROKER, fenced=True), replace(BROKER, is_migrating_zk_broker=False), None],
    ids=["fenced", "runs as KRaft", "unregistered"],
)
def test_a_broker_that_is_told_no_more_is_removed(now: BrokerRegistration | None) -> None:
    after = image(now) if now else EMPTY

    assert BrokerChanges.of({1: BROKER}, after) == BrokerChanges(removed=(1,))
    assert not now or not is_told(now)


@pytest.mark.parametrize(
    "now",
    [
        replace(BROKER, endpoints=(INSIDE,)),
        replace(BROKER, rack="a"),
        replace(BROKER, features=HashTrieMap({"metadata.version": VersionRange(1, 21)})),
    ],
    ids=["listeners", "rack", "features"],
)
def test_a_broker_that_registers_otherwise_is_connected_to_anew(now: BrokerRegistration) -> None:
    assert BrokerChanges.of({1: BROKER}, image(now)) == BrokerChanges(added=(now,), removed=(1,))


@pytest.mark.parametrize(
    "now",
    [replace(BROKER, epoch=51), replace(BROKER, endpoints=(OUTSIDE, INSIDE))],
    ids=["epoch", "order of listeners"],
)
def test_a_broker_that_kafka_finds_equal_keeps_its_connection(now: BrokerRegistration) -> None:
    assert BrokerChanges.of({1: BROKER}, image(now)) == BrokerChanges()
