"""Clients of the simulated world: each creates topics at the leader, request after request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from random import Random

from kwire.errors import AnswerLost, KwireError
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.net.connection import Connection
from tests.controller.virtual.history import Ending, History, Write
from tests.controller.virtual.timeline import Timeline

CONNECT_TIMEOUT = 1.0
PATIENCE = 15.0
"""Seconds beyond a request's timeout for which a client waits, to see how late an answer is."""

THINK = 0.05, 0.25
"""Seconds between an answer and the next request."""


class Client:
    """Asks node after node until one of them leads, and stays there while it does.

    sizes: how many topics a request creates; one of them is chosen each time.
    timeouts: timeout_ms of a request is between these, in seconds.
    limit: of acknowledged requests, after which it ends; None for no limit.
    pace: awaited before each request; by default a moment of thought.
    """

    def __init__(
        self,
        name: str,
        ports: Mapping[int, int],
        random: Random,
        history: History,
        timeline: Timeline,
        *,
        sizes: tuple[int, ...] = (1,),
        timeouts: tuple[float, float] = (4.0, 9.0),
        limit: int | None = None,
        pace: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self.name = name
        self._ports = dict(ports)
        self._random, self._history, self._timeline = random, history, timeline
        self._sizes, self._timeouts = sizes, timeouts
        self._limit = limit
        self._pace = pace or self._think
        self._topics = 0
        self._is_stopping = False

    def stop(self) -> None:
        """End after the present request."""
        self._is_stopping = True

    async def run(self) -> None:
        """Create topics until told to stop."""
        nodes = list(self._ports)
        node_id = self._random.choice(nodes)
        while not self._is_stopping:
            try:
                await self._ask_while_it_leads(node_id)
            except KwireError:
                await asyncio.sleep(0.05)
            node_id = nodes[(nodes.index(node_id) + 1) % len(nodes)]

    async def _ask_while_it_leads(self, node_id: int) -> None:
        connection = await Connection.open(
            "127.0.0.1", self._ports[node_id], connect_timeout=CONNECT_TIMEOUT
        )
        async with connection:
            while not self._is_stopping:
                await self._pace()
                write = await self._create(connection, node_id)
                if not write.acknowledged:
                    return
                if self._limit is not None:
                    self._limit -= 1
                    self._is_stopping = self._limit == 0

    async def _think(self) -> None:
        await asyncio.sleep(self._random.uniform(*THINK))

    async def _create(self, connection: Connection, node_id: int) -> Write:
        write = self._next_write(node_id)
        self._history.writes.append(write)
        loop = asyncio.get_running_loop()
        try:
            answer = await connection.send(_request(write), timeout=write.timeout + PATIENCE)
        except AnswerLost:
            write.ending = Ending.BROKEN if connection.closed else Ending.UNANSWERED
            raise
        except KwireError:
            write.ending = Ending.BROKEN
            raise
        finally:
            write.ended = loop.time()
            self._history.news.set()
        assert isinstance(answer, CreateTopicsResponse)
        write.ending = Ending.ANSWERED
        write.errors = {topic.name or "": topic.error_code for topic in answer.topics}
        if len(write.names) > 1 or not write.acknowledged:
            codes = sorted(set(write.errors.values()))
            self._timeline.say(f"{write}: error codes {codes}")
        return write

    def _next_write(self, node_id: int) -> Write:
        size = self._random.choice(self._sizes)
        names = tuple(f"{self.name}-{self._topics + index}" for index in range(size))
        self._topics += size
        return Write(
            number=len(self._history.writes),
            client=self.name,
            node_id=node_id,
            names=names,
            timeout=round(self._random.uniform(*self._timeouts), 3),
            sent=asyncio.get_running_loop().time(),
        )


def _request(write: Write) -> CreateTopicsRequest:
    topics = [
        CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in write.names
    ]
    return CreateTopicsRequest(topics=topics, timeout_ms=int(write.timeout * 1000))
