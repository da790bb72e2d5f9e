"""The fence around every write to ZooKeeper (KIP-866).

Java: KafkaZkClient.retryMigrationRequestsUntilConnected.

A write is one multi with two more operations in front of it. /controller_epoch must have the
version of this controller's claim: a ZooKeeper controller that comes back raises it. /migration
must have the version that this controller knows: another leader of the quorum raises it.
"""

from __future__ import annotations

from kwire.errors import KwireError
from kwire.migration.driver.leadership import ZkMigrationLeadershipState
from kwire.zookeeper import (
    BadVersion,
    CheckVersion,
    MultiFailed,
    NoNode,
    SetData,
    ZnodeOperation,
    ZnodeResult,
    ZnodeStat,
)
from kwire.zookeeper.znodes.controller import ControllerEpochZnode
from kwire.zookeeper.znodes.migration import MigrationZnode

FENCES = 2
"""The operations before the write itself."""


class FencedOff(KwireError):
    """Another controller writes to ZooKeeper, or this one does not know its own last write."""


def migration_data(state: ZkMigrationLeadershipState) -> bytes:
    """Return the content of /migration."""
    return MigrationZnode(
        kraft_controller_id=state.kraft_controller_id,
        kraft_controller_epoch=state.kraft_controller_epoch,
        kraft_metadata_offset=state.kraft_metadata_offset,
        kraft_metadata_epoch=state.kraft_metadata_epoch,
    ).encode()


def fenced(
    operations: tuple[ZnodeOperation, ...], state: ZkMigrationLeadershipState
) -> tuple[ZnodeOperation, ...]:
    """Return the multi of some writes, which also puts the state into /migration."""
    assert state.has_claim, "only the claimant writes to ZooKeeper"
    return (
        CheckVersion(ControllerEpochZnode.path, state.zk_controller_epoch_zk_version),
        SetData(MigrationZnode.path, migration_data(state), state.migration_zk_version),
        *operations,
    )


def after_write(
    state: ZkMigrationLeadershipState, results: list[ZnodeResult]
) -> ZkMigrationLeadershipState:
    """Return the state after a fenced multi, from the results of its operations."""
    written = results[1]
    assert isinstance(written, ZnodeStat), "the second operation sets /migration"
    return state.with_migration_zk_version(written.version)


def check_fences(refusal: MultiFailed) -> None:
    """Raise FencedOff if a fence refused a multi, and not the write itself."""
    if refusal.index < FENCES and isinstance(refusal.error, BadVersion | NoNode):
        raise FencedOff(f"{refusal.operation.path} {_REASONS[refusal.index]}") from refusal


_REASONS = (
    "was changed since this controller's claim: another controller has taken over ZooKeeper",
    "was changed by somebody else: another KRaft controller writes to ZooKeeper, or the answer to"
    " this controller's last write was lost",
)
