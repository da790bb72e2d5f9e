"""The nodes that are ready for a migration, and those that are not, and why.

Java: KRaftMigrationDriver.isControllerQuorumReadyForMigration, areZkBrokersReadyForMigration;
QuorumFeatures.reasonAllControllersZkMigrationNotReady.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kwire.image import MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.image.features import ZkMigrationState
from kwire.messages.metadata_versions import METADATA_VERSION, NAMES
from kwire.migration.operator.facts import KRaftFacts, MigrationFacts

ENABLE = "zookeeper.metadata.migration.enable"
TOPICS_SHOWN = 2


class BrokerMode(StrEnum):
    """The mode in which a broker is registered with the controllers. NONE: it is not."""

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerReadiness:
    """A voter. registered, tag: zkMigrationReady of its registration and of its ApiVersions.

    Both are None if there is none. is_ready: as the driver decides it, None if not known.
    """

    node_id: int
    is_ready: bool | None
    registered: bool | None = None
    tag: bool | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerReadiness:
    """A broker that either side knows.

    in_zookeeper: it is in /brokers/ids, None if not known. is_ready: for what comes next.
    """

    node_id: int
    is_ready: bool | None
    mode: BrokerMode | None
    in_zookeeper: bool | None = None
    assigned_topics: int | None = None
    reason: str = ""


def controllers(facts: MigrationFacts) -> tuple[ControllerReadiness, ...]:
    """Return every voter in order of its id."""
    kraft = facts.kraft
    if kraft is None:
        return ()
    ids = kraft.voters or frozenset(kraft.ready_tags)
    return tuple(_controller(kraft, node_id) for node_id in sorted(ids))


def _controller(kraft: KRaftFacts, node_id: int) -> ControllerReadiness:
    """Return a voter.

    Before metadata.version 3.7-IV0 controllers do not register: Kafka 3.6 looks at the tag of each,
    Kafka 3.9 waits for none.
    """
    tag = kraft.ready_tags.get(node_id)
    image = kraft.image
    if image is None:
        reason = "not known: the metadata log was not read"
        return ControllerReadiness(node_id=node_id, is_ready=None, tag=tag, reason=reason)
    registration = image.cluster.controllers.get(node_id)
    registered = None if registration is None else registration.zk_migration_ready
    is_ready, reason = _decided(image, registered, tag)
    if is_ready and tag is None:
        reason = "as it registered; it does not answer now"
    if image.features.zk_migration_state == ZkMigrationState.POST_MIGRATION:
        is_ready, reason = None, "" if tag is not None else "it does not answer"
    return ControllerReadiness(
        node_id=node_id, is_ready=is_ready, registered=registered, tag=tag, reason=reason
    )


def _decided(
    image: MetadataImage, registered: bool | None, tag: bool | None
) -> tuple[bool | None, str]:
    """Return if a controller is ready, and why not.

    In state MIGRATION the driver asks for none; one without the setting finalises when it leads.
    """
    if not image.features.metadata_version.supports_controller_registration:
        text = "by its ApiVersions: controllers register from metadata.version 3.7-IV0 on"
        return tag, text
    if registered is None:
        is_ready, reason = False, "not registered: start it, or look at its log"
    elif registered:
        return True, ""
    elif image.features.zk_migration_state == ZkMigrationState.MIGRATION:
        return None, f"registered with {ENABLE}=false: finalises the migration if it leads"
    else:
        is_ready, reason = False, f"registered with {ENABLE}=false: set it, and restart it"
    return is_ready, f"its ApiVersions say ready; {reason}" if tag else reason


def brokers(facts: MigrationFacts) -> tuple[BrokerReadiness, ...]:
    """Return every broker that runs, is registered, or has replicas, in order of its id."""
    ids: set[int] = set()
    if facts.zookeeper is not None:
        ids |= facts.zookeeper.broker_ids | set(facts.zookeeper.assigned or ())
    image = facts.kraft.image if facts.kraft else None
    if image is not None:
        ids |= set(image.cluster.brokers)
    return tuple(_broker(facts, node_id) for node_id in sorted(ids))


def _broker(facts: MigrationFacts, node_id: int) -> BrokerReadiness:
    zookeeper = facts.zookeeper
    image = facts.kraft.image if facts.kraft else None
    registration = None if image is None else image.cluster.brokers.get(node_id)
    in_zookeeper = None if zookeeper is None else node_id in zookeeper.broker_ids
    topics = None if zookeeper is None or zookeeper.assigned is None else zookeeper.assigned
    reasons = [] if image is None else [*_reasons(facts, node_id, registration)]
    return BrokerReadiness(
        node_id=node_id,
        is_ready=None if image is None else not reasons,
        mode=None if image is None else _mode(registration),
        in_zookeeper=in_zookeeper,
        assigned_topics=None if topics is None else len(topics.get(node_id, ())),
        reason="; ".join(reasons),
    )


def _mode(registration: BrokerRegistration | None) -> BrokerMode:
    if registration is None:
        return BrokerMode.NONE
    return BrokerMode.ZOOKEEPER if registration.is_migrating_zk_broker else BrokerMode.KRAFT


def _reasons(
    facts: MigrationFacts, node_id: int, registration: BrokerRegistration | None
) -> Iterator[str]:
    """Yield why a broker is not ready for what comes next, which depends on the state."""
    if registration is None:
        yield _absence(facts, node_id)
        return
    if facts.state == ZkMigrationState.PRE_MIGRATION and not registration.is_migrating_zk_broker:
        yield "registered as a KRaft broker: restart it in migration mode"
    if facts.state == ZkMigrationState.POST_MIGRATION and registration.is_migrating_zk_broker:
        yield "still a ZooKeeper broker, though the migration is finalised: restart it as KRaft"
    yield from _other_version(facts, registration)
    if registration.fenced:
        yield "fenced: it sends no heartbeats"


def _absence(facts: MigrationFacts, node_id: int) -> str:
    zookeeper = facts.zookeeper
    if zookeeper is not None and node_id in zookeeper.broker_ids:
        return (
            f"not registered with the controllers: restart it with {ENABLE}=true and their"
            " addresses; if it has both, see its log"
        )
    topics = (zookeeper.assigned or {}).get(node_id, ()) if zookeeper else ()
    shown = ", ".join(topics[:TOPICS_SHOWN]) + (", ..." if len(topics) > TOPICS_SHOWN else "")
    return f"runs nowhere, and has replicas of {shown}: start it, or move its replicas away"


def _other_version(facts: MigrationFacts, registration: BrokerRegistration) -> Iterator[str]:
    """Yield a sentence if the broker's inter.broker.protocol.version is another level."""
    image = facts.kraft.image if facts.kraft else None
    levels = registration.features.get(METADATA_VERSION)
    if image is None or levels is None or not registration.is_migrating_zk_broker:
        return
    finalised = image.features.metadata_version.level
    if finalised not in levels:
        yield (
            f"its inter.broker.protocol.version is {_release(levels.max_version)}, metadata.version"
            f" is {_release(finalised)}: they must be the same"
        )


def _release(level: int) -> str:
    return NAMES.get(level, str(level))
