"""The two sides of a migration as they were seen at one moment (KIP-866).

Partial sight is normal: a side is None if it could not be seen, and says why beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kwire.errors import KwireError
from kwire.image import MetadataImage
from kwire.messages.zk_migration_state import ZkMigrationState, migration_state_name
from kwire.zookeeper.znodes import MigrationZnode

BEHIND = 20
"""Records that the dual write may be behind while it works: it follows batch by batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZooKeeperController:
    """The content of /controller. kraft_epoch: -1 if it is a broker in ZooKeeper mode."""

    node_id: int
    kraft_epoch: int = -1
    is_ephemeral: bool = False

    @property
    def is_kraft(self) -> bool:
        """True if a KRaft controller claimed it."""
        return self.kraft_epoch >= 0

    def __str__(self) -> str:
        if self.is_kraft:
            return f"KRaft controller {self.node_id}, epoch {self.kraft_epoch}"
        return f"ZooKeeper broker {self.node_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ZooKeeperFacts:
    """The state of ZooKeeper.

    controller, controller_epoch, migration: None if the znode is not there. broker_ids: of
    /brokers/ids. assigned: of each broker in assignments, its topics; None if they were not read.
    topics: of /brokers/topics; None if they were not read.
    """

    cluster_id: str | None = None
    controller: ZooKeeperController | None = None
    controller_epoch: int | None = None
    migration: MigrationZnode | None = None
    broker_ids: frozenset[int] = frozenset()
    assigned: Mapping[int, tuple[str, ...]] | None = None
    topics: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KRaftFacts:
    """The state of the metadata quorum.

    image: the committed metadata up to `end`, the offset after its last record; None if no leader
    gave it, and `no_image` says why. ready_tags: ZkMigrationReady of each controller that answered.
    silent: of controllers that did not answer, why.
    """

    servers: str = ""
    cluster_id: str | None = None
    leader_id: int = -1
    epoch: int = -1
    voters: frozenset[int] = frozenset()
    image: MetadataImage | None = None
    end: int = 0
    no_image: str = ""
    ready_tags: Mapping[int, bool] = field(default_factory=dict)
    silent: tuple[str, ...] = ()

    @property
    def state(self) -> int | None:
        """The latest ZkMigrationStateRecord; None if the log could not be read."""
        return None if self.image is None else self.image.features.zk_migration_state


def state_name(state: int | None) -> str:
    """Return Kafka's name of a state and its number: `PRE_MIGRATION (2)`."""
    if state is None:
        return "not known"
    return f"{migration_state_name(state) or 'unknown'} ({state})"


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationFacts:
    """Both sides. no_zookeeper, no_kraft: why a side is None, empty if nobody asked for it.

    connect: ZooKeeper as the user wrote it, also if it was not seen; empty if nobody asked for it.
    zookeeper_failure: the error behind no_zookeeper.
    """

    connect: str = ""
    zookeeper: ZooKeeperFacts | None = None
    no_zookeeper: str = ""
    zookeeper_failure: KwireError | None = None
    kraft: KRaftFacts | None = None
    no_kraft: str = ""

    @property
    def has_asked_kraft(self) -> bool:
        """True if the controllers were asked, whether they answered or not."""
        return self.kraft is not None or bool(self.no_kraft)

    @property
    def state(self) -> int | None:
        """The state in the metadata log; None if it is not known."""
        return None if self.kraft is None else self.kraft.state

    @property
    def migration(self) -> MigrationZnode | None:
        """The content of /migration; None if it is not known or not there."""
        return None if self.zookeeper is None else self.zookeeper.migration

    @property
    def is_copied(self) -> bool:
        """True if /migration says that a copy was made."""
        return self.migration is not None and self.migration.is_copied

    @property
    def has_left_over_migration(self) -> bool:
        """True if /migration tells of a copy that the metadata log does not have.

        It is left from an earlier migration: what Kafka 3.9's driver makes of it is in
        docs/decisions/0086.
        """
        kraft = self.kraft
        # Without a leader the log is as it was last: the copy may be in it by now.
        is_seen = kraft is not None and kraft.leader_id >= 0 and not kraft.no_image
        return self.is_copied and is_seen and self.state == ZkMigrationState.PRE_MIGRATION

    @property
    def is_claimed(self) -> bool:
        """True if ZooKeeper has a copy, and a KRaft controller in /controller."""
        controller = self.zookeeper.controller if self.zookeeper else None
        return self.is_copied and controller is not None and controller.is_kraft

    @property
    def is_kraft_beside_zookeeper(self) -> bool:
        """True if the metadata log is KRaft's own, while ZooKeeper has a cluster that lives."""
        zookeeper = self.zookeeper
        if self.state != ZkMigrationState.NONE or zookeeper is None:
            return False
        controller = zookeeper.controller
        return bool(zookeeper.broker_ids) or (controller is not None and not controller.is_kraft)

    @property
    def lag(self) -> int | None:
        """The records of the log that are not in ZooKeeper yet; None if not in dual write."""
        kraft, position = self.kraft, self.migration
        if kraft is None or kraft.image is None or position is None or not position.is_copied:
            return None
        if kraft.state != ZkMigrationState.MIGRATION:
            return None
        return max(0, kraft.end - 1 - position.kraft_metadata_offset)

    @property
    def claimed_epoch(self) -> int | None:
        """The epoch in which a controller of this quorum claimed /controller; None if none did."""
        kraft, controller = self.kraft, self.zookeeper.controller if self.zookeeper else None
        if kraft is None or controller is None or not controller.is_kraft:
            return None
        return controller.kraft_epoch if controller.node_id in kraft.voters else None

    @property
    def is_behind(self) -> bool:
        """True if ZooKeeper has nothing of the leader's epoch, or lags more than a dual write."""
        kraft, position = self.kraft, self.migration
        if not self.lag or kraft is None or position is None:
            return False
        return self.lag > BEHIND or position.kraft_metadata_epoch < kraft.epoch

    @property
    def unwritten_topics(self) -> tuple[str, ...]:
        """The topics of the metadata log that ZooKeeper lacks, as far as both were read."""
        kraft, zookeeper = self.kraft, self.zookeeper
        if kraft is None or kraft.image is None or zookeeper is None or zookeeper.topics is None:
            return ()
        return tuple(sorted(set(kraft.image.topics.ids) - zookeeper.topics))
