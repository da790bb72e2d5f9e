"""The proxy's end of the feed: a sink that sends what passes to whoever watches."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Self
from uuid import uuid4

import asyncio_dgram
import msgspec

from kwire.capture import CaptureRecord
from kwire.errors import InvalidValue
from kwire.net.address import Address, is_loopback, why_not_bound
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.data_path.server import CannotListen
from kwire.proxy.data_path.tap import LONG
from kwire.proxy.feed.commands import Controls
from kwire.proxy.feed.datagrams import (
    LIMIT,
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
    RulesPart,
    Seen,
    Shown,
    Status,
    Subscribe,
    decode_from_viewer,
    encode,
    encode_records,
    encode_rules,
    encode_shown,
)
from kwire.proxy.feed.fitting import ROOM, fitted, records_of
from kwire.proxy.feed.kept import Kept
from kwire.proxy.feed.viewers import LEASE, At, Viewer, Viewers
from kwire.proxy.flows.flow import Event, Flow, Kind, Notice
from kwire.text.ids import uuid_text

logger = logging.getLogger(__name__)

QUEUE_LIMIT = 16 * 1024 * 1024
"""Bytes of events that may wait to be sent; what finds no room is lost to the viewers."""

BACKLOG = 1000
"""Most events that a new viewer is sent of those before its time."""

PART = LIMIT - 128
"""Bytes of one part of a flow."""

GATHER = 0.1
"""Seconds for which events are gathered, so that a datagram brings many."""

STANDING = 100
"""Notices that stay so, and that each new viewer is sent, however old."""

_PACE = 0.002  # seconds between datagrams of old events: a socket's buffer holds few


@dataclass(frozen=True, slots=True)
class _Job:
    """An event to send to these viewers, or to all."""

    number: int
    monotonic: float
    event: Event
    held: bool = False
    only: Viewer | None = None


class Feed:
    """Sends flows and notices to viewers while the context lasts; a sink of the proxy.

    async with Feed(Address("127.0.0.1", 9900)) as feed, Proxy(listeners, sinks=[feed]):
        ...

    token: viewers must have the same; without one only loopback is listened at. controls: what
    viewers may do, nothing without. ignored: datagrams that were no viewer's. Raises InvalidValue.
    """

    def __init__(
        self, listen: Address, *, token: bytes = b"", controls: Controls | None = None
    ) -> None:
        if not token and not is_loopback(listen.host):
            raise InvalidValue(f"a feed at {listen} needs a token: other machines reach it there")
        self._listen = listen
        self._token = token
        self._controls = controls
        self._viewers = Viewers(os.urandom(32))
        self._kept = Kept()
        self._numbers = count()
        self._held: dict[Flow, int] = {}
        self._standing: deque[_Job] = deque(maxlen=STANDING)
        self._queue: deque[_Job] = deque()
        self._waiting = 0
        self._filled = asyncio.Event()
        self._announced = asyncio.Event()
        self._parts: dict[int, bytes] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.name = uuid_text(uuid4())
        self.ignored = 0

    @property
    def address(self) -> Address:
        """Where it really listens."""
        return Address(*self._stream.sockname[:2])

    def __call__(self, event: Event) -> None:
        """Take an event from the data path."""
        number = self._held.pop(event, None) if isinstance(event, Flow) else None
        job = _Job(next(self._numbers) if number is None else number, time.monotonic(), event)
        self._kept.add(job.number, job.monotonic, event)
        if isinstance(event, Notice) and event.kind is Kind.BYPASSED:
            self._standing.append(job)
        self._put(job)

    def hold(self, flow: Flow) -> None:
        """A message waits: viewers are shown it before its flow has ended."""
        number = self._held.get(flow)
        if number is None:  # it is, where its request has waited before its response
            number = self._held[flow] = next(self._numbers)
        self._put(_Job(number, time.monotonic(), flow, held=True))

    async def __aenter__(self) -> Self:
        try:
            self._stream = await asyncio_dgram.bind((self._listen.host, self._listen.port))
        except OSError as error:
            reason = why_not_bound(error)
            raise CannotListen(f"no feed at {self._listen}: {reason}") from error
        loop = asyncio.get_running_loop()
        work = (self._receive(), self._work(), self._announce())
        self._tasks = [loop.create_task(one) for one in work]
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            await cancel_and_wait(self._tasks)
        finally:
            self._stream.close()

    def announce(self) -> None:
        """Tell viewers at once that the rules have changed; those that miss it hear it later."""
        self._announced.set()

    def _put(self, job: _Job) -> None:
        if not len(self._viewers):
            return
        if self._waiting + job.event.weight > QUEUE_LIMIT:
            self._lose(self._targets(job))
            return
        self._waiting += job.event.weight
        self._queue.append(job)
        self._filled.set()

    async def _work(self) -> None:
        while True:
            await self._filled.wait()
            await asyncio.sleep(GATHER)
            self._filled.clear()
            self._viewers.expire(time.monotonic())
            while self._queue:
                await self._send(await self._packed())

    async def _announce(self) -> None:
        while True:
            await self._announced.wait()
            self._announced.clear()
            for viewer in self._viewers:
                await self._write(self._status(viewer), viewer.address)

    async def _packed(self) -> list[tuple[_Job, msgspec.Raw]]:
        """The next events that fit one datagram and are for the same viewers."""
        packed: list[tuple[_Job, msgspec.Raw]] = []
        size = 0
        while self._queue and (not packed or self._queue[0].only is packed[0][0].only):
            shown = await self._shown(self._queue[0])
            size += 0 if shown is None else len(bytes(shown))
            if packed and size > ROOM:
                break
            job = self._queue.popleft()
            self._waiting -= job.event.weight
            if shown is not None:
                packed.append((job, shown))
        return packed

    async def _shown(self, job: _Job) -> msgspec.Raw | None:
        """The event as it is sent; None where there is nothing to tell any more."""
        event: Event | None = job.event
        if job.held and isinstance(event, Flow):
            event = self._snapshot(event)
        if event is None:
            return None
        try:
            records = fitted(await self._records(job.number, job.monotonic, event))
        except Exception:  # one event that cannot be sent must not end the feed
            logger.exception("an event is not sent to viewers: %r", event)
            self._lose(self._targets(job))
            return None
        return encode_shown(Shown(records=records, held=job.held))

    async def _send(self, packed: list[tuple[_Job, msgspec.Raw]]) -> None:
        if not packed:
            return
        events = tuple(shown for _, shown in packed)
        job = packed[0][0]
        for viewer in self._targets(job):
            seen = Seen(sequence=viewer.sequence + 1, events=events)
            viewer.sequence += len(events)
            await self._write(seen, viewer.address)
        await asyncio.sleep(_PACE if job.only else 0)

    def _targets(self, job: _Job) -> Iterable[Viewer]:
        return self._viewers if job.only is None else (job.only,)

    def _lose(self, viewers: Iterable[Viewer]) -> None:
        for viewer in viewers:
            viewer.sequence += 1

    def _snapshot(self, flow: Flow) -> Flow | None:
        return None if self._controls is None else self._controls.snapshot(flow)

    async def _records(
        self, number: int, monotonic: float, event: Event
    ) -> tuple[CaptureRecord, ...]:
        if event.weight > LONG:
            return await asyncio.to_thread(records_of, event, number, self.name, monotonic)
        return records_of(event, number, self.name, monotonic)

    async def _receive(self) -> None:
        while True:
            with suppress(OSError):  # what the system tells of earlier datagrams
                data, address = await self._stream.recv()
                assert isinstance(address, tuple)
                try:
                    message = decode_from_viewer(data, self._token)
                except BadDatagram:
                    self.ignored += 1
                    continue
                answer = await self._answer(message, address)
                if answer is not None:
                    await self._write(answer, address)

    async def _write(self, message: FromProxy, address: At) -> None:
        with suppress(OSError):
            await self._stream.send(encode(message, self._token), address)

    async def _answer(self, message: FromViewer, address: At) -> FromProxy | None:
        proven = self._viewers.proven(address, message.cookie)
        if isinstance(message, Subscribe):
            return self._welcome(message, address) if proven else self._challenge(address)
        viewer = self._viewers.get(address) if proven else None
        if viewer is None:
            self.ignored += 1
        elif isinstance(message, Leave):
            self._viewers.forget(address)
        elif isinstance(message, Get):
            return await self._part(message)
        elif isinstance(message, GetRules):
            return self._rules_part(message, viewer)
        else:
            return self._obey(message, viewer)
        return None

    def _challenge(self, address: At) -> Challenge:
        return Challenge(cookie=self._viewers.cookie(address))

    def _welcome(self, message: Subscribe, address: At) -> Status | None:
        now = time.monotonic()
        viewer, is_new = self._viewers.renew(address, now)
        if viewer is None:
            self.ignored += 1
            return None
        if is_new:
            latest = self._kept.latest(min(message.backlog, BACKLOG))
            numbers = {number for number, _, _ in latest}
            for job in self._standing:
                if job.number not in numbers:
                    self._put(replace(job, only=viewer))
            for number, at, event in latest:
                self._put(_Job(number, at, event, only=viewer))
            for flow, number in self._held.items():
                self._put(_Job(number, now, flow, held=True, only=viewer))
        return self._status(viewer)

    def _status(self, viewer: Viewer) -> Status:
        controls = self._controls
        return Status(
            feed=self.name,
            sequence=viewer.sequence,
            seconds=LEASE,
            viewers=len(self._viewers),
            controls=controls is not None,
            hold=None if controls is None else controls.expression,
            held=tuple(self._held_numbers())[:500],
            rules=0 if controls is None else controls.rules.revision,
            changes=() if controls is None else tuple(controls.rules.changes),
        )

    def _held_numbers(self) -> Iterable[int]:
        held = () if self._controls is None else self._controls.held
        return (self._held[flow] for flow in held if flow in self._held)

    async def _part(self, message: Get) -> Part:
        data = await self._whole(message.flow)
        parts = -(-len(data) // PART)
        start = max(message.part, 0) * PART
        piece = data[start : start + PART]
        return Part(flow=message.flow, part=message.part, parts=parts, data=piece)

    def _rules_part(self, message: GetRules, viewer: Viewer) -> RulesPart:
        """A part of the rules as they were when their number came first: they change meanwhile."""
        if viewer.rules is None or viewer.rules[0] != message.number:
            shown = () if self._controls is None else self._controls.shown_rules
            viewer.rules = message.number, encode_rules(shown)
        data = viewer.rules[1]
        start = max(message.part, 0) * PART
        return RulesPart(
            number=message.number,
            part=message.part,
            parts=-(-len(data) // PART),
            data=data[start : start + PART],
        )

    async def _whole(self, number: int) -> bytes:
        """The records of a flow as they are sent in parts; nothing where it is gone."""
        if number in self._parts:
            return self._parts[number]
        held = self._flow_of(number)
        snapshot = None if held is None else self._snapshot(held)
        if snapshot is not None:
            return encode_records(await self._records(number, time.monotonic(), snapshot))
        kept = self._kept.get(number)
        if kept is None:
            return b""
        data = encode_records(await self._records(number, *kept))
        while len(self._parts) >= 4:
            del self._parts[next(iter(self._parts))]
        self._parts[number] = data
        return data

    def _flow_of(self, number: int) -> Flow | None:
        return next((flow for flow, one in self._held.items() if one == number), None)

    def _obey(self, command: Command, viewer: Viewer) -> Done:
        if viewer.done is not None and command.number <= viewer.done.number:
            return viewer.done
        if self._controls is None:
            return Done(number=command.number, problem="this proxy holds no messages")
        by = str(Address(*viewer.address[:2]))
        viewer.done = done = self._controls.obey(command, self._flow_of, by)
        if isinstance(command, Edit) and not done.problem:
            flow = self._flow_of(command.flow)
            if flow is not None:
                self._put(_Job(command.flow, time.monotonic(), flow, held=True))
        return done
