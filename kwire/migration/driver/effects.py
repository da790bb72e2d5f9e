"""The effects of the migration's driver: the output of `MigrationDriver.step`.

A Perform is answered by Performed or NotPerformed; no other comes before that. All other effects
are carried out in their order and not answered.
"""

from __future__ import annotations

from dataclasses import dataclass

from kwire.image import MetadataImage
from kwire.image.changes import MetadataChanges
from kwire.logdir.names import OffsetAndEpoch
from kwire.zookeeper import ZnodeOperation


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverMigration:
    """Create Kafka's top-level znodes, and /migration if it is not there; read /migration.

    Answer: the ZkMigrationLeadershipState in it, with its version. A new one has no metadata,
    whatever this controller remembers: who deletes /migration takes the migration back.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBrokerIds:
    """Read the children of /brokers/ids. Answer: frozenset of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAssignedBrokers:
    """Read the assignments of all topics. Answer: frozenset of the brokers in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadZkController:
    """Read /controller_epoch, then /controller. Answer: ZkControllerFound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZkControllerFound:
    """The content of /controller_epoch and /controller.

    epoch: None if /controller_epoch is not there. controller_id: None if /controller is not there.
    kraft_epoch: -1 for a broker.
    """

    epoch: int | None = None
    epoch_zk_version: int = -1
    controller_id: int | None = None
    controller_zk_version: int = -1
    kraft_epoch: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteZooKeeper:
    """Carry out a multi. Answer: the result of each operation. MultiFailed if one is refused."""

    operations: tuple[ZnodeOperation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTree:
    """Read the paths of all znodes below one. Answer: tuple of them, none if it is not there."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCopy:
    """Read all of ZooKeeper and make the records of a copy, to see that it can be copied.

    Answer: None. Raises what stands against it; nothing is written.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyMetadata:
    """Read all of ZooKeeper, and write it to the log as one metadata transaction of this epoch.

    Answer: MetadataCopied. LeadershipLost says that another leader will abort what was written;
    CopyFailed, that the copy failed in its middle; any other error, that nothing was written.
    """

    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataCopied:
    """The copy is committed, up to `end`.

    manifest: its counts, as a sentence. broker_ids: those that it names.
    """

    end: OffsetAndEpoch
    manifest: str = ""
    broker_ids: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class FindDifferences:
    """Read all of ZooKeeper and compare it with an image. Answer: tuple of ZnodeWrite."""

    image: MetadataImage
    controller_epoch: int


DriverRequest = (
    RecoverMigration
    | ReadBrokerIds
    | ReadAssignedBrokers
    | ReadZkController
    | WriteZooKeeper
    | ReadTree
    | CheckCopy
    | CopyMetadata
    | FindDifferences
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Perform:
    """Work with an answer."""

    token: int
    request: DriverRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class SendFullMetadata:
    """Send everything to all brokers that are in ZooKeeper mode. raft_epoch: of the last record."""

    image: MetadataImage
    raft_epoch: int
    zk_controller_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMetadataChanges:
    """Send what has changed to the brokers that are in ZooKeeper mode."""

    changes: MetadataChanges
    raft_epoch: int
    zk_controller_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetBrokers:
    """Stop sending to brokers: this node does not control them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureDualWrite:
    """Set the gauges: ZooKeeper has the metadata up to `offset`; it took so many milliseconds.

    is_snapshot: True if all of ZooKeeper was compared. milliseconds: None if nothing was written.
    """

    offset: int | None
    milliseconds: int | None
    is_snapshot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """Log a line. level: of Python's logging."""

    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndProcess:
    """End the controller: a part of the copy is in the log, and this leader cannot go on."""

    reason: str


DriverEffect = (
    Perform
    | SendFullMetadata
    | SendMetadataChanges
    | ForgetBrokers
    | MeasureDualWrite
    | LogLine
    | EndProcess
)
