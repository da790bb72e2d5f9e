"""The proxy's end of the feed: a sink that sends events to viewers and takes their commands."""

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
from kwire.proxy.capture.redaction import of_metadata_log
from kwire.proxy.data_path.server import CannotListen
from kwire.proxy.data_path.tap import LONG
from kwire.proxy.feed.commands import Controls
from kwire.proxy.feed.datagram_records import ROOM, records_of_event, shorten_frames
from kwire.proxy.feed.datagrams import (
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
    Seen,
    ShownEvent,
    Stamp,
    Status,
    Subscribe,
    check_token,
    decode_from_viewer,
    encode,
    encode_array,
    encode_shown_event,
)
from kwire.proxy.feed.recent_events import RecentEvents
from kwire.proxy.feed.sampling import Sampler
from kwire.proxy.feed.sessions import COMMAND_PATIENCE, PATIENCE
from kwire.proxy.feed.viewers import LEASE, Viewer, ViewerAddress, Viewers
from kwire.proxy.flows.flow import Event, Flow, Notice, NoticeKind
from kwire.text.ids import uuid_text

logger = logging.getLogger(__name__)

QUEUE_LIMIT = 16 * 1024 * 1024
"""Bytes of events that may wait to be sent; viewers lose those that find no room."""

BACKLOG = 1000
"""Most earlier events that a new viewer is sent."""

PART_SIZE = ROOM
"""Bytes of one part of a flow or of the rules."""

FETCHED = 16 * 1024 * 1024
"""Bytes of encoded flows and rules that are kept while viewers fetch their parts."""

GATHER = 0.1
"""Seconds for which events are collected, so that one datagram carries many.

To wake up for each event would cost more than the work itself.
"""

LASTING_NOTICES = 100
"""Most notices of a lasting state, which each new viewer is sent however old they are."""

_PACE = 0.002  # seconds between datagrams of old events, which would overflow a socket's buffer


@dataclass(slots=True)
class _Send:
    """An event to send. only: the one viewer to send it to, None for all.

    was_held: viewers know it as held. in_sample: False if viewers that sample do not get it.
    """

    number: int
    monotonic: float
    event: Event
    held: bool = False
    only: Viewer | None = None
    was_held: bool = False
    in_sample: bool = True


