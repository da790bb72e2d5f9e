"""The claim of the leadership in ZooKeeper (Java: KafkaZkClient.tryRegisterKRaftController...).

/controller becomes persistent: no ZooKeeper broker claims it when its owner dies.
"""

from __future__ import annotations

from kwire.errors import KwireError
from kwire.migration.driver.effects import ZkControllerFound
from kwire.migration.driver.fence import migration_data
from kwire.migration.driver.leadership import ZkMigrationLeadershipState
from kwire.zookeeper import (
    CheckVersion,
    Create,
    Delete,
    SetData,
    ZnodeOperation,
    ZnodeResult,
    ZnodeStat,
)
from kwire.zookeeper.operations import ANY_VERSION
from kwire.zookeeper.znodes.controller import ControllerEpochZnode, ControllerZnode
from kwire.zookeeper.znodes.migration import MigrationZnode

CONTROLLER, CONTROLLER_EPOCH = ControllerZnode.path, ControllerEpochZnode.path


class CannotClaim(KwireError):
    """The content of ZooKeeper forbids the claim, until somebody changes it."""


def claim(
    found: ZkControllerFound, state: ZkMigrationLeadershipState, now: int
) -> tuple[ZnodeOperation, ...]:
    """Return the multi that makes a KRaft controller the controller of ZooKeeper's brokers.

    1. Without /controller_epoch no ZooKeeper controller ever ran: raise CannotClaim.
    2. A KRaft controller with this epoch or a later one was here: raise CannotClaim. If it is this
       controller itself, the answer to its claim was lost: keep the claim.
    3. Else raise /controller_epoch by one at the version read, and replace /controller at its.
    4. Set /migration whatever its version is, to learn it: the controller before may have written
       it since it was read (KAFKA-16171). Java does so after its claim; in the same multi it
       neither follows another claim, nor makes the claim where /migration was deleted.
    """
    # 1.
    if found.epoch is None:
        raise CannotClaim(f"there is no {CONTROLLER_EPOCH}: no ZooKeeper controller ever ran here")
    operations: list[ZnodeOperation] = []
    # 2.
    if is_own(found, state):
        operations.append(CheckVersion(CONTROLLER_EPOCH, found.epoch_zk_version))
        operations.append(CheckVersion(CONTROLLER, found.controller_zk_version))
    elif found.kraft_epoch >= state.kraft_controller_epoch:
        raise CannotClaim(
            f"{CONTROLLER} is of KRaft controller {found.controller_id} of epoch"
            f" {found.kraft_epoch}, which is not before {state.kraft_controller_epoch}"
        )
    # 3.
    else:
        epoch = ControllerEpochZnode(found.epoch + 1)
        operations.append(SetData(CONTROLLER_EPOCH, epoch.encode(), found.epoch_zk_version))
        if found.controller_id is not None:
            operations.append(Delete(CONTROLLER, found.controller_zk_version))
        operations.append(Create(CONTROLLER, _controller(state, now).encode()))
    # 4.
    operations.append(SetData(MigrationZnode.path, migration_data(state), ANY_VERSION))
    return tuple(operations)


def is_own(found: ZkControllerFound, state: ZkMigrationLeadershipState) -> bool:
    """Return True if /controller is of this controller in this very epoch."""
    return (found.controller_id, found.kraft_epoch) == (
        state.kraft_controller_id,
        state.kraft_controller_epoch,
    )


def after_claim(
    found: ZkControllerFound, state: ZkMigrationLeadershipState, results: list[ZnodeResult]
) -> ZkMigrationLeadershipState:
    """Return the state after the multi of a claim, from the results of its operations."""
    assert found.epoch is not None, "without an epoch there is no claim"
    migration = results[-1]
    assert isinstance(migration, ZnodeStat), "the last operation sets /migration"
    if is_own(found, state):
        claimed = state.with_claim(found.epoch, found.epoch_zk_version)
    else:
        epoch = results[0]
        assert isinstance(epoch, ZnodeStat), "the first operation sets /controller_epoch"
        claimed = state.with_claim(found.epoch + 1, epoch.version)
    return claimed.with_migration_zk_version(migration.version)


def _controller(state: ZkMigrationLeadershipState, now: int) -> ControllerZnode:
    return ControllerZnode(
        broker_id=state.kraft_controller_id,
        timestamp_ms=now,
        kraft_epoch=state.kraft_controller_epoch,
    )
