"""What handlers are given and what they give back (Java: ControllerResult)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord, Response
from kwire.controller.errors import ApiError
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.controller.replicas.replica_placer import RandomSource
from kwire.error_codes import ErrorCode
from kwire.image import MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.messages.metadata_versions import (
    ELIGIBLE_LEADER_REPLICAS,
    FEATURES,
    LATEST_PRODUCTION,
    METADATA_VERSION,
    MINIMUM,
    MetadataVersion,
)
from kwire.net.negotiation import VersionRange


def supported_features() -> Mapping[str, VersionRange]:
    """What this controller can do. Eligible leader replicas stay at level 0."""
    ranges = {name: VersionRange(0, feature.latest) for name, feature in FEATURES.items()}
    ranges[METADATA_VERSION] = VersionRange(MINIMUM, LATEST_PRODUCTION)
    ranges[ELIGIBLE_LEADER_REPLICAS] = VersionRange(0, 0)
    return MappingProxyType(ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig:
    """What does not change while a controller runs. Times are milliseconds.

    static: every name and value of server.properties, since some are defaults of topics.
    no_op_interval_ms: how long the log may rest; 0 for ever (KIP-835).
    """

    cluster_id: str
    node_id: int
    session_timeout_ms: int = 9000
    default_replication_factor: int = 1
    num_partitions: int = 1
    delete_topic_enable: bool = True
    no_op_interval_ms: int = 500
    leader_imbalance_check_interval_ms: int = 300_000
    unclean_election_interval_ms: int = 300_000
    static: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, VersionRange] = field(default_factory=supported_features)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumView:
    """What raft knows and metadata does not. leader_id: None while there is none."""

    leader_id: int | None = None
    voter_ids: frozenset[int] = frozenset()
    kraft_version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerContext:
    """The state that a request is judged by.

    image: with everything this leader has written, committed or not; for handlers that only read,
    what is committed. now: milliseconds of a clock that never goes back. next_offset: where the
    next batch begins, which is a new broker's epoch. version: of the request.
    forwarded: a broker passed the request on. registrations: offset of each broker's
    RegisterBrokerRecord.
    """

    image: MetadataImage
    heartbeats: BrokerHeartbeatManager
    config: ControllerConfig
    quorum: QuorumView
    random: RandomSource
    now: int
    next_offset: int
    version: int
    listener: str = ""
    forwarded: bool = False
    registrations: Mapping[int, int] = field(default_factory=dict)

    @property
    def metadata_version(self) -> MetadataVersion:
        """What decides the versions of records."""
        return self.image.features.metadata_version

    def broker(self, id: int, epoch: int) -> BrokerRegistration:
        """The registration that a broker speaks for; STALE_BROKER_EPOCH unless it is the latest."""
        broker = self.image.cluster.brokers.get(id)
        if broker is None:
            raise ApiError(ErrorCode.STALE_BROKER_EPOCH, f"Broker {id} is not registered.")
        if broker.epoch != epoch:
            text = f"Broker {id} has epoch {broker.epoch}, not {epoch}."
            raise ApiError(ErrorCode.STALE_BROKER_EPOCH, text)
        return broker

    def new_uuid(self) -> UUID:
        """A random id that is none of Kafka's reserved ones."""
        return UUID(int=self.random.getrandbits(128) or 1, version=4)


Records = list[VersionedRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerResult:
    """The records to append as one batch, and the response to release when they are committed.

    heartbeats: the sessions after it; None where they stay. kraft_version: the level that raft is
    asked for besides, which decides what is answered.
    """

    response: Response
    records: tuple[VersionedRecord, ...] = ()
    heartbeats: BrokerHeartbeatManager | None = None
    kraft_version: int | None = None


def versioned(record: MetadataRecord, version: int = 0) -> VersionedRecord:
    """A record with the version that it is written at."""
    return VersionedRecord(record=record, version=version)
