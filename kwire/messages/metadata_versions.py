"""Levels of metadata.version and of the other features of Kafka 4.4 (KIP-584, KIP-778, KIP-1022).

A cluster's metadata.version decides which records, at which versions, its controllers write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kwire.errors import InvalidValue

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"
ELIGIBLE_LEADER_REPLICAS = "eligible.leader.replicas.version"

NAMES: Mapping[int, str] = MappingProxyType(
    {
        7: "3.3-IV3",
        8: "3.4-IV0",
        9: "3.5-IV0",
        10: "3.5-IV1",
        11: "3.5-IV2",
        12: "3.6-IV0",
        13: "3.6-IV1",
        14: "3.6-IV2",
        15: "3.7-IV0",
        16: "3.7-IV1",
        17: "3.7-IV2",
        18: "3.7-IV3",
        19: "3.7-IV4",
        20: "3.8-IV0",
        21: "3.9-IV0",
        22: "4.0-IV0",
        23: "4.0-IV1",
        24: "4.0-IV2",
        25: "4.0-IV3",
        26: "4.1-IV0",
        27: "4.1-IV1",
        28: "4.2-IV0",
        29: "4.2-IV1",
        30: "4.3-IV0",
        31: "4.4-IV0",
        32: "4.4-IV1",
        33: "4.4-IV2",
        34: "4.5-IV0",
    }
)
"""Every level with the name of its release."""

MINIMUM = 7
LATEST_PRODUCTION = 33
LATEST_TESTING = 34

LAST_OF_ZOOKEEPER = 21
"""3.9-IV0: no broker that runs with ZooKeeper has a later one (KIP-866)."""

CONTROLLER_UNREGISTRATION = 33
"""4.4-IV2: the first that has UnregisterControllerRecord (KIP-1312)."""

DEFAULT = 30
"""The version of a new cluster unless its operator gives one: nodes of 4.3 and of 4.4 have it."""


@dataclass(frozen=True, slots=True, order=True)
class MetadataVersion:
    """A level of metadata.version and what it allows (Java: MetadataVersion)."""

    level: int

    @property
    def name(self) -> str:
        """`4.3-IV0`."""
        return NAMES[self.level]

    @property
    def is_production(self) -> bool:
        """True if clusters may use it without unstable.feature.versions.enable."""
        return self.level <= LATEST_PRODUCTION

    @property
    def register_broker_record(self) -> int:
        """Version of RegisterBrokerRecord."""
        return _step(self.level, {7: 1, 8: 2, 17: 3, 30: 4})

    @property
    def register_controller_record(self) -> int | None:
        """Version of RegisterControllerRecord; None before KIP-919."""
        return 0 if self.level >= 15 else None

    @property
    def partition_record(self) -> int:
        """Version of PartitionRecord: 1 has directories (KIP-858), 2 has the ELR (KIP-966)."""
        return _step(self.level, {7: 0, 17: 1, 23: 2})

    @property
    def partition_change_record(self) -> int:
        """Version of PartitionChangeRecord."""
        return self.partition_record

    @property
    def fetch_request(self) -> int:
        """Version at which brokers fetch from each other."""
        return _step(self.level, {7: 13, 9: 14, 10: 15, 19: 16, 21: 17, 27: 18})

    @property
    def list_offsets_request(self) -> int:
        """Version at which brokers ask each other for offsets."""
        return _step(self.level, {7: 7, 9: 8, 21: 9, 25: 10, 29: 11})

    @property
    def leader_and_isr_request(self) -> int:
        """Version at which a controller has ZooKeeper-era brokers lead and follow (KIP-866)."""
        return _step(self.level, {7: 6, 8: 7})

    @property
    def update_metadata_request(self) -> int:
        """Version at which a controller tells ZooKeeper-era brokers of others (KIP-866)."""
        return _step(self.level, {7: 7, 8: 8})

    @property
    def stop_replica_request(self) -> int:
        """Version at which a controller has ZooKeeper-era brokers give up replicas (KIP-866)."""
        return _step(self.level, {7: 3, 8: 4})

    @property
    def supports_migration(self) -> bool:
        """ZkMigrationStateRecord (KIP-866)."""
        return self.level >= 8

    @property
    def supports_scram(self) -> bool:
        """UserScramCredentialRecord (KIP-900)."""
        return self.level >= 11

    @property
    def bumps_leader_epoch_on_isr_shrink(self) -> bool:
        """As Kafka did before 3.6."""
        return self.level < 12

    @property
    def supports_metadata_transactions(self) -> bool:
        """BeginTransactionRecord and EndTransactionRecord (KIP-868)."""
        return self.level >= 13

    @property
    def supports_delegation_tokens(self) -> bool:
        """DelegationTokenRecord (KIP-900)."""
        return self.level >= 14

    @property
    def supports_controller_registration(self) -> bool:
        """RegisterControllerRecord (KIP-919)."""
        return self.level >= 15

    @property
    def supports_directory_assignment(self) -> bool:
        """Directories of replicas (KIP-858)."""
        return self.level >= 17

    @property
    def supports_elr(self) -> bool:
        """Eligible leader replicas (KIP-966)."""
        return self.level >= 23

    @property
    def supports_cordoned_log_dirs(self) -> bool:
        """Log directories that take no new replicas (KIP-1066)."""
        return self.level >= 30

    @property
    def supports_cidr_acls(self) -> bool:
        """ACLs whose host is a range of addresses."""
        return self.level >= 32

    @property
    def supports_controller_unregistration(self) -> bool:
        """UnregisterControllerRecord (KIP-1312)."""
        return self.level >= CONTROLLER_UNREGISTRATION


def metadata_version(text: str) -> MetadataVersion:
    """Return the version of a name, `4.0-IV3`, or of a release, `4.0`, whose last it is.

    InvalidValue for a name that is unknown or not for production.
    """
    for level in sorted(NAMES, reverse=True):
        if level <= LATEST_PRODUCTION and (NAMES[level] == text or _release(level) == text):
            return MetadataVersion(level)
    known = ", ".join(NAMES[level] for level in NAMES if level <= LATEST_PRODUCTION)
    raise InvalidValue(f"no metadata.version is called {text!r}; known are {known}")


def metadata_version_level(level: int) -> MetadataVersion:
    """Return the version of a level; InvalidValue where there is none."""
    if level not in NAMES:
        span = f"{MINIMUM} to {LATEST_TESTING}"
        raise InvalidValue(f"metadata.version {level} is not known: levels are {span}")
    return MetadataVersion(level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A feature with levels of its own, from 0, which is without it.

    since: for each level the metadata.version whose clusters begin with it.
    needs: for a level the metadata.version that it does not work without.
    """

    name: str
    since: Mapping[int, int]
    needs: Mapping[int, int] = field(default_factory=dict)

    @property
    def latest(self) -> int:
        """The highest level."""
        return max(self.since)

    def default(self, metadata_version: MetadataVersion) -> int:
        """Return the level that a new cluster of that version has."""
        return max(level for level, at in self.since.items() if at <= metadata_version.level)


FEATURES: Mapping[str, Feature] = MappingProxyType(
    {
        feature.name: feature
        for feature in (
            Feature(name=ELIGIBLE_LEADER_REPLICAS, since={0: 7, 1: 26}, needs={1: 23}),
            Feature(name="group.version", since={0: 7, 1: 22}),
            Feature(name=KRAFT_VERSION, since={0: 7, 1: 21}),
            Feature(name="share.version", since={0: 7, 1: 28, 2: 31}),
            Feature(name="streams.version", since={0: 7, 1: 29}),
            Feature(name="transaction.version", since={0: 7, 1: 24, 2: 24}),
        )
    }
)
"""The features of production, by name; metadata.version is not one of them."""


def _step(level: int, versions: Mapping[int, int]) -> int:
    return max(version for since, version in versions.items() if since <= level)


def _release(level: int) -> str:
    return NAMES[level].partition("-")[0]
