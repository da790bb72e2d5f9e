"""The states of the migration's driver, in memory only (Java: MigrationDriverState)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType


class MigrationDriverState(Enum):
    """A state of the driver. Only the active controller's leaves INACTIVE."""

    UNINITIALIZED = "UNINITIALIZED"
    INACTIVE = "INACTIVE"
    WAIT_FOR_CONTROLLER_QUORUM = "WAIT_FOR_CONTROLLER_QUORUM"
    WAIT_FOR_BROKERS = "WAIT_FOR_BROKERS"
    BECOME_CONTROLLER = "BECOME_CONTROLLER"
    ZK_MIGRATION = "ZK_MIGRATION"
    SYNC_KRAFT_TO_ZK = "SYNC_KRAFT_TO_ZK"
    KRAFT_CONTROLLER_TO_BROKER_COMM = "KRAFT_CONTROLLER_TO_BROKER_COMM"
    DUAL_WRITE = "DUAL_WRITE"

    @property
    def allows_dual_write(self) -> bool:
        """True if changes of the metadata go to ZooKeeper as they are committed."""
        return self in _DUAL_WRITING


UNINITIALIZED = MigrationDriverState.UNINITIALIZED
INACTIVE = MigrationDriverState.INACTIVE
WAIT_FOR_CONTROLLER_QUORUM = MigrationDriverState.WAIT_FOR_CONTROLLER_QUORUM
WAIT_FOR_BROKERS = MigrationDriverState.WAIT_FOR_BROKERS
BECOME_CONTROLLER = MigrationDriverState.BECOME_CONTROLLER
ZK_MIGRATION = MigrationDriverState.ZK_MIGRATION
SYNC_KRAFT_TO_ZK = MigrationDriverState.SYNC_KRAFT_TO_ZK
KRAFT_CONTROLLER_TO_BROKER_COMM = MigrationDriverState.KRAFT_CONTROLLER_TO_BROKER_COMM
DUAL_WRITE = MigrationDriverState.DUAL_WRITE

_DUAL_WRITING = frozenset({KRAFT_CONTROLLER_TO_BROKER_COMM, DUAL_WRITE})

SUCCESSORS: Mapping[MigrationDriverState, frozenset[MigrationDriverState]] = MappingProxyType(
    {
        UNINITIALIZED: frozenset({INACTIVE}),
        INACTIVE: frozenset({WAIT_FOR_CONTROLLER_QUORUM}),
        WAIT_FOR_CONTROLLER_QUORUM: frozenset({INACTIVE, WAIT_FOR_BROKERS, BECOME_CONTROLLER}),
        WAIT_FOR_BROKERS: frozenset({INACTIVE, BECOME_CONTROLLER}),
        BECOME_CONTROLLER: frozenset({INACTIVE, ZK_MIGRATION, SYNC_KRAFT_TO_ZK}),
        ZK_MIGRATION: frozenset({INACTIVE, SYNC_KRAFT_TO_ZK, BECOME_CONTROLLER}),
        SYNC_KRAFT_TO_ZK: frozenset({INACTIVE, KRAFT_CONTROLLER_TO_BROKER_COMM, BECOME_CONTROLLER}),
        KRAFT_CONTROLLER_TO_BROKER_COMM: frozenset({INACTIVE, DUAL_WRITE, BECOME_CONTROLLER}),
        DUAL_WRITE: frozenset({INACTIVE, BECOME_CONTROLLER}),
    }
)
"""The states that may follow.

The ways back to BECOME_CONTROLLER are kwire's own: Java goes on after a write that failed, and
leaves ZooKeeper without it until another leader is elected (docs/decisions/0077).
"""
