"""The state that a controller keeps in /migration, and beside it."""

import pytest

from kwire.logdir.names import OffsetAndEpoch
from kwire.migration.driver.leadership import UNKNOWN_ZK_VERSION, ZkMigrationLeadershipState

EMPTY = ZkMigrationLeadershipState()


@pytest.mark.parametrize(("offset", "is_copied"), [(-1, False), (0, False), (1, True)])
def test_a_copy_has_an_offset_above_0(offset: int, is_copied: bool) -> None:
    """Java: initialZkMigrationComplete."""
    state = EMPTY.with_metadata(OffsetAndEpoch(offset=offset, epoch=1))
    assert state.is_copied == is_copied


def test_another_leader_has_no_claim() -> None:
    """Java: withNewKRaftController, withUnknownZkController."""
    claimed = EMPTY.with_claim(8, 3).with_migration_zk_version(4)
    assert claimed.has_claim

    other = claimed.with_kraft_controller(3001, 2)
    assert not other.has_claim
    assert other == ZkMigrationLeadershipState(
        kraft_controller_id=3001, kraft_controller_epoch=2, migration_zk_version=4
    )


def test_an_unknown_version_fits_no_znode() -> None:
    """Java: UNKNOWN_ZK_VERSION; -1 fits every one."""
    assert UNKNOWN_ZK_VERSION == -2
    assert EMPTY.migration_zk_version == EMPTY.zk_controller_epoch_zk_version == -2


def test_the_later_epoch_is_the_later_metadata() -> None:
    """Java: OffsetAndEpoch.compareTo."""
    older = EMPTY.with_metadata(OffsetAndEpoch(offset=200, epoch=1))
    newer = EMPTY.with_metadata(OffsetAndEpoch(offset=100, epoch=2))
    assert older.offset_and_epoch < newer.offset_and_epoch
