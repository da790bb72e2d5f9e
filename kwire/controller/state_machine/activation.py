"""Which metadata a controller of kwire's may lead, by the features that its log has finalised."""

from __future__ import annotations

from kwire.errors import LocalError
from kwire.image.features import FeaturesImage, ZkMigrationState
from kwire.messages.metadata_versions import ELIGIBLE_LEADER_REPLICAS


class CannotLead(LocalError):
    """The metadata has something that this controller must not write on; another may lead."""


def check_can_lead(features: FeaturesImage) -> None:
    """Check what the log, or else its bootstrap records, finalise. CannotLead, with what to do.

    1. Eligible leader replicas above level 0 (KIP-966): half of their rules lose data.
    2. A move from ZooKeeper that is prepared or under way (KIP-866): the leader has to write to
       ZooKeeper, too.
    """
    level = features.level(ELIGIBLE_LEADER_REPLICAS)
    if level:
        raise CannotLead(
            f"{ELIGIBLE_LEADER_REPLICAS} is at {level}, and kwire leads clusters at level 0 only:"
            " downgrade the feature with Kafka's controllers, or format an empty directory with"
            f" --feature {ELIGIBLE_LEADER_REPLICAS}=0"
        )
    state = features.zk_migration_state
    if state in (ZkMigrationState.PRE_MIGRATION, ZkMigrationState.MIGRATION):
        raise CannotLead(
            f"the move from ZooKeeper is in state {ZkMigrationState(state).name}, and kwire writes"
            " nothing to ZooKeeper: finish it with the controllers of Kafka 3.9 first"
        )
