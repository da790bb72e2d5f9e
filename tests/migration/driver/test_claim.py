"""The multi of a claim, by what was found in ZooKeeper; all of it against the driver in
`test_driver_failures.py`."""

from dataclasses import replace

import pytest

from kwire.migration.driver.claim import CannotClaim, after_claim, claim, is_own
from kwire.migration.driver.effects import ZkControllerFound
from kwire.migration.driver.leadership import ZkMigrationLeadershipState
from kwire.zookeeper import CheckVersion, Create, Delete, SetData
from kwire.zookeeper.operations import ANY_VERSION
from migrating.memory_zookeeper import MemoryZooKeeper

STATE = ZkMigrationLeadershipState(kraft_controller_id=3000, kraft_controller_epoch=7)
OF_A_BROKER = ZkControllerFound(
    epoch=4, epoch_zk_version=2, controller_id=1, controller_zk_version=9
)


def test_the_epoch_is_raised_at_its_version_and_the_controller_replaced_at_its() -> None:
    epoch, gone, made, migration = claim(OF_A_BROKER, STATE, 1_700_000_000_000)
    assert epoch == SetData("/controller_epoch", b"5", 2)
    assert gone == Delete("/controller", 9)
    assert isinstance(made, Create)
    assert not made.ephemeral
    assert made.data == (
        b'{"version":2,"brokerid":3000,"timestamp":"1700000000000","kraftControllerEpoch":7}'
    )
    assert isinstance(migration, SetData)
    assert (migration.path, migration.version) == ("/migration", ANY_VERSION)


def test_where_nobody_is_controller_there_is_none_to_replace() -> None:
    found = ZkControllerFound(epoch=4, epoch_zk_version=2)
    assert [type(operation) for operation in claim(found, STATE, 0)] == [SetData, Create, SetData]


@pytest.mark.parametrize("epoch", [7, 8])
def test_another_kraft_controller_of_this_epoch_or_a_later_one_is_not_replaced(epoch: int) -> None:
    found = replace(OF_A_BROKER, controller_id=3001, kraft_epoch=epoch)
    with pytest.raises(CannotClaim, match=f"KRaft controller 3001 of epoch {epoch}"):
        claim(found, STATE, 0)


def test_a_kraft_controller_of_an_earlier_epoch_is_replaced_whoever_it_was() -> None:
    for id in (3000, 3001):
        found = replace(OF_A_BROKER, controller_id=id, kraft_epoch=6)
        assert not is_own(found, STATE)
        assert Delete("/controller", 9) in claim(found, STATE, 0)


def test_an_own_claim_whose_answer_was_lost_is_kept_and_not_made_twice() -> None:
    found = replace(OF_A_BROKER, controller_id=3000, kraft_epoch=7)
    epoch, controller, migration = claim(found, STATE, 0)
    assert epoch == CheckVersion("/controller_epoch", 2)
    assert controller == CheckVersion("/controller", 9)
    assert isinstance(migration, SetData)


async def test_the_state_has_the_versions_that_the_claim_left() -> None:
    session = MemoryZooKeeper().open_session()
    made = [Create("/controller_epoch", b"4"), Create("/migration"), Create("/controller")]
    await session.multi(made)
    found = ZkControllerFound(epoch=4, epoch_zk_version=0, controller_id=1, controller_zk_version=0)
    state = after_claim(found, STATE, await session.multi(claim(found, STATE, 0)))
    assert (state.zk_controller_epoch, state.zk_controller_epoch_zk_version) == (5, 1)
    assert state.migration_zk_version == 1

    # The same once more: the answer was lost.
    found = replace(found, epoch=5, epoch_zk_version=1, controller_id=3000, kraft_epoch=7)
    state = after_claim(found, STATE, await session.multi(claim(found, STATE, 0)))
    assert (state.zk_controller_epoch, state.zk_controller_epoch_zk_version) == (5, 1)
    assert state.migration_zk_version == 2
