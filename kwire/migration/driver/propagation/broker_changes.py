"""The brokers that are told, and how they come and go (MigrationPropagator.calculateBrokerChanges).

Java compares kafka.cluster.Broker, which has no epoch: a broker whose listeners, rack or features
are others than before is removed and added, one that only has a new epoch is neither.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kwire.image import MetadataImage
from kwire.image.broker import BrokerRegistration


class BrokerChanges(Struct, frozen=True, kw_only=True):
    """The connections that an image does not need any more, and the brokers to connect to.

    removed: ids; do these first, since a broker that is changed is in both.
    """

    added: tuple[BrokerRegistration, ...] = ()
    removed: tuple[int, ...] = ()

    @classmethod
    def of(cls, told: Mapping[int, BrokerRegistration], image: MetadataImage) -> BrokerChanges:
        """Return the changes from brokers that are told so far to those of an image."""
        brokers = {id: broker for id, broker in image.cluster.brokers.items() if is_told(broker)}
        added = [
            broker
            for id, broker in brokers.items()
            if id not in told or not _is_same(told[id], broker)
        ]
        removed = [
            id
            for id, broker in told.items()
            if id not in brokers or not _is_same(broker, brokers[id])
        ]
        return cls(
            added=tuple(sorted(added, key=lambda broker: broker.id)), removed=tuple(sorted(removed))
        )


def is_told(broker: BrokerRegistration) -> bool:
    """True if requests go to the broker: it runs with ZooKeeper, migrates and is not fenced."""
    return broker.is_migrating_zk_broker and not broker.fenced


def _is_same(one: BrokerRegistration, other: BrokerRegistration) -> bool:
    # Images share the registrations that did not change.
    return one is other or (
        {endpoint.name: endpoint for endpoint in one.endpoints}
        == {endpoint.name: endpoint for endpoint in other.endpoints}
        and one.rack == other.rack
        and one.features == other.features
    )
