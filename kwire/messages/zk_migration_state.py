"""The states of a migration from ZooKeeper (KIP-866; Java: ZkMigrationState)."""

from __future__ import annotations

from enum import IntEnum


class ZkMigrationState(IntEnum):
    """The state in a ZkMigrationStateRecord, by its number in Kafka 3.5 and later.

    Kafka 3.4 had 1 and 2 the other way round.
    """

    NONE = 0
    MIGRATION = 1
    PRE_MIGRATION = 2
    POST_MIGRATION = 3
    ZK = 4


_NAMES = {int(state): state.name for state in ZkMigrationState}


def migration_state_name(state: int) -> str | None:
    """Return Kafka's name of a state, None for one of a later release."""
    return _NAMES.get(state)
