"""Both sides of a migration, for one look or for many (KIP-866)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from kwire.errors import KwireError
from kwire.image.features import ZkMigrationState
from kwire.migration.operator.facts import KRaftFacts, MigrationFacts, ZooKeeperFacts
from kwire.migration.operator.kraft_side import KRaftSide
from kwire.migration.operator.zookeeper_side import (
    Assigned,
    read_assigned,
    read_facts,
    read_topic_names,
)
from kwire.net.awaited import Awaited
from kwire.zookeeper import ZooKeeper

OpenZooKeeper = Callable[[], Awaitable[ZooKeeper]]

ASSIGNED_AGE = 10.0
"""Seconds after which the topics are read again for brokers in assignments."""

LOOK_AGAIN = 0.5
"""Seconds after which a log has what /migration says: the record is committed before it."""


class MigrationSides:
    """Looks at both sides. A side that fails is looked at again the next time.

    connect: ZooKeeper as the user wrote it. open_zookeeper, kraft: None for a side that nobody
    asked for. failure: why ZooKeeper was not seen the last time.
    """

    def __init__(
        self, connect: str, open_zookeeper: OpenZooKeeper | None, kraft: KRaftSide | None
    ) -> None:
        self._connect = connect
        self._open = open_zookeeper
        self._zookeeper: ZooKeeper | None = None
        self._assigned: Assigned | None = None
        self._assigned_at = 0.0
        self._has_no_copy = True
        self._awaited = Awaited()
        self.kraft = kraft
        self.failure: KwireError | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.kraft is not None:
            await self.kraft.__aexit__(kind, error, traceback)
        if self._zookeeper is not None:
            await self._zookeeper.close()

    @property
    def awaited(self) -> str:
        """The sides that were asked and did not answer yet, for a sentence; empty if none."""
        return self._awaited.text()

    async def zookeeper(self) -> ZooKeeper:
        """Return the session with ZooKeeper. Raises KwireError."""
        assert self._open is not None, "only if it was asked for"
        if self._zookeeper is None:
            self._zookeeper = await self._open()
        return self._zookeeper

    async def facts(self, *, with_assigned: bool = True) -> MigrationFacts:
        """Return what both sides tell now; never raises for what they do.

        with_assigned: read all topics for the brokers in assignments, while that matters.

        1. Look at both sides at once.
        2. If /migration has a copy, and the log has none, look again: the copy may have ended
           between the looks at the two sides.
        3. While ZooKeeper is behind, look which topics it has.
        """
        # 1.
        facts = await self._look(with_assigned)
        # 2.
        if facts.has_left_over_migration:
            await asyncio.sleep(LOOK_AGAIN)
            facts = await self._look(with_assigned)
        # 3.
        return await self._with_topics(facts) if facts.is_behind else facts

    async def _look(self, with_assigned: bool) -> MigrationFacts:
        (zookeeper, no_zookeeper), (kraft, no_kraft) = await asyncio.gather(
            self._zookeeper_facts(with_assigned), self._kraft_facts()
        )
        if kraft is not None and kraft.state is not None:
            self._has_no_copy = kraft.state == ZkMigrationState.PRE_MIGRATION
        if zookeeper is not None and not self._has_no_copy:
            # What was read before the log told that nothing waits for such brokers.
            zookeeper = replace(zookeeper, assigned=None)
        return MigrationFacts(
            connect=self._connect,
            zookeeper=zookeeper,
            no_zookeeper=no_zookeeper,
            zookeeper_failure=self.failure,
            kraft=kraft,
            no_kraft=no_kraft,
        )

    async def _with_topics(self, facts: MigrationFacts) -> MigrationFacts:
        """Add the topics in ZooKeeper, which may lack some of the metadata log's."""
        assert facts.zookeeper is not None, "it is behind"
        try:
            topics = await read_topic_names(await self.zookeeper())
        except KwireError as error:
            self.failure = error
            return facts
        return replace(facts, zookeeper=replace(facts.zookeeper, topics=topics))

    async def _zookeeper_facts(self, with_assigned: bool) -> tuple[ZooKeeperFacts | None, str]:
        if self._open is None:
            return None, ""
        try:
            with self._awaited.asking(f"ZooKeeper {self._connect}"):
                zookeeper = await self.zookeeper()
                facts = await read_facts(zookeeper, self._connect)
                self.failure = None
                if with_assigned:
                    facts = await self._with_assigned(zookeeper, facts)
            return facts, ""
        except KwireError as error:
            self.failure = error
            return None, str(error)

    async def _with_assigned(self, zookeeper: ZooKeeper, facts: ZooKeeperFacts) -> ZooKeeperFacts:
        """Add the brokers in assignments: all topics are read for that, so not at each look.

        After the copy nothing waits for such brokers.
        """
        now = asyncio.get_running_loop().time()
        if self._has_no_copy and (self._assigned is None or now - self._assigned_at > ASSIGNED_AGE):
            self._assigned, self._assigned_at = await read_assigned(zookeeper), now
        return replace(facts, assigned=self._assigned if self._has_no_copy else None)

    async def _kraft_facts(self) -> tuple[KRaftFacts | None, str]:
        if self.kraft is None:
            return None, ""
        try:
            with self._awaited.asking(f"controllers {self.kraft.servers}"):
                return await self.kraft.facts(), ""
        except KwireError as error:
            return None, str(error)