class Feed:
    """Sends flows and notices to viewers while the context lasts; a sink of the proxy.

    async with Feed(Address("127.0.0.1", 9900)) as feed, Proxy(listeners, sinks=[feed]):
        ...

    token: viewers must have the same; needed if other machines can reach the address. controls:
    executes the commands of viewers; without it they may only watch. ignored: datagrams that were
    not a viewer's, or had come before. Raises InvalidValue.
    """

    def __init__(
        self, listen: Address, *, token: bytes = b"", controls: Controls | None = None
    ) -> None:
        if not token and not is_loopback(listen.host):
            raise InvalidValue(f"a feed at {listen} needs a token: other machines reach it there")
        check_token(token)
        self._listen = listen
        self._token = token
        self._controls = controls
        run = uuid4()
        self._viewers = Viewers(run.bytes, os.urandom(32))
        self._started = time.monotonic()
        self._recent = RecentEvents()
        self._sampler = Sampler()
        self._numbers = count()
        self._held: dict[Flow, int] = {}
        self._lasting: deque[_Send] = deque(maxlen=LASTING_NOTICES)
        self._queue: deque[_Send] = deque()
        self._waiting = 0
        self._filled = asyncio.Event()
        self._announced = asyncio.Event()
        self._fetched: dict[tuple[Viewer, int], bytes] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.name = uuid_text(run)
        self.ignored = 0

    @property
    def address(self) -> Address:
        """The address at which it listens, with the port that the system chose."""
        return Address(*self._stream.sockname[:2])

    def __call__(self, event: Event) -> None:
        """Take an event from the data path."""
        number = self._held.pop(event, None) if isinstance(event, Flow) else None
        was_held = number is not None
        number = next(self._numbers) if number is None else number
        item = _Send(number, time.monotonic(), event, was_held=was_held)
        self._recent.add(item.number, item.monotonic, event)
        if isinstance(event, Notice) and event.kind is NoticeKind.BYPASSED:
            self._lasting.append(item)
        self._enqueue(item)

    def hold(self, flow: Flow) -> None:
        """Send a flow whose message is held, before the flow has ended."""
        number = self._held.get(flow)
        # Its request may have been held before its response: the flow keeps its number.
        if number is None:
            number = self._held[flow] = next(self._numbers)
        self._enqueue(_Send(number, time.monotonic(), flow, held=True))

    async def __aenter__(self) -> Self:
        try:
            self._stream = await asyncio_dgram.bind((self._listen.host, self._listen.port))
        except OSError as error:
            reason = why_not_bound(error)
            raise CannotListen(f"no feed at {self._listen}: {reason}") from error
        loop = asyncio.get_running_loop()
        coroutines = (self._receive(), self._send_queued(), self._send_statuses())
        self._tasks = [loop.create_task(coroutine) for coroutine in coroutines]
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            await cancel_and_wait(self._tasks)
        finally:
            self._stream.close()

    def announce(self) -> None:
        """Send viewers a Status at once, since the rules have changed.

        A viewer that misses it gets the next one when it renews.
        """
        self._announced.set()

    def _enqueue(self, item: _Send) -> None:
        if not len(self._viewers):  # without viewers the feed costs the traffic next to nothing
            return
        if item.only is None and not self._sample(item):
            return
        if self._waiting + item.event.weight > QUEUE_LIMIT:
            self._count_lost(self._targets(item))
            return
        self._waiting += item.event.weight
        self._queue.append(item)
        self._filled.set()

    def _sample(self, item: _Send) -> bool:
        """Leave an event out for viewers that sample; return False if there are no others.

        Here and not when it is sent: many that wait would leave no room for those with errors.
        """
        sampling = [viewer for viewer in self._viewers if viewer.samples]
        item.in_sample = (
            not sampling
            or item.held
            or item.was_held
            or self._sampler.takes(item.event, item.monotonic, len(self._queue))
        )
        if item.in_sample:
            return True
        for viewer in sampling:
            viewer.left_out += 1
        return len(sampling) < len(self._viewers)

    async def _send_queued(self) -> None:
        while True:
            await self._filled.wait()
            await asyncio.sleep(GATHER)
            self._filled.clear()
            self._viewers.expire(self._now)
            while self._queue:
                await self._send(await self._pack())

    async def _send_statuses(self) -> None:
        while True:
            await self._announced.wait()
            self._announced.clear()
            for viewer in self._viewers:
                await self._write(self._status(viewer), viewer)

    async def _pack(self) -> list[tuple[_Send, msgspec.Raw]]:
        """Return the next events that fit one datagram and are for the same viewers."""
        packed: list[tuple[_Send, msgspec.Raw]] = []
        size = 0
        while self._queue and (not packed or _for_same(self._queue[0], packed[0][0])):
            encoded = await self._encode(self._queue[0])
            size += 0 if encoded is None else len(bytes(encoded))
            if packed and size > ROOM:
                break
            item = self._queue.popleft()
            self._waiting -= item.event.weight
            if encoded is not None:
                packed.append((item, encoded))
        return packed

    async def _encode(self, item: _Send) -> msgspec.Raw | None:
        """Encode an event; return None if there is nothing to send any more."""
        event: Event | None = item.event
        if item.only is not None and item.only not in self._viewers:
            return None  # the new viewer has left before it got its backlog
        if item.held and isinstance(event, Flow):
            event = self._snapshot(event)
        if event is None:
            return None
        try:
            records = shorten_frames(await self._records(item.number, item.monotonic, event))
        except Exception:  # one event that cannot be sent must not end the feed
            logger.exception("an event is not sent to viewers: %r", event)
            self._count_lost(self._targets(item))
            return None
        return encode_shown_event(ShownEvent(records=records, held=item.held))

    async def _send(self, packed: list[tuple[_Send, msgspec.Raw]]) -> None:
        if not packed:
            return
        events = tuple(encoded for _, encoded in packed)
        item = packed[0][0]
        for viewer in self._targets(item):
            seen = Seen(sequence=viewer.sequence + 1, events=events)
            viewer.sequence += len(events)
            await self._write(seen, viewer)
        await asyncio.sleep(_PACE if item.only else 0)

    def _targets(self, item: _Send) -> Iterable[Viewer]:
        if item.only is not None:
            return (item.only,)
        return [viewer for viewer in self._viewers if item.in_sample or not viewer.samples]

    def _count_lost(self, viewers: Iterable[Viewer]) -> None:
        for viewer in viewers:
            viewer.sequence += 1

    def _snapshot(self, flow: Flow) -> Flow | None:
        return None if self._controls is None else self._controls.snapshot(flow)

    async def _records(
        self, number: int, monotonic: float, event: Event
    ) -> tuple[CaptureRecord, ...]:
        # A long frame is masked in a thread, so that no turn of the loop takes long; so is the
        # metadata log, which may unpack to more than the frame weighs.
        if event.weight > LONG or (isinstance(event, Flow) and of_metadata_log(event)):
            return await asyncio.to_thread(records_of_event, event, number, self.name, monotonic)
        return records_of_event(event, number, self.name, monotonic)

    @property
    def _now(self) -> float:
        """Seconds since the feed was started: the clock of stamps and leases."""
        return time.monotonic() - self._started

    async def _receive(self) -> None:
        while True:
            with suppress(OSError):  # ICMP errors of datagrams that were sent before
                data, address = await self._stream.recv()
                assert isinstance(address, tuple)
                try:
                    stamp, message = decode_from_viewer(data, self._token)
                except BadDatagram:
                    self.ignored += 1
                    continue
                try:
                    await self._handle(message, stamp, address)
                except Exception:  # one datagram that cannot be answered must not end the feed
                    logger.exception("a viewer's %s is not answered", type(message).__name__)

    async def _handle(self, message: FromViewer, stamp: Stamp, address: ViewerAddress) -> None:
        self._viewers.expire(self._now)
        viewer = self._viewers.find(address, stamp.session)
        patience = COMMAND_PATIENCE if isinstance(message, Command) else PATIENCE
        if viewer is None and isinstance(message, Subscribe):
            await self._begin(message, stamp, address)
        elif viewer is None or not viewer.session.take(stamp, self._now, patience):
            self.ignored += 1
        else:
            answer = await self._answer(message, viewer)
            if answer is not None:
                await self._write(answer, viewer)

    async def _begin(self, message: Subscribe, stamp: Stamp, address: ViewerAddress) -> None:
        """Begin the session of a challenge, or send a challenge, which is no longer than `message`.

        What a viewer sends first has no stamp and may be recorded: it must not cause more.
        """
        if not self._viewers.has_room(address):
            self.ignored += 1
            return
        viewer = self._viewers.begin(address, stamp, self._now)
        if viewer is None:
            challenge = Challenge(nonce=message.nonce)
            await self._transmit(challenge, self._viewers.challenge(address, self._now), address)
            return
        viewer.samples = message.samples
        self._send_earlier(viewer, message.backlog)
        await self._write(self._status(viewer), viewer)

    async def _write(self, message: FromProxy, viewer: Viewer) -> None:
        await self._transmit(message, viewer.session.stamp(self._now), viewer.address)

    async def _transmit(self, message: FromProxy, stamp: Stamp, address: ViewerAddress) -> None:
        with suppress(OSError):
            await self._stream.send(encode(message, stamp, self._token), address)

    async def _answer(self, message: FromViewer, viewer: Viewer) -> FromProxy | None:
        if isinstance(message, Subscribe):
            viewer.until = self._now + LEASE
            return self._status(viewer)
        if isinstance(message, Leave):
            self._viewers.remove(viewer)
        elif isinstance(message, GetFlow | GetRules):
            # One part for one request: a small datagram must never cause many.
            return await self._part(message, viewer)
        else:
            return self._execute(message, viewer)
        return None

    def _send_earlier(self, viewer: Viewer, backlog: int) -> None:
        """Send a new viewer the latest events, lasting notices and held messages."""
        latest = self._recent.latest(min(backlog, BACKLOG))
        numbers = {number for number, _, _ in latest}
        for item in self._lasting:
            if item.number not in numbers:
                self._enqueue(replace(item, only=viewer))
        for number, at, event in latest:
            self._enqueue(_Send(number, at, event, only=viewer))
        for flow, number in self._held.items():
            self._enqueue(_Send(number, time.monotonic(), flow, held=True, only=viewer))

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
            left_out=viewer.left_out,
        )

    def _held_numbers(self) -> Iterable[int]:
        held = () if self._controls is None else self._controls.held
        return (self._held[flow] for flow in held if flow in self._held)

    async def _part(self, message: GetFlow | GetRules, viewer: Viewer) -> FetchedPart:
        """Return a part of what a viewer fetches, as it was at the first request of this number.

        A held message and the rules may change while the viewer asks for one part after the other.
        """
        key = viewer, message.number
        data = self._fetched.get(key)
        if data is None:
            data = await self._encode_whole(message)
            if len(data) > PART_SIZE:
                self._keep(key, data)
        start = max(message.part, 0) * PART_SIZE
        return FetchedPart(
            number=message.number,
            part=message.part,
            parts=-(-len(data) // PART_SIZE),
            data=data[start : start + PART_SIZE],
        )

    def _keep(self, key: tuple[Viewer, int], data: bytes) -> None:
        self._fetched[key] = data
        while len(self._fetched) > 1 and sum(map(len, self._fetched.values())) > FETCHED:
            del self._fetched[next(iter(self._fetched))]

    async def _encode_whole(self, message: GetFlow | GetRules) -> bytes:
        """Return the encoded rules, or records of a flow, which are empty if it is gone."""
        if isinstance(message, GetRules):
            return encode_array(() if self._controls is None else self._controls.shown_rules)
        held = self._flow_of(message.flow)
        snapshot = None if held is None else self._snapshot(held)
        event = self._recent.get(message.flow)
        if snapshot is not None:
            event = time.monotonic(), snapshot
        return b"" if event is None else encode_array(await self._records(message.flow, *event))

    def _flow_of(self, number: int) -> Flow | None:
        return next((flow for flow, held in self._held.items() if held == number), None)

    def _execute(self, command: Command, viewer: Viewer) -> CommandResult:
        # A viewer repeats a command whose result was lost: answer it again, execute it once.
        if viewer.result is not None and command.number <= viewer.result.number:
            return viewer.result
        if self._controls is None:
            return CommandResult(number=command.number, problem="this proxy holds no messages")
        by = str(Address(*viewer.address[:2]))
        viewer.result = result = self._controls.execute(command, self._flow_of, by)
        if isinstance(command, Edit) and not result.problem:
            flow = self._flow_of(command.flow)
            if flow is not None:
                self._enqueue(_Send(command.flow, time.monotonic(), flow, held=True))
        return result


def _for_same(one: _Send, other: _Send) -> bool:
    """Return True if both events are for the same viewers."""
    return one.only is other.only and one.in_sample == other.in_sample
