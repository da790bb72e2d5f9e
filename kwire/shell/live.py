"""Images of a running quorum: an observer follows it while the shell asks (KIP-919)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from typing import Any, Self, TypeVar

from kwire.admin.find_quorum import find_quorum
from kwire.errors import ConnectionFailed
from kwire.net.address import Address
from kwire.net.resolving import AbandonableThreads
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, Security
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts
from kwire.observer import LiveImage, NextStep, Observer
from kwire.shell.position import OffsetNotAvailable, PositionedImage

T = TypeVar("T")

CLIENT_ID = "kwire-shell"


class LiveSource:
    """The quorum of controllers at these addresses, followed from a thread of its own.

    timeouts: the first image, and an earlier one, have the time of an operation.
    """

    def __init__(
        self,
        controllers: Sequence[Address],
        security: Security = PLAINTEXT,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
    ) -> None:
        self._controllers = controllers
        self._timeout = timeouts.operation
        self._security = security
        self._connect = SecureConnect(security, CLIENT_ID, timeouts=timeouts)
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(AbandonableThreads())
        # A prompt blocks its thread, and the image goes on following meanwhile.
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._live = LiveImage(controllers, open=self._connect, patience=timeouts.request_seconds)
        self._followed = False

    def __str__(self) -> str:
        return ",".join(map(str, self._controllers))

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._call(self._find_quorum())
            self._call(self._live.__aenter__())
            self._followed = True
            self._call(self._first())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            if self._followed:
                self._call(self._live.__aexit__())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def latest(self) -> PositionedImage:
        """Return the image of this moment; the last one known while no controller leads."""
        return self._call(self._latest())

    def reload(self) -> None:
        """Do nothing: the image follows the quorum by itself."""

    def at(self, offset: int) -> PositionedImage:
        """Read the log of the leader anew, up to the offset.

        Raises OffsetNotAvailable, and ConnectionFailed while no controller leads.
        """
        return self._call(self._at(offset))

    async def _find_quorum(self) -> None:
        await find_quorum(
            str(self),
            client_id=CLIENT_ID,
            security=self._security,
            timeouts=self._connect.timeouts,
        )

    async def _first(self) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await self._live.ready()
        except TimeoutError:
            trouble = f": {self._live.trouble}" if self._live.trouble else ""
            raise ConnectionFailed(
                f"no controller of {self} leads, or gave its metadata within"
                f" {self._timeout:g} seconds: slow, or brokers, which cannot be asked{trouble}"
            ) from None

    async def _latest(self) -> PositionedImage:
        observer = self._live.observer
        # While the observer catches up, its own image is ahead of the one that may be shown.
        if observer.is_current:
            return _position(observer)
        return PositionedImage(
            image=self._live.image,
            offset=self._live.offset - 1,
            epoch=None,
            timestamp=None,
            raft=observer.raft,
        )

    async def _at(self, offset: int) -> PositionedImage:
        if self._live.leader is None:
            raise ConnectionFailed(f"no controller of {self} leads: {self._live.trouble}")
        # From where the session's own observer began: the leader may have newer snapshots since,
        # and gives one of them to whoever asks for the log from 0 on.
        start = self._live.observer.start
        if start.place.offset > offset + 1:
            raise OffsetNotAvailable(offset, self, start.place.offset - 1, self._live.offset - 1)
        observer = Observer(start=start, end=offset + 1)
        try:
            async with asyncio.timeout(self._timeout):
                await self._read(observer, self._live.leader)
        except TimeoutError:
            seconds = f"{self._timeout:g} seconds"
            raise ConnectionFailed(f"{self._live.leader} gave no log within {seconds}") from None
        first = max(0, observer.start.place.offset - 1)
        if not first <= offset < observer.high_watermark:
            raise OffsetNotAvailable(offset, self, first, observer.high_watermark - 1)
        return _position(observer)

    async def _read(self, observer: Observer, leader: Address) -> None:
        async with await self._connect(leader) as connection:
            while not observer.has_ended:
                request = observer.request()
                response = await connection.send(request)
                if observer.receive(response) is NextStep.FIND_LEADER:
                    raise ConnectionFailed(f"{leader} does not lead any more: try again")

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the thread of the observer; Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


def _position(observer: Observer) -> PositionedImage:
    place = observer.position
    return PositionedImage(
        image=observer.image,
        offset=place.offset - 1 if place.offset else None,
        epoch=place.epoch,
        timestamp=observer.timestamp,
        raft=observer.raft,
    )
