"""The fence around a write, against a ZooKeeper in memory."""

import pytest

from kwire.migration.driver.fence import FencedOff, after_write, check_fences, fenced
from kwire.migration.driver.leadership import ZkMigrationLeadershipState
from kwire.zookeeper import Create, Delete, MultiFailed, SetData
from kwire.zookeeper.operations import ZnodeOperation
from migrating.memory_zookeeper import MemoryZooKeeper

STATE = ZkMigrationLeadershipState(
    kraft_controller_id=3000,
    kraft_controller_epoch=7,
    migration_zk_version=0,
    zk_controller_epoch=5,
    zk_controller_epoch_zk_version=0,
)
WRITE = (Create("/topic"),)


async def tree(*changes: ZnodeOperation) -> MemoryZooKeeper:
    """Return a ZooKeeper as this controller's claim left it, and what came since."""
    zookeeper = MemoryZooKeeper()
    session = zookeeper.open_session()
    await session.multi([Create("/controller_epoch", b"5"), Create("/migration")])
    if changes:
        await session.multi(changes)
    return zookeeper


async def test_the_next_write_knows_the_version_that_this_one_left() -> None:
    session = (await tree()).open_session()
    state = after_write(STATE, await session.multi(fenced(WRITE, STATE)))
    assert state.migration_zk_version == 1
    state = after_write(state, await session.multi(fenced((Delete("/topic"),), state)))
    assert state.migration_zk_version == 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (SetData("/controller_epoch", b"6"), "/controller_epoch was changed since .* claim"),
        (Delete("/controller_epoch"), "/controller_epoch was changed since .* claim"),
        (SetData("/migration", b"{}"), "/migration was changed by somebody else"),
        (Delete("/migration"), "/migration was changed by somebody else"),
    ],
)
async def test_nothing_is_written_once_somebody_else_controls(
    change: ZnodeOperation, reason: str
) -> None:
    zookeeper = await tree(change)
    with pytest.raises(MultiFailed) as refusal:
        await zookeeper.open_session().multi(fenced(WRITE, STATE))
    assert zookeeper.stat("/topic") is None
    with pytest.raises(FencedOff, match=reason):
        check_fences(refusal.value)


async def test_a_write_that_is_refused_itself_is_not_fenced_off() -> None:
    zookeeper = await tree(Create("/topic"))
    with pytest.raises(MultiFailed) as refusal:
        await zookeeper.open_session().multi(fenced(WRITE, STATE))
    check_fences(refusal.value)
