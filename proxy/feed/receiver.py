"""A viewer's end of the feed: subscribes, renews, counts what was lost, asks and commands."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Self

import asyncio_dgram

from kwire.address import Address
from kwire.errors import AnswerLost, ConnectionFailed, LocalError
from kwire.tasks import cancel_and_wait
from proxy.feed.datagrams import (
    BadDatagram,
    Challenge,
    Command,
    Done,
    Edit,
    FromProxy,
    FromViewer,
    Get,
    Leave,
    Part,
    Release,
    Seen,
    SetHold,
    Status,
    Subscribe,
    decode_from_proxy,
    decode_records,
    decode_shown,
    encode,
)
from proxy.feed.fitting import event_of
from proxy.flow import Event

logger = logging.getLogger(__name__)

RENEW, GREET = 3.0, 0.5
"""Seconds between renewals, and between greetings of a proxy that has not answered yet."""

TRIES, PATIENCE = 8, 0.5
"""How often something is asked, and for how many seconds each time."""

_BUFFER = 4 * 1024 * 1024


class Refused(LocalError):
    """The proxy did not do what it was told to, and says why."""


@dataclass(frozen=True, slots=True)
class Watched:
    """An event by its number in the feed; held: its response waits, without one its request."""

    number: int
    event: Event
    held: bool = False


class Receiver:
    """Gives `take` what passes at a proxy with a feed, while the context lasts.

    backlog: so many of the latest events first. told: called when `status` has come anew, or is
    None since nothing is heard any more. lost: events that were sent, or should have been, and did
    not come. foreign: datagrams that cannot be read; problem: why the last of them. Raises
    ConnectionFailed where the address means nothing.
    """

    def __init__(
        self,
        address: Address,
        take: Callable[[Watched], None],
        *,
        token: bytes = b"",
        backlog: int = 200,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        self._address = address
        self._take = take
        self._token = token
        self._backlog = backlog
        self._told = told
        self._cookie = b""
        self._heard = 0.0
        self._highest = self._received = self._lost_before = 0
        self._numbers = count(1)
        self._asked: dict[object, asyncio.Future[Part | Done]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.status: Status | None = None
        self.foreign = 0
        self.problem = ""

    @property
    def lost(self) -> int:
        """Events that did not come."""
        return self._lost_before + max(self._highest - self._received, 0)

    async def __aenter__(self) -> Self:
        try:
            where = (self._address.host, self._address.port)
            self._stream = await asyncio_dgram.connect(where)
        except OSError as error:
            reason = error.strerror or os.strerror(error.errno or 0)
            raise ConnectionFailed(f"cannot reach {self._address}: {reason}") from error
        self._stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._listen()), loop.create_task(self._renew())]
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            await cancel_and_wait(self._tasks)
            await self._send(Leave(cookie=self._cookie))
        finally:
            self._stream.close()

    async def whole(self, number: int) -> Event:
        """The event with its whole frames. Raises Refused where it is gone, AnswerLost."""
        data, part, parts = [], 0, 1
        while part < parts:
            get = Get(cookie=self._cookie, flow=number, part=part)
            answer = await self._ask(get, (number, part))
            assert isinstance(answer, Part)
            if not answer.parts:
                raise Refused("the proxy does not keep that flow any more")
            data.append(answer.data)
            part, parts = part + 1, answer.parts
        return event_of(decode_records(b"".join(data)))[1]

    async def set_hold(self, expression: str | None) -> None:
        """Hold messages of which it is so from now on; None holds no more. Raises Refused."""
        number = next(self._numbers)
        await self._command(SetHold(cookie=self._cookie, number=number, expression=expression))

    async def release(self, flow: int, how: str = "resume") -> None:
        """Let a held message go on, or `drop` it, or `close` its connection. Raises Refused."""
        number = next(self._numbers)
        await self._command(Release(cookie=self._cookie, number=number, flow=flow, how=how))

    async def edit(self, flow: int, path: str, value: str) -> None:
        """Set a field of a held message. Raises Refused."""
        number, cookie = next(self._numbers), self._cookie
        await self._command(Edit(cookie=cookie, number=number, flow=flow, path=path, value=value))

    async def _command(self, command: Command) -> None:
        done = await self._ask(command, command.number)
        await self._greet()
        assert isinstance(done, Done)
        if done.problem:
            raise Refused(done.problem)

    async def _ask(self, message: Get | Command, key: object) -> Part | Done:
        """Send it until it is answered; the proxy does a command once."""
        answer = self._asked[key] = asyncio.get_running_loop().create_future()
        try:
            for _ in range(TRIES):
                await self._send(message)
                with suppress(TimeoutError):
                    async with asyncio.timeout(PATIENCE):
                        return await asyncio.shield(answer)
        finally:
            self._asked.pop(key, None)
        raise AnswerLost(f"no answer from {self._address} for {TRIES * PATIENCE:g} s")

    async def _renew(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._greet()
            await asyncio.sleep(GREET if self.status is None else RENEW)
            if self.status is not None and loop.time() - self._heard > self.status.seconds:
                self.status = None
                self._told()

    async def _greet(self) -> None:
        backlog = self._backlog if not self._heard else 0
        await self._send(Subscribe(cookie=self._cookie, backlog=backlog))

    async def _send(self, message: FromViewer) -> None:
        with suppress(OSError):  # nobody listens there, or not yet
            await self._stream.send(encode(message, self._token))

    async def _listen(self) -> None:
        while True:
            try:
                data, _ = await self._stream.recv()
                await self._hear(decode_from_proxy(data, self._token))
            except BadDatagram as error:
                self.foreign += 1
                self.problem = str(error)
            except OSError:  # nobody listens there, or not yet
                continue

    async def _hear(self, message: FromProxy) -> None:
        match message:
            case Challenge():
                self._cookie = message.cookie
                await self._greet()
            case Status():
                self._note(message)
            case Seen():
                self._received += len(message.events)
                last = message.sequence + len(message.events) - 1
                self._highest = max(self._highest, last)
                for data in message.events:
                    shown = decode_shown(data)
                    number, event = event_of(shown.records)
                    self._take(Watched(number, event, shown.held))
            case Part():
                self._answered((message.flow, message.part), message)
            case Done():
                self._answered(message.number, message)

    def _note(self, status: Status) -> None:
        if status.sequence < self._highest:  # the proxy had forgotten us, or is another one
            self._lost_before = self.lost
            self._highest = self._received = 0
        self._highest = max(self._highest, status.sequence)
        self._heard = asyncio.get_running_loop().time()
        self.status = status
        self._told()

    def _answered(self, key: object, answer: Part | Done) -> None:
        future = self._asked.get(key)
        if future is not None and not future.done():
            future.set_result(answer)
