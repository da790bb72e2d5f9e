"""The arguments and the results of handlers (Java: ControllerRequestContext, ControllerResult)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord, Response
from kwire.controller.authentication.token_index import TokenIndex
from kwire.controller.authorization.access import FULL_ACCESS, Access
from kwire.controller.authorization.standard_authorizer import StandardAuthorizer
from kwire.controller.quotas.controller_mutation_quota import ControllerMutationQuota
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.controller.replicas.replica_placer import RandomSource
from kwire.controller.rules import Rules
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image import MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.messages.metadata_versions import (
    FEATURES,
    LATEST_PRODUCTION,
    METADATA_VERSION,
    MINIMUM,
    MetadataVersion,
)
from kwire.net.negotiation import VersionRange
from kwire.net.service import ANONYMOUS


def supported_features() -> Mapping[str, VersionRange]:
    """Return the levels of features that this controller supports."""
    ranges = {name: VersionRange(0, feature.latest) for name, feature in FEATURES.items()}
    ranges[METADATA_VERSION] = VersionRange(MINIMUM, LATEST_PRODUCTION)
    return MappingProxyType(ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationTokenConfig:
    """The settings `delegation.token.*`. Times are milliseconds (KIP-48).

    secret: makes the HMACs; None if there are no tokens. max_lifetime_ms: after that a token cannot
    be renewed. expiry_time_ms: after that it has to be. expiry_check_interval_ms: expired ones are
    removed that often.
    """

    secret: str | None = field(default=None, repr=False)
    max_lifetime_ms: int = 7 * 24 * 60 * 60 * 1000
    expiry_time_ms: int = 24 * 60 * 60 * 1000
    expiry_check_interval_ms: int = 60 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig:
    """The settings of a controller, which do not change while it runs. Times are milliseconds.

    static: every name and value of server.properties, since some are defaults of topics.
    authorizer: None if everybody may do everything.
    security_protocols: of the listeners, by name; PLAINTEXT where there is none.
    no_op_interval_ms: time without records after which a NoOpRecord is written; 0: never (KIP-835).
    rules: what differs from KRaft alone.
    quota_window_num, quota_window_size_seconds: a client may save up its mutation quota for as many
    windows of this size (KIP-599).
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
    quota_window_num: int = 11
    quota_window_size_seconds: int = 1
    static: Mapping[str, str] = field(default_factory=dict, repr=False)
    features: Mapping[str, VersionRange] = field(default_factory=supported_features)
    authorizer: StandardAuthorizer | None = None
    security_protocols: Mapping[str, str] = field(default_factory=dict)
    delegation_tokens: DelegationTokenConfig = DelegationTokenConfig()
    rules: Rules = Rules()


_DASH = 62
"""The place of the dash in the alphabet of URL-safe base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumView:
    """The state of the quorum, which the metadata does not have. leader_id: None for no leader."""

    leader_id: int | None = None
    voter_ids: frozenset[int] = frozenset()
    kraft_version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerContext:
    """The state that a handler sees.

    image: with everything this leader has written, committed or not; for handlers that only read,
    only what is committed.
    now: milliseconds since 1970, of a clock that never goes back.
    next_offset: where the next batch begins, which is a new broker's epoch.
    version: of the request. forwarded: a broker passed the request on.
    principal: who sent it, as `User:ANONYMOUS`. host: the address it came from; both are those of
    the client if a broker passed it on. by_delegation_token: it logged in with a delegation token.
    access: what that principal may do from there. mutation_quota: the sender's; None for what the
    controller does by itself.
    registrations: offset of each broker's RegisterBrokerRecord.
    token_index: finds delegation tokens by HMAC.
    log_levels: returns the level of each of this node's loggers.
    """

    image: MetadataImage
    heartbeat_manager: BrokerHeartbeatManager
    config: ControllerConfig
    quorum: QuorumView
    random: RandomSource
    now: int
    next_offset: int
    version: int
    listener: str = ""
    forwarded: bool = False
    principal: str = ANONYMOUS
    host: str = ""
    by_delegation_token: bool = False
    access: Access = FULL_ACCESS
    mutation_quota: ControllerMutationQuota | None = None
    registrations: Mapping[int, int] = field(default_factory=dict)
    token_index: TokenIndex = field(default_factory=lambda: TokenIndex(None))
    log_levels: Callable[[], Mapping[str, str]] = dict

    @property
    def metadata_version(self) -> MetadataVersion:
        """The metadata.version, which decides the versions of records."""
        return self.image.features.metadata_version

    @property
    def bumps_leader_epochs(self) -> bool:
        """True if brokers must see a new leader epoch when an ISR shrinks."""
        return self.config.rules.bumps_leader_epochs(self.image.features)

    def broker(self, id: int, epoch: int) -> BrokerRegistration:
        """Return a broker's registration. Raises ApiError for another epoch: STALE_BROKER_EPOCH.

        A process that another one with its id has replaced must not change anything any more.
        """
        broker = self.image.cluster.brokers.get(id)
        if broker is None:
            raise ApiError(ErrorCode.STALE_BROKER_EPOCH, f"Broker {id} is not registered.")
        if broker.epoch != epoch:
            text = f"Broker {id} has epoch {broker.epoch}, not {epoch}."
            raise ApiError(ErrorCode.STALE_BROKER_EPOCH, text)
        return broker

    def record_mutations(self, partitions: int, *, strict_since: int) -> None:
        """Count partitions that the request creates or deletes (KIP-599).

        strict_since: the version of the request from which on too many are refused. Raises
        ApiError: THROTTLING_QUOTA_EXCEEDED.
        """
        if self.mutation_quota is not None:
            self.mutation_quota.record(partitions, strict=self.version >= strict_since)

    def new_uuid(self) -> UUID:
        """Return a random id that is none of Kafka's reserved ones (Java: Uuid.randomUuid)."""
        while True:
            candidate = UUID(int=self.random.getrandbits(128) or 1, version=4)
            # The text of others begins with a dash: tools would take it for an option.
            if candidate.int >> 122 != _DASH:
                return candidate


VersionedRecords = list[VersionedRecord]


class ControllerEvent(Enum):
    """The event that a request is for the controller (Java: ControllerReadEvent, …WriteEvent).

    NONE: the request and the rights of its sender say the whole answer. READ: it is in the
    metadata; of an API that writes, those of the active controller. WRITE: only that has it.
    """

    NONE = 0
    READ = 1
    WRITE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class KRaftVersionRequest:
    """The kraft.version that raft is asked for, or only whether it is possible."""

    level: int
    validate_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerResult:
    """The records to append as one batch, and the response to release when they are committed.

    heartbeat_manager: the sessions afterwards; None if they stay. kraft_version: raft is to be
    asked for it first; if it agrees, the request is handled once more.
    log_levels: what loggers of this node are to get, which is not in the log; None for the level of
    the logger above.
    """

    response: Response
    records: tuple[VersionedRecord, ...] = ()
    heartbeat_manager: BrokerHeartbeatManager | None = None
    kraft_version: KRaftVersionRequest | None = None
    log_levels: Mapping[str, str | None] = field(default_factory=dict)


def versioned(record: MetadataRecord, version: int = 0) -> VersionedRecord:
    """Return a record with the version that it is written at."""
    return VersionedRecord(record=record, version=version)
