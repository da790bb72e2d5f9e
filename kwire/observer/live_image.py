"""An image that follows the quorum while its context lasts: the observer, with connections."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Self

from kwire.errors import BrokerError, ConnectionFailed, KwireError, WireError
from kwire.image import EMPTY, MetadataImage
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.tasks import cancel_and_wait
from kwire.observer.observer import MAX_WAIT_MS, NextStep, Observer

logger = logging.getLogger(__name__)

Open = Callable[[Address], Awaitable[Connection]]
"""Connects to a controller, as a configuration of TLS and SASL says."""

HEAD_START = 0.3
"""Seconds that a controller may take to open before the next one is opened beside it."""

PAUSE = 0.1
"""Seconds after every known controller was asked in vain."""

PATIENCE = MAX_WAIT_MS / 1000 + 2.0
"""Seconds in which a leader answers, or is taken for dead, unless slower ones are waited for."""


async def connect(address: Address) -> Connection:
    """Open a connection without TLS and SASL."""
    return await Connection.open(
        address.host, address.port, client_id="kwire-observer", connect_timeout=2.0
    )


class LiveImage:
    """Asks the controllers at these addresses, and the leader that they name.

    image, offset: of the last moment at which all that was known to be committed was in it, and
    how far that was; empty before the first one. leader: where the controller answers that leads,
    None while none does. failure: why a node refuses for good, such as BrokerError
    CLUSTER_AUTHORIZATION_FAILED, else None. trouble: why the latest visit ended, for people.
    patience: seconds in which a leader answers, or is taken for dead. heard_at: the time of the
    loop at the latest answer; answered_in: seconds that it took.
    """

    def __init__(
        self,
        controllers: Sequence[Address],
        *,
        cluster_id: str | None = None,
        open: Open = connect,
        patience: float = PATIENCE,
    ) -> None:
        self._controllers = tuple(controllers)
        self._open = open
        self._patience = patience
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.observer = Observer(cluster_id)
        self.image: MetadataImage = EMPTY
        self.offset = 0
        self.leader: Address | None = None
        self.failure: KwireError | None = None
        self.trouble = ""
        self.heard_at = self.answered_in = 0.0

    @property
    def leader_id(self) -> int:
        """The id of the leader, -1 while it is not known."""
        return self.observer.leader_id if self.leader is not None else -1

    async def __aenter__(self) -> Self:
        self._task = asyncio.get_running_loop().create_task(self._run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._task is not None
        await cancel_and_wait([self._task])

    async def changed(self) -> None:
        """Wait for another offset, another leader, or a failure."""
        await self._news.wait()

    async def until(self, condition: Callable[[MetadataImage], bool]) -> MetadataImage:
        """Wait for an image that is so; the caller's deadline counts. Raises the `failure`."""
        while not (self.image is not EMPTY and condition(self.image)):
            if self.failure is not None:
                raise self.failure
            await self.changed()
        return self.image

    async def ready(self) -> MetadataImage:
        """Wait for the first image. Raises the `failure`."""
        return await self.until(lambda image: True)

    async def _run(self) -> None:
        """Follow whoever leads; look for another one when that ends, for ever."""
        while True:
            await self._visit_all()
            await asyncio.sleep(PAUSE)

    async def _visit_all(self) -> None:
        """Visit the controllers of the configuration, and before each the leader that was named.

        One that is slow to open goes on while the next one is opened.
        """
        waiting = list(self._controllers)
        opening: dict[asyncio.Future[Connection], Address] = {}
        try:
            while True:
                address = self._named() or (waiting.pop(0) if waiting else None)
                if address is not None:
                    opening[asyncio.ensure_future(self._open(address))] = address
                elif not opening:
                    return
                done, _ = await asyncio.wait(
                    opening,
                    timeout=HEAD_START if waiting else None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for opened in done:
                    await self._visit(opening.pop(opened), opened)
        finally:
            await _abandon(opening)

    def _named(self) -> Address | None:
        # Each name is tried once: a leader that is named and does not answer must not keep us from
        # the configured controllers.
        endpoint, self.observer.leader_endpoint = self.observer.leader_endpoint, None
        return None if endpoint is None else Address(endpoint.host, endpoint.port)

    async def _visit(self, address: Address, opened: asyncio.Future[Connection]) -> None:
        """Follow one controller as long as it leads."""
        try:
            async with await opened as connection:
                await self._follow(connection, address)
        except (ConnectionFailed, TimeoutError) as error:
            self.trouble = str(error) or f"{address} does not answer"
            logger.debug("the observer leaves %s: %s", address, error)
        except WireError as error:
            # Bytes that make no sense leave no trustworthy state: nothing of it is kept.
            logger.warning("the metadata log of %s is read anew: %s", address, error)
            self.observer.restart()
        except KwireError as error:
            self.trouble = f"{address}: {error}"
            if isinstance(error, BrokerError) and error.retriable:
                logger.debug("%s refuses the observer for now: %s", address, error)
            elif self.failure is None:
                logger.warning("%s refuses the observer: %s", address, error)
                self.failure = error
        if self.leader is not None or self.failure is not None:
            self.leader = None
            self._tell()

    async def _follow(self, connection: Connection, address: Address) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            asked_at = clock()
            response = await connection.send(self.observer.request(), timeout=self._patience)
            self.heard_at, self.answered_in = clock(), clock() - asked_at
            if self.observer.receive(response) is NextStep.FIND_LEADER:
                self.trouble = f"{address} does not lead"
                return
            if self.observer.is_current:
                self._show(address)

    def _show(self, leader: Address) -> None:
        image, offset = self.observer.image, self.observer.offset
        if self.leader != leader or self.offset != offset:
            self.leader, self.image, self.offset, self.failure = leader, image, offset, None
            self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


async def _abandon(opening: Iterable[asyncio.Future[Connection]]) -> None:
    """Cancel what is being opened, and close what was."""
    for future in opening:
        future.cancel()
    for result in await asyncio.gather(*opening, return_exceptions=True):
        if isinstance(result, Connection):
            await result.close()
