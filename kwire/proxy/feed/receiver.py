"""The viewer's end of the feed: subscribes, renews, counts lost events, sends commands."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Self

import asyncio_dgram
from msgspec.structs import replace

from kwire.errors import AnswerLost, ConnectionFailed, InvalidValue
from kwire.net.address import Address
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.feed.datagram_records import event_of_records
from kwire.proxy.feed.datagrams import (
    LIMIT,
    NONCE,
    AddRule,
    BadDatagram,
    Challenge,
    Command,
    CommandResult,
    Edit,
    FetchedPart,
    FromProxy,
    FromViewer,
    GetFlow,
    GetRules,
    Leave,
    Release,
    RemoveRule,
    Seen,
    SetHold,
    ShownRule,
    Stamp,
    Status,
    Subscribe,
    SwitchRule,
    check_token,
    decode_from_proxy,
    decode_records,
    decode_rules,
    decode_shown_event,
    encode,
)
from kwire.proxy.feed.sessions import Session
from kwire.proxy.feed.source import CommandRefused, FeedEvent
from kwire.proxy.feed.viewers import VIEWER_LIMIT
from kwire.proxy.flows.flow import Event

logger = logging.getLogger(__name__)

RENEW, RETRY = 3.0, 0.5
"""Seconds between renewals, and between attempts to reach a proxy that has not answered yet."""

TIMEOUT, REPEAT = 4.0, 0.5
"""Seconds for which a request is repeated, and between two repetitions: datagrams get lost."""

LONGEST_RULE = LIMIT - 256
"""Most bytes of a rule, which has to fit a datagram."""

_BUFFER = 4 * 1024 * 1024

_FeedAnswer = FetchedPart | CommandResult


class Receiver:
    """Calls `take` with the events of a feed while the context lasts.

    backlog: how many of the latest events to get first. on_status: called when `status` is new, or
    None because the proxy has not been heard of for too long. lost: events of the feed that did not
    arrive. unreadable: datagrams that could not be decoded. problem: why the last of them could
    not. stale: datagrams that came before, came late, or are of another run or viewer. timeout:
    seconds for which a request is repeated. samples: of more flows than a screen can show, get
    those with errors and a sample; left_out: how many were not sent for that. Raises InvalidValue
    for a short token, and ConnectionFailed if the address cannot be used.
    """

    def __init__(
        self,
        address: Address,
        take: Callable[[FeedEvent], None],
        *,
        token: bytes = b"",
        backlog: int = 200,
        on_status: Callable[[], None] = lambda: None,
        timeout: float = TIMEOUT,
        samples: bool = False,
    ) -> None:
        check_token(token)
        self._address = address
        self._take = take
        self._token = token
        self._backlog = backlog
        self._on_status = on_status
        self._nonce = os.urandom(NONCE)
        self._session: Session | None = None
        self._feed_started = 0.0
        self._last_status = 0.0
        self._highest = self._received = self._lost_before = 0
        self._timeout = timeout
        self._samples = samples
        self._left_out = self._left_out_before = 0
        self._numbers = count(1)
        self._requests: dict[tuple[int, int], asyncio.Future[_FeedAnswer]] = {}
        self._answered = asyncio.Event()
        self._refused = False
        self._tasks: list[asyncio.Task[None]] = []
        self.status: Status | None = None
        self.unreadable = self.stale = 0
        self.problem = ""

    @property
    def lost(self) -> int:
        """Events that did not arrive."""
        return self._lost_before + max(self._highest - self._received, 0)

    @property
    def left_out(self) -> int:
        """Flows without errors that were not sent."""
        return self._left_out_before + self._left_out

    async def __aenter__(self) -> Self:
        try:
            target = (self._address.host, self._address.port)
            self._stream = await asyncio_dgram.connect(target)
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
            if self._session is not None:
                await self._send(Leave())
        finally:
            self._stream.close()

    async def complete_event(self, number: int) -> Event:
        """Return an event with its whole frames.

        Raises CommandRefused if the proxy does not keep it any more, AnswerLost.
        """
        data = await self._fetch(GetFlow(number=next(self._numbers), flow=number))
        if not data:
            raise CommandRefused("the proxy does not keep that flow any more")
        return event_of_records(decode_records(data))[1]

    async def set_hold(self, expression: str | None) -> None:
        """Hold messages that match from now on; None holds no more. Raises CommandRefused."""
        await self._command(SetHold(number=next(self._numbers), expression=expression))

    async def release(self, flow: int, how: str = "resume") -> None:
        """Let a held message pass, `drop` it, or `close` its connection. Raises CommandRefused."""
        await self._command(Release(number=next(self._numbers), flow=flow, how=how))

    async def edit(self, flow: int, path: str, value: str) -> None:
        """Set a field of a held message. Raises CommandRefused."""
        number = next(self._numbers)
        await self._command(Edit(number=number, flow=flow, path=path, value=value))

    async def rules(self) -> tuple[ShownRule, ...]:
        """Return the rules of the proxy, in their order. Raises AnswerLost."""
        return decode_rules(await self._fetch(GetRules(number=next(self._numbers))))

    async def add_rule(self, rule: str) -> tuple[str, ...]:
        """Add a rule, YAML as in a rules file; return its name, or those of a preset's rules.

        Raises CommandRefused, InvalidValue if the rule is too long, and AnswerLost if it is not
        known whether the rule was added; so do the next two methods.
        """
        if len(rule.encode()) > LONGEST_RULE:
            raise InvalidValue(f"a rule of more than {LONGEST_RULE} bytes: put it in a rules file")
        return (await self._command(AddRule(number=next(self._numbers), rule=rule))).names

    async def switch_rule(self, name: str, *, enabled: bool) -> None:
        """Enable or disable a rule. Raises CommandRefused."""
        number = next(self._numbers)
        await self._command(SwitchRule(number=number, name=name, enabled=enabled))

    async def remove_rule(self, name: str) -> None:
        """Remove a rule. Raises CommandRefused."""
        await self._command(RemoveRule(number=next(self._numbers), name=name))

    async def reached(self) -> None:
        """Wait until the proxy has answered. Raises ConnectionFailed with what to check."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout
        while (left := end - loop.time()) > 0 and not self._refused:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, REPEAT)):
                    await self._answered.wait()
                    return
        if self._refused:
            reason = "nothing listens there: is it what `kwire proxy --feed` was given?"
        elif self.problem:
            reason = f"{self.problem}: give the token file that --feed-token was given"
        else:
            token = "is --token what --feed-token was given"
            others = f"has the feed {VIEWER_LIMIT} viewers already, or has the proxy stopped?"
            reason = f"no answer for {self._timeout:g} s: {token}, {others}"
        raise ConnectionFailed(f"{self._address}: {reason}")

    async def _command(self, command: Command) -> CommandResult:
        size = len(encode(command, Stamp(), self._token))
        if size > LIMIT:
            raise CommandRefused(f"a command of {size} bytes is too long, {LIMIT} are the most")
        result = await self._ask(command)
        await self._subscribe()
        assert isinstance(result, CommandResult)
        if result.problem:
            raise CommandRefused(result.problem)
        return result

    async def _fetch(self, get: GetFlow | GetRules) -> bytes:
        """Return the joined parts of what is asked for, b"" if it is gone. Raises AnswerLost."""
        data: list[bytes] = []
        parts = 1
        while len(data) < parts:
            part = len(data)
            answer = await self._ask(replace(get, part=part), part)
            assert isinstance(answer, FetchedPart)
            data.append(answer.data)
            parts = answer.parts
        return b"".join(data)

    async def _ask(self, message: GetFlow | GetRules | Command, part: int = 0) -> _FeedAnswer:
        """Send a request until it is answered, or the session has ended.

        The proxy executes a command once in a session. In the next it would execute it again, and
        the numbers of flows may have become those of others.
        """
        session = self._session
        key = message.number, part
        answer: asyncio.Future[_FeedAnswer] = asyncio.get_running_loop().create_future()
        self._requests[key] = answer
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._timeout):
                    while session is None or session is self._session:
                        session = self._session
                        if session is not None:
                            await self._send(message)
                        await asyncio.wait([answer], timeout=REPEAT)
                        if answer.done():
                            return answer.result()
                    reason = "it was started again, or has forgotten this viewer"
                    raise AnswerLost(f"no answer from {self._address}: {reason}")
        finally:
            self._requests.pop(key, None)
        raise AnswerLost(f"no answer from {self._address} for {self._timeout:g} s")

    async def _renew(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._subscribe()
            await asyncio.sleep(RETRY if self.status is None else RENEW)
            if self.status is not None and loop.time() - self._last_status > self.status.seconds:
                self.status = None
                self._on_status()

    async def _subscribe(self) -> None:
        backlog = self._backlog if not self._last_status else 0
        await self._send(Subscribe(nonce=self._nonce, backlog=backlog, samples=self._samples))

    @property
    def _now(self) -> float:
        """Seconds since the feed was started: the clock of stamps."""
        return asyncio.get_running_loop().time() - self._feed_started

    async def _send(self, message: FromViewer) -> None:
        stamp = Stamp() if self._session is None else self._session.stamp(self._now)
        try:
            await self._stream.send(encode(message, stamp, self._token))
        except OSError:  # ICMP port unreachable: nobody listens there, or not yet
            self._refused = True

    async def _listen(self) -> None:
        while True:
            try:
                data, _ = await self._stream.recv()
                await self._handle(*decode_from_proxy(data, self._token))
            except BadDatagram as error:
                self.unreadable += 1
                self.problem = str(error)
            except OSError:  # ICMP port unreachable: nobody listens there, or not yet
                self._refused = True

    async def _handle(self, stamp: Stamp, message: FromProxy) -> None:
        if isinstance(message, Challenge):
            await self._begin(stamp, message)
        elif self._session is not None and self._session.take(stamp, self._now):
            self._take_message(stamp, message)
        else:
            self.stale += 1

    async def _begin(self, stamp: Stamp, challenge: Challenge) -> None:
        """Begin a session: the first one, or after the proxy was started again or forgot us."""
        if challenge.nonce != self._nonce:
            self.stale += 1
            return
        self._nonce = os.urandom(NONCE)
        self._session = Session(stamp.feed, stamp.session)
        self._set_clock(stamp)
        self._lost_before = self.lost
        self._left_out_before, self._left_out = self.left_out, 0
        self._highest = self._received = 0
        await self._subscribe()

    def _set_clock(self, stamp: Stamp) -> None:
        """Set our clock by that of the feed: machines need not agree on the time of day."""
        self._feed_started = asyncio.get_running_loop().time() - stamp.time / 1000

    def _take_message(self, stamp: Stamp, message: FromProxy) -> None:
        match message:
            case Status():
                self._set_clock(stamp)
                self._handle_status(message)
            case Seen():
                self._received += len(message.events)
                last = message.sequence + len(message.events) - 1
                self._highest = max(self._highest, last)
                for data in message.events:
                    shown_event = decode_shown_event(data)
                    number, event = event_of_records(shown_event.records)
                    self._take(FeedEvent(number, event, shown_event.held))
            case FetchedPart():
                self._resolve((message.number, message.part), message)
            case CommandResult():
                self._resolve((message.number, 0), message)

    def _handle_status(self, status: Status) -> None:
        self._highest = max(self._highest, status.sequence)
        self._left_out = status.left_out
        self._last_status = asyncio.get_running_loop().time()
        self.status = status
        self._answered.set()
        self._on_status()

    def _resolve(self, key: tuple[int, int], answer: _FeedAnswer) -> None:
        future = self._requests.get(key)
        if future is not None and not future.done():
            future.set_result(answer)
