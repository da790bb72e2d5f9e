"""Both sides looked at again and again: what is lost, and what is read only now and then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kwire.errors import KwireError
from kwire.image.features import ZkMigrationState
from kwire.migration.operator.facts import KRaftFacts
from kwire.migration.operator.kraft_side import KRaftSide
from kwire.migration.operator.sides import MigrationSides
from kwire.zookeeper import Create, ZooKeeper, ZooKeeperUnreachable
from migrating.memory_zookeeper import MemorySession, MemoryZooKeeper
from tests.support.migration.golden import golden_zookeeper
from tests.support.migration.sides import kraft
from tests.support.virtual_time import in_virtual_time


class Opener:
    """Opens sessions with a ZooKeeper, or fails."""

    def __init__(self, server: MemoryZooKeeper) -> None:
        self.server = server
        self.sessions: list[MemorySession] = []
        self.failure: KwireError | None = None

    async def __call__(self) -> ZooKeeper:
        if self.failure is not None:
            raise self.failure
        self.sessions.append(self.server.open_session())
        return self.sessions[-1]


async def test_one_session_is_used_for_all_looks() -> None:
    opener = Opener(golden_zookeeper("before"))
    async with MigrationSides("zk", opener, None) as sides:
        for _ in range(3):
            assert (await sides.facts()).zookeeper is not None
    assert len(opener.sessions) == 1


async def test_a_lost_connection_is_told_and_the_next_look_has_it_again() -> None:
    opener = Opener(golden_zookeeper("before"))
    async with MigrationSides("zk", opener, None) as sides:
        await sides.facts()
        opener.server.disconnect(opener.sessions[0])
        lost = await sides.facts()
        assert lost.zookeeper is None
        assert lost.no_zookeeper
        assert isinstance(sides.failure, KwireError)
        opener.server.reconnect(opener.sessions[0])
        assert (await sides.facts()).no_zookeeper == ""
        assert sides.failure is None


async def test_a_session_that_could_not_be_opened_is_tried_again() -> None:
    opener = Opener(golden_zookeeper("before"))
    opener.failure = ZooKeeperUnreachable("zk refused")
    async with MigrationSides("zk", opener, None) as sides:
        assert (await sides.facts()).no_zookeeper == "zk refused"
        opener.failure = None
        assert (await sides.facts()).zookeeper is not None


class BehindQuorum(KRaftSide):
    """Controllers whose log ends at an offset."""

    def __init__(self, end: int) -> None:
        super().__init__("c1:9093", ())
        self._facts_now = replace(kraft(ZkMigrationState.MIGRATION, end=end), epoch=1)

    async def facts(self) -> KRaftFacts:
        return self._facts_now


@pytest.mark.parametrize("is_behind", [True, False])
async def test_topics_are_read_only_while_zookeeper_is_behind(is_behind: bool) -> None:
    opener = Opener(golden_zookeeper("dual-write"))
    async with MigrationSides("zk", opener, None) as sides:
        position = (await sides.facts()).migration
    assert position is not None
    end = position.kraft_metadata_offset + (100 if is_behind else 1)
    async with MigrationSides("zk", opener, BehindQuorum(end)) as sides:
        zookeeper = (await sides.facts()).zookeeper
    assert zookeeper is not None
    assert ("orders" in (zookeeper.topics or ())) == is_behind


async def test_brokers_in_assignments_are_read_only_where_they_matter() -> None:
    opener = Opener(golden_zookeeper("before"))
    async with MigrationSides("zk", opener, None) as sides:
        facts = await sides.facts()
        without = await sides.facts(with_assigned=False)
    assert facts.zookeeper is not None
    assert without.zookeeper is not None
    assert facts.zookeeper.assigned is not None
    assert set(facts.zookeeper.assigned) == {0, 1}
    assert without.zookeeper.assigned is None


async def test_after_the_copy_no_assignment_is_waited_for_from_the_first_look_on() -> None:
    opener = Opener(golden_zookeeper("dual-write"))
    async with MigrationSides("zk", opener, BehindQuorum(120)) as sides:
        zookeeper = (await sides.facts()).zookeeper
    assert zookeeper is not None
    assert zookeeper.assigned is None


async def test_topics_that_are_deleted_are_not_waited_for() -> None:
    opener = Opener(golden_zookeeper("before"))
    session = opener.server.open_session()
    names = await session.children("/brokers/topics")
    await session.multi([Create(f"/admin/delete_topics/{name}") for name in names])
    async with MigrationSides("zk", opener, None) as sides:
        zookeeper = (await sides.facts()).zookeeper
    assert zookeeper is not None
    assert zookeeper.assigned == {}


class CopyingQuorum(KRaftSide):
    """Controllers whose copy ends between two looks; or never."""

    def __init__(self, *, ends: bool) -> None:
        super().__init__("c1:9093", ())
        self._ends = ends
        self.looks = 0

    async def facts(self) -> KRaftFacts:
        self.looks += 1
        has_copy = self._ends and self.looks > 1
        state = ZkMigrationState.MIGRATION if has_copy else ZkMigrationState.PRE_MIGRATION
        return replace(kraft(state, end=120), epoch=1)


@pytest.mark.parametrize("ends", [True, False])
@in_virtual_time
async def test_a_copy_that_ends_between_both_looks_is_not_called_left_over(ends: bool) -> None:
    opener = Opener(golden_zookeeper("dual-write"))
    quorum = CopyingQuorum(ends=ends)
    async with MigrationSides("zk", opener, quorum) as sides:
        facts = await sides.facts()
    assert quorum.looks == 2
    assert facts.has_left_over_migration is not ends
