"""A viewer's end of the feed: subscribes, renews, counts what was lost, asks and commands."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Self

import asyncio_dgram

from kwire.errors import AnswerLost, ConnectionFailed, InvalidValue, LocalError
from kwire.net.address import Address
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.feed.datagrams import (
    LIMIT,
    AddRule,
    BadDatagram,
    Challenge,
    Command,
    Done,
    Edit,
    FromProxy,
    FromViewer,
    Get,
    GetRules,
    Leave,
    Part,
    Release,
    RemoveRule,
    RuleShown,
    RulesPart,
    Seen,
    SetHold,
    Status,
    Subscribe,
    SwitchRule,
    decode_from_proxy,
    decode_records,
    decode_rules,
    decode_shown,
    encode,
)
from kwire.proxy.feed.fitting import event_of
from kwire.proxy.flows.flow import Event

logger = logging.getLogger(__name__)

RENEW, GREET = 3.0, 0.5
"""Seconds between renewals, and between greetings of a proxy that has not answered yet."""

TIMEOUT, PATIENCE = 4.0, 0.5
"""Seconds for which something is asked, and between two times of it."""

LONGEST_RULE = LIMIT - 256
"""Bytes of a rule that fits a datagram."""

_BUFFER = 4 * 1024 * 1024

_Answer = Part | RulesPart | Done


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
    not come. foreign: datagrams that cannot be read; problem: why the last of them. timeout: for so
    many seconds something is asked. Raises ConnectionFailed where the address means nothing.
    """

    def __init__(
        self,
        address: Address,
        take: Callable[[Watched], None],
        *,
        token: bytes = b"",
        backlog: int = 200,
        told: Callable[[], None] = lambda: None,
        timeout: float = TIMEOUT,
    ) -> None:
        self._address = address
        self._take = take
        self._token = token
        self._backlog = backlog
        self._told = told
        self._cookie = b""
        self._heard = 0.0
        self._highest = self._received = self._lost_before = 0
        self._timeout = timeout
        # Behind those of a viewer that had this port before: the proxy may still know its last one.
        self._numbers = count(time.time_ns())
        self._asked: dict[object, asyncio.Future[_Answer]] = {}
        self._answers = asyncio.Event()
        self._refused = False
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

    async def rules(self) -> tuple[RuleShown, ...]:
        """The rules of the proxy, in their order. Raises AnswerLost."""
        number, data, part, parts = next(self._numbers), [], 0, 1
        while part < parts:
            get = GetRules(cookie=self._cookie, number=number, part=part)
            answer = await self._ask(get, (number, part))
            assert isinstance(answer, RulesPart)
            data.append(answer.data)
            part, parts = part + 1, answer.parts
        return decode_rules(b"".join(data))

    async def add_rule(self, rule: str) -> tuple[str, ...]:
        """Add a rule, YAML as in a rules file; return its name, or those of a preset's rules.

        Raises Refused, InvalidValue where it is too long, and AnswerLost where it is not known
        whether it was added, as the next two do.
        """
        if len(rule.encode()) > LONGEST_RULE:
            raise InvalidValue(f"a rule of more than {LONGEST_RULE} bytes: put it in a rules file")
        add = AddRule(cookie=self._cookie, number=next(self._numbers), rule=rule)
        return (await self._command(add)).names

    async def switch_rule(self, name: str, *, enabled: bool) -> None:
        """Let a rule act, or not. Raises Refused."""
        number, cookie = next(self._numbers), self._cookie
        await self._command(SwitchRule(cookie=cookie, number=number, name=name, enabled=enabled))

    async def remove_rule(self, name: str) -> None:
        """Remove a rule. Raises Refused."""
        number = next(self._numbers)
        await self._command(RemoveRule(cookie=self._cookie, number=number, name=name))

    async def greeted(self) -> None:
        """Wait until the proxy has answered. Raises ConnectionFailed, with what to look at."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout
        while (left := end - loop.time()) > 0 and not self._refused:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, PATIENCE)):
                    await self._answers.wait()
                    return
        if self._refused:
            reason = "nothing listens there: is it what `kwire proxy --feed` was given?"
        elif self.problem:
            reason = f"{self.problem}: give the token file that --feed-token was given"
        else:
            token = "is --token what --feed-token was given"
            reason = f"no answer for {self._timeout:g} s: {token}, or does the proxy stand still?"
        raise ConnectionFailed(f"{self._address}: {reason}")

    async def _command(self, command: Command) -> Done:
        done = await self._ask(command, command.number)
        await self._greet()
        assert isinstance(done, Done)
        if done.problem:
            raise Refused(done.problem)
        return done

    async def _ask(self, message: Get | GetRules | Command, key: object) -> _Answer:
        """Send it until it is answered; the proxy does a command once."""
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._asked[key] = answer
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._timeout):
                    while True:
                        await self._send(message)
                        await asyncio.wait([answer], timeout=PATIENCE)
                        if answer.done():
                            return answer.result()
        finally:
            self._asked.pop(key, None)
        raise AnswerLost(f"no answer from {self._address} for {self._timeout:g} s")

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
        try:
            await self._stream.send(encode(message, self._token))
        except OSError:  # nobody listens there, or not yet
            self._refused = True

    async def _listen(self) -> None:
        while True:
            try:
                data, _ = await self._stream.recv()
                await self._hear(decode_from_proxy(data, self._token))
            except BadDatagram as error:
                self.foreign += 1
                self.problem = str(error)
            except OSError:  # nobody listens there, or not yet
                self._refused = True

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
            case RulesPart():
                self._answered((message.number, message.part), message)
            case Done():
                self._answered(message.number, message)

    def _note(self, status: Status) -> None:
        if status.sequence < self._highest:  # the proxy had forgotten us, or is another one
            self._lost_before = self.lost
            self._highest = self._received = 0
        self._highest = max(self._highest, status.sequence)
        self._heard = asyncio.get_running_loop().time()
        self.status = status
        self._answers.set()
        self._told()

    def _answered(self, key: object, answer: _Answer) -> None:
        future = self._asked.get(key)
        if future is not None and not future.done():
            future.set_result(answer)
