"""The queue and connection of one broker (kafka.controller.RequestSendThread, KIP-866)."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from kwire.errors import EncodeError, KwireError
from kwire.migration.driver.propagation import BrokerRequest
from kwire.migration.node.control_responses import error_text
from kwire.migration.node.propagation_step import PropagationStep
from kwire.net.address import Address
from kwire.net.connection import Connection

log = logging.getLogger(__name__)

BACKOFF = 0.1
"""Seconds between attempts to deliver a request, as Java has them."""

MANY_STEPS = 1000
"""Steps that wait for one broker."""

MANY_PARTITIONS = 200_000
"""Partitions of the steps that wait for one broker; each takes up to a kilobyte."""

ConnectToBroker = Callable[[Address], Awaitable[Connection]]
"""Opens a connection to a broker. Raises what `Connection.open` raises."""


class BrokerChannel:
    """Delivers requests to one broker in their order, each when the one before is answered.

    A request is repeated until the broker answers it; what the answer says is logged. Where more
    waits than fits, because the broker stands still, the steps that wait are replaced by one with
    the newest image as a whole. Java's queue grows.

    waiting: steps that were not begun.
    """

    def __init__(
        self, node_id: int, broker_id: int, address: Address, connect: ConnectToBroker
    ) -> None:
        self._node_id = node_id
        self._broker_id = broker_id
        self._address = address
        self._connect = connect
        self._connection: Connection | None = None
        self._steps: deque[PropagationStep] = deque()
        self._put = asyncio.Event()
        self._is_failing = self._is_behind = False

    @property
    def waiting(self) -> int:
        """The number of steps that were not begun."""
        return len(self._steps)

    def put(self, step: PropagationStep, newest: Callable[[], PropagationStep]) -> None:
        """Add a step. newest: returns the one that can replace all, with the image as a whole."""
        self._steps.append(step)
        count, size = len(self._steps), sum(step.size for step in self._steps)
        if count > 1 and (count > MANY_STEPS or size > MANY_PARTITIONS):
            self._steps = deque([newest()])
            if not self._is_behind:
                self._warn(f"has not taken {count} changes: it will get all metadata anew")
            self._is_behind = True
        self._put.set()

    async def run(self) -> None:
        """Deliver steps until it is cancelled; the connection is closed then."""
        try:
            while True:
                await self._put.wait()
                if self._steps:
                    for request in await self._steps.popleft().take(self._broker_id):
                        await self._deliver(request)
                else:
                    self._is_behind = False
                    self._put.clear()
        finally:
            await self._close()

    async def _deliver(self, request: BrokerRequest) -> None:
        """Deliver a request, however often it takes.

        1. Connect, unless there is a connection; send the request, and wait for its answer.
        2. If either fails, close the connection, wait and begin again. A broker that is gone for
           good is fenced in the end, which ends this channel.
        3. Log the errors of the answer. Nothing else depends on them: a broker that refuses the
           controller's epoch has heard of another controller.
        """
        while True:
            try:
                # 1.
                answer = await (await self._open()).send(request.request, request.version)
                break
            except EncodeError as error:
                self._warn(f"is not told, since a request cannot be written: {error}")
                return
            except KwireError as error:
                # 2.
                await self._close()
                self._note_failure(error)
                await asyncio.sleep(BACKOFF)
        self._note_success()
        # 3.
        if text := error_text(answer):
            self._warn(f"answers {type(request.request).__name__} by {text}")

    async def _open(self) -> Connection:
        if self._connection is None or self._connection.closed:
            await self._close()
            self._connection = await self._connect(self._address)
        return self._connection

    async def _close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()

    def _note_failure(self, error: KwireError) -> None:
        # Once: attempts are many.
        if not self._is_failing:
            self._warn(f"is not told of metadata until it can be reached: {error}")
        self._is_failing = True

    def _note_success(self) -> None:
        if self._is_failing:
            log.info("controller %d: broker %d is told again", self._node_id, self._broker_id)
        self._is_failing = False

    def _warn(self, text: str) -> None:
        where = self._node_id, self._broker_id, self._address
        log.warning("controller %d: broker %d at %s %s", *where, text)
