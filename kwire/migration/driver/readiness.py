"""The conditions before a copy: every controller and ZooKeeper broker takes part (KIP-866)."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.image import MetadataImage


def unready_controllers(image: MetadataImage, voter_ids: Iterable[int]) -> str | None:
    """Return why the quorum cannot begin a migration; None if it can.

    Java: QuorumFeatures.reasonAllControllersZkMigrationNotReady.

    1. The metadata.version must have ZkMigrationStateRecord (3.4).
    2. Before 3.7 controllers do not register: nothing can be asked of them.
    3. Every voter has registered with zookeeper.metadata.migration.enable.
    """
    version = image.features.metadata_version
    # 1.
    if not version.supports_migration:
        return f"the metadata.version {version.name} is too low"
    # 2.
    if not version.supports_controller_registration:
        return None
    # 3.
    for id in sorted(voter_ids):
        controller = image.cluster.controllers.get(id)
        if controller is None:
            return f"controller {id} is not registered"
        if not controller.zk_migration_ready:
            return f"controller {id} has not enabled zookeeper.metadata.migration.enable"
    return None


def unregistered_brokers(image: MetadataImage, broker_ids: Iterable[int]) -> list[int]:
    """Return those of the brokers that are not registered as migrating ZooKeeper brokers."""
    brokers = image.cluster.brokers
    return sorted(
        id for id in broker_ids if id not in brokers or not brokers[id].is_migrating_zk_broker
    )
