"""A side of a migration that was not seen: why, and what to do about it (KIP-866)."""

from __future__ import annotations

from kwire.doctor.finding import FindingKind
from kwire.errors import KwireError
from kwire.migration.operator.findings import preflight, status
from kwire.migration.operator.zookeeper_side import NoKafkaCluster
from kwire.zookeeper.errors import (
    ChrootMissing,
    InvalidZnode,
    NotAuthorized,
    ZooKeeperAuthenticationFailed,
    ZooKeeperUnreachable,
)
from kwire.zookeeper.znodes import MigrationZnode


def unseen_kind(error: KwireError | None) -> FindingKind:
    """Return the kind of finding for an error with which ZooKeeper was not seen."""
    if isinstance(error, ZooKeeperAuthenticationFailed | NotAuthorized):
        return status.NO_ACCESS
    if isinstance(error, InvalidZnode):
        is_position = error.path == MigrationZnode.path
        return preflight.FOREIGN_MIGRATION if is_position else preflight.BROKEN_ZNODE
    return status.NO_ZOOKEEPER


def zookeeper_advice(error: KwireError | None) -> str:
    """Return what to do about an error of ZooKeeper; empty if its own sentence says it."""
    if isinstance(error, ChrootMissing | ZooKeeperAuthenticationFailed):
        return ""
    return unseen_kind(error).advice


def with_advice(error: KwireError) -> str:
    """Return the sentence of an error, and what to do if it is one of ZooKeeper's."""
    own = ZooKeeperUnreachable, NoKafkaCluster, NotAuthorized
    advice = zookeeper_advice(error) if isinstance(error, own) else ""
    return f"{error}; {advice}" if advice else str(error)
