"""Check a migration from ZooKeeper that is under way (KIP-866); Kafka 4 has none."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.doctor.evidence import Evidence
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, fix
from kwire.image import MetadataImage
from kwire.messages.zk_migration_state import ZkMigrationState, migration_state_name
from kwire.text.phrases import ids_text, listed

WAITS = FindingKind(
    id="migration/waits",
    verdict=FindingVerdict.WARNING,
    meaning="A migration from ZooKeeper has not begun: the quorum waits for brokers to register"
    " with zookeeper.metadata.migration.enable.",
    advice="set zookeeper.metadata.migration.enable=true and the controllers' addresses on every"
    " ZooKeeper broker, and restart them one by one; kwire migration status tells what is waited"
    " for",
    source="KIP-866",
)
UNDER_WAY = FindingKind(
    id="migration/under-way",
    verdict=FindingVerdict.WARNING,
    meaning="A migration from ZooKeeper is under way: metadata is written to both, and can still"
    " be rolled back.",
    advice="compare both sides with kwire migration verify; restart the brokers in KRaft mode one"
    " by one; finalise only when none is a ZooKeeper broker any more",
    source="KIP-866",
)
TOO_EARLY = FindingKind(
    id="migration/finalized-too-early",
    verdict=FindingVerdict.PROBLEM,
    meaning="The migration from ZooKeeper is finalised, but brokers are still registered as"
    " ZooKeeper brokers.",
    advice="restart these brokers in KRaft mode",
    source="KAFKA-20960",
)
NONE = FindingKind(
    id="migration/ok",
    verdict=FindingVerdict.OK,
    meaning="No migration from ZooKeeper is under way.",
)
KINDS = (WAITS, UNDER_WAY, TOO_EARLY, NONE)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report the stage of a migration, and the brokers that it waits for."""
    image = evidence.image
    if image is None:
        return
    state = image.features.zk_migration_state
    name = migration_state_name(state) or str(state)
    remaining = sorted(
        broker.id for broker in image.cluster.brokers.values() if broker.is_migrating_zk_broker
    )
    if state == ZkMigrationState.PRE_MIGRATION:
        text = f"the migration waits in state {name}: {_registered(image, remaining)}"
        enable, _, _ = WAITS.advice.partition("; ")
        yield WAITS(text, fixes=[fix(enable, STATUS)])
    elif state == ZkMigrationState.MIGRATION:
        text = f"the migration is in state {name}: {_registered(image, remaining)}"
        roll = (
            f"restart {ids_text('broker', remaining)} in KRaft mode one by one" if remaining else ""
        )
        yield UNDER_WAY(text, fixes=[fix(COMPARE, roll, FINALISE, STATUS)])
    elif remaining:
        verb = "is still a ZooKeeper broker" if len(remaining) == 1 else "are ZooKeeper brokers"
        text = f"the state of the migration is {name}, but {listed(remaining)} {verb}"
        yield TOO_EARLY(text, fixes=[fix(f"restart {ids_text('broker', remaining)} in KRaft mode")])
    elif state == ZkMigrationState.POST_MIGRATION:
        yield NONE(f"the migration from ZooKeeper is finalised: its state is {name}")
    else:
        yield NONE("no migration from ZooKeeper is under way")


COMPARE = "compare both sides: kwire migration verify with the address of ZooKeeper"
FINALISE = "finalise when no broker is a ZooKeeper broker any more"
STATUS = "kwire migration status"


def _registered(image: MetadataImage, remaining: list[int]) -> str:
    if not image.cluster.brokers:
        return "no broker is known to the quorum"
    text = "no broker is a ZooKeeper broker any more"
    return f"{listed(remaining)} still registered as ZooKeeper brokers" if remaining else text
