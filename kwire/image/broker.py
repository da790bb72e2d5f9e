"""A broker's registration in the image (org.apache.kafka.metadata.BrokerRegistration)."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.endpoint import Endpoint, endpoint_groups, feature_groups, supported
from kwire.image.partition import LOST, MIGRATING, UNASSIGNED
from kwire.messages.metadata_versions import MetadataVersion
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.register_broker import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kwire.net.negotiation import VersionRange

RESERVED_DIRECTORIES = frozenset(UUID(int=number) for number in range(100))
"""Ids that stand for something else than a directory (KIP-858, org.apache.kafka DirectoryId)."""


class BrokerRegistration(Struct, frozen=True, kw_only=True):
    """A registered broker. `epoch` is the offset at which the batch of its registration began.

    cordoned_directories: those that take no new replicas; None before it was said (KIP-1066).
    """

    id: int
    epoch: int
    incarnation_id: UUID
    endpoints: tuple[Endpoint, ...] = ()
    features: HashTrieMap[str, VersionRange] = HashTrieMap()
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    is_migrating_zk_broker: bool = False
    directories: tuple[UUID, ...] = ()
    cordoned_directories: tuple[UUID, ...] | None = None

    @classmethod
    def of(cls, record: RegisterBrokerRecord) -> BrokerRegistration:
        """Return the broker that a RegisterBrokerRecord describes."""
        return cls(
            id=record.broker_id,
            epoch=record.broker_epoch,
            incarnation_id=record.incarnation_id,
            endpoints=tuple(Endpoint.of(endpoint) for endpoint in record.end_points),
            features=HashTrieMap({item.name: supported(item) for item in record.features}),
            rack=record.rack,
            fenced=record.fenced,
            in_controlled_shutdown=record.in_controlled_shutdown,
            is_migrating_zk_broker=record.is_migrating_zk_broker,
            directories=tuple(sorted(record.log_dirs)),
            cordoned_directories=record.cordoned_log_dirs,
        )

    @property
    def is_active(self) -> bool:
        """True unless fenced or in controlled shutdown: may be in ISRs and lead (KIP-841)."""
        return not self.fenced and not self.in_controlled_shutdown

    def has_online_directory(self, directory: UUID) -> bool:
        """True if a replica in the directory can be used; a replica without a directory can."""
        # The broker has not told yet where the replica lies, or is too old to tell.
        if directory in (UNASSIGNED, MIGRATING):
            return True
        return directory != LOST and (not self.directories or directory in self.directories)

    @property
    def default_directory(self) -> UUID:
        """The directory of a new replica: the only one, else the broker decides."""
        if not self.directories:
            return MIGRATING
        return self.directories[0] if len(self.directories) == 1 else UNASSIGNED

    @property
    def has_uncordoned_directories(self) -> bool:
        """True if a directory takes new replicas."""
        cordoned = self.cordoned_directories or ()
        return not self.directories or any(
            directory not in cordoned for directory in self.directories
        )

    def changed(self, record: BrokerRegistrationChangeRecord) -> BrokerRegistration:
        """Return the broker after a change.

        fenced: 1 fences, -1 unfences, 0 is no change. Controlled shutdown only ever begins.
        """
        cordoned = record.cordoned_log_dirs
        return replace(
            self,
            fenced=record.fenced > 0 if record.fenced else self.fenced,
            # Only a new registration ends it: a broker that shuts down does not change its mind.
            in_controlled_shutdown=bool(
                record.in_controlled_shutdown or self.in_controlled_shutdown
            ),
            directories=tuple(sorted(record.log_dirs)) or self.directories,
            cordoned_directories=(self.cordoned_directories if cordoned is None else cordoned),
        )

    def with_fenced(self, fenced: bool) -> BrokerRegistration:
        """Return the broker after a FenceBrokerRecord or an UnfenceBrokerRecord."""
        return replace(self, fenced=fenced)

    def record(self, at: MetadataVersion) -> VersionedRecord:
        """Return the RegisterBrokerRecord of it; what the version cannot say is left out."""
        cordoned = self.cordoned_directories if at.supports_cordoned_log_dirs else None
        record = RegisterBrokerRecord(
            broker_id=self.id,
            is_migrating_zk_broker=self.is_migrating_zk_broker and at.supports_migration,
            incarnation_id=self.incarnation_id,
            broker_epoch=self.epoch,
            end_points=endpoint_groups(BrokerEndpoint, self.endpoints),
            features=feature_groups(BrokerFeature, sorted(self.features.items())),
            rack=self.rack,
            fenced=self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown,
            log_dirs=self.directories if at.supports_directory_assignment else (),
            cordoned_log_dirs=cordoned,
        )
        return VersionedRecord(record=record, version=at.register_broker_record)
