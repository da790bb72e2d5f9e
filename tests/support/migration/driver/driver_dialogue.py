"""A driver of the migration with a ZooKeeper in memory and a metadata log that is a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.errors import KwireError
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.changes import MetadataChanges
from kwire.image.features import ZkMigrationState
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages.metadata_versions import METADATA_VERSION
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.register_controller import RegisterControllerRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.migration.driver.driver import MigrationDriver
from kwire.migration.driver.driver_core import DualWrites
from kwire.migration.driver.driver_states import MigrationDriverState
from kwire.migration.driver.effects import (
    CheckCopy,
    CopyMetadata,
    DriverEffect,
    DriverRequest,
    FindDifferences,
    LogLine,
    MetadataCopied,
    Perform,
    ReadAssignedBrokers,
    ReadBrokerIds,
    ReadTree,
    ReadZkController,
    RecoverMigration,
    SendFullMetadata,
    SendMetadataChanges,
    WriteZooKeeper,
    ZkControllerFound,
)
from kwire.migration.driver.events import (
    ControllerChanged,
    DriverEvent,
    MetadataPublished,
    NotPerformed,
    Performed,
    PollDriver,
    StartDriver,
)
from kwire.migration.driver.leadership import ZkMigrationLeadershipState
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.zookeeper import ConnectionLost, Create, Delete, SetData, ZnodeOperation, ZooKeeperError
from kwire.zookeeper.znodes.controller import ControllerEpochZnode, ControllerZnode
from kwire.zookeeper.znodes.migration import MigrationZnode
from migrating.memory_zookeeper import Loss, MemoryZooKeeper

NODE, OTHER = 3000, 3001
TOPICS = "/brokers/topics"


class NoCarrier:
    """Calls functions at once."""

    def to_server(self, act: Callable[[], object]) -> None:
        """Call a function."""
        act()

    def to_client(self, act: Callable[[], object]) -> None:
        """Call a function."""
        act()


def topic_writes(before: Iterable[str], after: Iterable[str]) -> list[ZnodeWrite]:
    """Return the writes that make the topics of ZooKeeper those of an image."""
    old, new = set(before), set(after)
    deletions: list[ZnodeOperation] = [Delete(f"{TOPICS}/{name}") for name in sorted(old - new)]
    creations: list[ZnodeOperation] = [
        Create(f"{TOPICS}/{name}", b"{}") for name in sorted(new - old)
    ]
    return [
        ZnodeWrite(type="Topic", description=operation.path, operations=(operation,))
        for operation in deletions + creations
    ]


def dual_writes(changes: MetadataChanges, controller_epoch: int) -> list[ZnodeWrite]:
    """Return the writes of what has changed, as far as these tests know: topics."""
    return topic_writes(changes.before.topics.ids, changes.after.topics.ids)


def image_of(*records: MetadataRecord, on: MetadataImage = EMPTY) -> MetadataImage:
    """Return an image after records."""
    return apply_all(on, records)


def migration_state(state: int) -> ZkMigrationStateRecord:
    """Return the record of a state."""
    return ZkMigrationStateRecord(zk_migration_state=state)


def ready_controllers(*ids: int, ready: bool = True) -> list[MetadataRecord]:
    """Return a metadata.version with registrations, and those of some controllers."""
    return [
        FeatureLevelRecord(name=METADATA_VERSION, feature_level=15),
        *(
            RegisterControllerRecord(
                controller_id=id, incarnation_id=UUID(int=id), zk_migration_ready=ready
            )
            for id in ids
        ),
    ]


def zk_brokers(*ids: int) -> list[MetadataRecord]:
    """Return the registrations of ZooKeeper brokers that migrate."""
    return [
        RegisterBrokerRecord(
            broker_id=id,
            broker_epoch=id,
            incarnation_id=UUID(int=id),
            is_migrating_zk_broker=True,
            fenced=False,
        )
        for id in ids
    ]


def topic(name: str) -> TopicRecord:
    """Return the record of a topic, whose id comes of its name."""
    return TopicRecord(name=name, topic_id=UUID(bytes=name.encode().ljust(16, b"_")))


PRE_MIGRATION = migration_state(ZkMigrationState.PRE_MIGRATION)
MIGRATION = migration_state(ZkMigrationState.MIGRATION)
READY: list[MetadataRecord] = [*ready_controllers(4, 5, 6), PRE_MIGRATION, *zk_brokers(1, 2, 3)]
"""The records of a log when nothing stands in the way of the copy."""


def zookeeper_cluster(*brokers: int, topics: Iterable[str] = ()) -> MemoryZooKeeper:
    """Return a ZooKeeper that broker 1 controls, in epoch 7."""
    zookeeper = MemoryZooKeeper()
    session = zookeeper.open_session(NoCarrier())
    controller = ControllerZnode(broker_id=1, timestamp_ms=5)
    operations: list[ZnodeOperation] = [
        *(Create(path) for path in ("/brokers", "/brokers/ids", TOPICS)),
        *(Create(f"/brokers/ids/{id}", ephemeral=True) for id in brokers),
        *(Create(f"{TOPICS}/{name}", b"{}") for name in topics),
        Create("/controller", controller.encode(), ephemeral=True),
        Create("/controller_epoch", ControllerEpochZnode(7).encode()),
    ]
    zookeeper.multi(session, operations)
    return zookeeper


@dataclass
class DriverDialogue:
    """Gives a driver events, performs its requests at once, and keeps its other effects.

    errors: raised by the next requests of a type, one each. asked: the requests, in order.
    assigned: brokers that have replicas.
    """

    zookeeper: MemoryZooKeeper
    node_id: int = NODE
    voters: Sequence[int] = (4, 5, 6)
    assigned: frozenset[int] = frozenset()
    now: int = 1_000
    errors: dict[type, list[KwireError]] = field(default_factory=dict)
    asked: list[DriverRequest] = field(default_factory=list)
    effects: list[DriverEffect] = field(default_factory=list)
    states: list[MigrationDriverState] = field(default_factory=list)
    holds: type | None = None
    held: Perform | None = None
    copied_at: OffsetAndEpoch = OffsetAndEpoch(offset=100, epoch=1)
    dual_write: DualWrites = dual_writes

    def __post_init__(self) -> None:
        self.driver = MigrationDriver(
            self.node_id,
            voters=lambda: self.voters,
            dual_writes=lambda changes, epoch: self.dual_write(changes, epoch),
        )
        self.session = self.zookeeper.open_session(NoCarrier())
        self.image = EMPTY
        self.offset = 0

    def give(self, event: DriverEvent) -> DriverDialogue:
        """Give the driver an event, and answers until it asks no more."""
        effects = self.driver.step(event, self.now)
        self.states.append(self.driver.state)
        self.effects += effects
        for effect in effects:
            if isinstance(effect, Perform):
                self.asked.append(effect.request)
                if self.holds is type(effect.request):
                    self.held = effect
                    continue
                self.give(self._answer(effect))
        return self

    def start(self) -> DriverDialogue:
        """Start the driver."""
        return self.give(StartDriver())

    def lead(self, leader_id: int | None = NODE, epoch: int = 1) -> DriverDialogue:
        """Tell of a leader."""
        return self.give(ControllerChanged(leader_id=leader_id, epoch=epoch))

    def publish(
        self, *records: MetadataRecord, at: int, epoch: int = 1, snapshot: bool = False
    ) -> DriverDialogue:
        """Publish an image with records on top of the one before."""
        before, self.image = self.image, apply_all(self.image, records)
        changes = None if snapshot else MetadataChanges.of(before, self.image, records)
        position = OffsetAndEpoch(offset=at, epoch=epoch)
        return self.give(MetadataPublished(image=self.image, at=position, changes=changes))

    def wait(self, polls: int = 1) -> DriverDialogue:
        """Let time pass until so many polls were due."""
        for _ in range(polls):
            assert self.driver.deadline is not None, "the driver polls no more"
            self.now = max(self.now, self.driver.deadline)
            self.give(PollDriver())
        return self

    def release(self) -> DriverDialogue:
        """Perform the request that was held."""
        self.holds = None
        assert self.held is not None
        return self.give(self._answer(self.held))

    @property
    def state(self) -> str:
        """The driver's state."""
        return self.driver.state.name

    @property
    def passed(self) -> list[str]:
        """The states so far, as the log tells them."""
        lines = [line for line in self.lines if "transitioning" in line]
        return [line.split(" to ")[1].split()[0] for line in lines]

    @property
    def lines(self) -> list[str]:
        """The lines that were logged."""
        return [effect.text for effect in self.effects if isinstance(effect, LogLine)]

    def of(self, kind: type) -> list[Any]:
        """Return the effects of a type."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    @property
    def sent(self) -> list[str]:
        """The kinds of metadata sent to brokers: `full` and `changes`."""
        kinds = {SendFullMetadata: "full", SendMetadataChanges: "changes"}
        return [kinds[type(effect)] for effect in self.effects if type(effect) in kinds]

    # ZooKeeper

    @property
    def topics(self) -> list[str]:
        """The topics of ZooKeeper."""
        return self.zookeeper.children(TOPICS)

    @property
    def controller(self) -> ControllerZnode:
        """/controller."""
        return ControllerZnode.parse(self.zookeeper.read("/controller").data)

    @property
    def controller_epoch(self) -> int:
        """/controller_epoch."""
        return int(self.zookeeper.read("/controller_epoch").data)

    @property
    def migration(self) -> MigrationZnode:
        """/migration."""
        return MigrationZnode.parse(self.zookeeper.read("/migration").data)

    def write(self, *operations: ZnodeOperation) -> None:
        """Write to ZooKeeper as somebody else."""
        outcome = self.zookeeper.multi(self.session, operations)
        assert isinstance(outcome, list), outcome

    def note_copy(self, offset: int = 100, epoch: int = 1) -> None:
        """Put a finished copy into /migration."""
        znode = MigrationZnode(kraft_metadata_offset=offset, kraft_metadata_epoch=epoch)
        if self.zookeeper.stat("/migration") is None:
            self.write(Create("/migration"))
        self.write(SetData("/migration", znode.encode()))

    # Answers

    def _answer(self, effect: Perform) -> DriverEvent:
        errors = self.errors.get(type(effect.request))
        try:
            if errors:
                raise errors.pop(0)
            answer = self._perform(effect.request)
        except KwireError as error:
            return NotPerformed(token=effect.token, error=error)
        return Performed(token=effect.token, answer=answer)

    def _perform(self, request: DriverRequest) -> Any:
        match request:
            case RecoverMigration():
                return self._recovered()
            case ReadBrokerIds():
                return frozenset(int(id) for id in self.zookeeper.children("/brokers/ids"))
            case ReadAssignedBrokers():
                return self.assigned
            case ReadZkController():
                return self._controller_found()
            case WriteZooKeeper(operations=operations):
                outcome = self.zookeeper.multi(self.session, operations)
                if isinstance(outcome, Loss):
                    raise ConnectionLost("the connection was lost")
                if isinstance(outcome, ZooKeeperError):
                    raise outcome
                return outcome
            case ReadTree(path=path):
                return tuple(known for known in self.zookeeper.tree if known.startswith(f"{path}/"))
            case CheckCopy():
                return None
            case CopyMetadata():
                return MetadataCopied(end=self.copied_at)
            case FindDifferences(image=image):
                return topic_writes(self.topics, image.topics.ids)

    def _recovered(self) -> ZkMigrationLeadershipState:
        if self.zookeeper.stat("/migration") is None:
            self.write(Create("/migration", MigrationZnode().encode()))
        found = self.migration
        return ZkMigrationLeadershipState(
            kraft_controller_id=found.kraft_controller_id,
            kraft_controller_epoch=found.kraft_controller_epoch,
            kraft_metadata_offset=found.kraft_metadata_offset,
            kraft_metadata_epoch=found.kraft_metadata_epoch,
            migration_zk_version=self.zookeeper.read("/migration").version,
        )

    def _controller_found(self) -> ZkControllerFound:
        epoch, stat = self.zookeeper.stat("/controller_epoch"), self.zookeeper.stat("/controller")
        return ZkControllerFound(
            epoch=self.controller_epoch if epoch else None,
            epoch_zk_version=epoch.version if epoch else -1,
            controller_id=self.controller.broker_id if stat else None,
            controller_zk_version=stat.version if stat else -1,
            kraft_epoch=(self.controller.kraft_epoch or -1) if stat else -1,
        )
