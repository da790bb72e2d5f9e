"""Moves bytes between a transport and an exchange, and hands responses to those that wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from kwire.codec.declaration import Request
from kwire.errors import AnswerLost, ConnectionFailed, FrameError, KwireError, WireError
from kwire.net.exchange import Exchange, SentRequest
from kwire.net.frames import ResponseFrame

CLOSE_TIMEOUT = 1.0
"""Seconds a peer has to take part in closing before it is cut off."""


class Link(asyncio.Protocol):
    """The protocol behind a connection. peer: its `host:port`, for errors."""

    def __init__(self, peer: str, exchange: Exchange) -> None:
        self._peer = peer
        self._exchange = exchange
        self._transport: asyncio.Transport | None = None
        self._waiting: dict[int, tuple[SentRequest, asyncio.Future[ResponseFrame]]] = {}
        self._writable = asyncio.Event()
        self._ended = asyncio.Event()
        self.closed = False

    @property
    def connected(self) -> bool:
        """True if the peer has accepted the connection."""
        return self._transport is not None

    @property
    def idle(self) -> bool:
        """True if nobody waits for a response."""
        return not self._waiting

    async def send(self, request: Request, version: int) -> ResponseFrame:
        """Send a request as soon as the transport takes it; return its response."""
        transport = await self._writable_transport()
        sent, frame = self._exchange.send(request, version)
        answer: asyncio.Future[ResponseFrame] = asyncio.get_running_loop().create_future()
        self._waiting[sent.correlation_id] = sent, answer
        transport.write(frame)
        try:
            return await answer
        finally:
            self._waiting.pop(sent.correlation_id, None)

    async def send_unanswered(self, request: Request, version: int) -> None:
        """Send a request that gets no answer."""
        transport = await self._writable_transport()
        transport.write(self._exchange.send(request, version, answered=False)[1])

    async def _writable_transport(self) -> asyncio.Transport:
        """Return the transport, as soon as it takes more."""
        await self._writable.wait()
        if self.closed or self._transport is None:
            raise ConnectionFailed(f"the connection to {self._peer} is closed: open a new one")
        return self._transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        try:
            self._exchange.receive(data, self._answered)
        except FrameError as error:
            reason = f"{self._peer} sent {error}"
            self._end(lambda sent: FrameError(reason))
            self.abort()

    def _answered(self, sent: SentRequest, answer: ResponseFrame | WireError) -> None:
        # A caller that timed out or was cancelled has left: the late response is dropped, and the
        # connection stays in order.
        waiting = self._waiting.get(sent.correlation_id)
        if waiting is None or waiting[1].done():
            return
        if isinstance(answer, WireError):
            waiting[1].set_exception(answer)
        else:
            waiting[1].set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        half = self._exchange.pending
        how = f" after {half} bytes of half an answer" if half else f" ({exc})" if exc else ""
        peer = self._peer
        self._end(
            lambda sent: AnswerLost(f"{peer} closed the connection before it answered {sent}{how}")
        )
        self._ended.set()

    def _end(self, failure: Callable[[SentRequest], KwireError]) -> None:
        # Whoever waits for a writable transport wakes up to find the connection closed.
        self.closed = True
        self._writable.set()
        for sent, answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(failure(sent))

    def abort(self) -> None:
        """End it without a farewell."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    async def close(self) -> None:
        """Send what is buffered, end it, and return when the transport is gone.

        A TLS transport that is closed a second time, or after its peer's end, lets go of its
        protocol: `abort` then does nothing, and on Python 3.11.2 (Debian 12) raises AttributeError.
        """
        self.closed = True
        if self._transport is None:
            return
        peer = self._peer
        self._end(lambda sent: AnswerLost(f"the connection to {peer} was closed here: {sent}"))
        # The flush of buffered bytes may wait for a peer that reads nothing: CLOSE_TIMEOUT bounds
        # it.
        if not self._transport.is_closing():
            self._transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await self._ended.wait()
        self._transport.abort()
        await self._ended.wait()
