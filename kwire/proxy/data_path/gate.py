"""What may pass in one direction of a connection, in order, while filters hold some of it back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from kwire.proxy.data_path.copies import MEMORY_LIMIT, Copies
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.interest import Direction

FRAME_HELD = MEMORY_LIMIT
"""Bytes of the longest frame that filters see by default; a longer one passes without them.

Fetch responses end at 8 MiB of the metadata log (KafkaRaftClient's MAX_FETCH_SIZE_BYTES), and at
55 MiB of other topics, fetch.max.bytes of the broker.
"""

CROWD = 1024 * 1024
"""Bytes behind a held frame from which on no more are read."""


class Timer(Protocol):
    """Something that will happen."""

    def cancel(self) -> None: ...


class Hands(Protocol):
    """What a hold needs of whoever moves its bytes."""

    def send(self, direction: Direction, data: bytes) -> None:
        """Write in this direction."""

    def later(self, seconds: float, act: Callable[[], None]) -> Timer:
        """Act after this time."""

    def clock(self) -> float:
        """Seconds of a steady clock."""

    def cut(self, reason: str) -> None:
        """Close both ends."""

    def crowded(self, direction: Direction, crowded: bool) -> None:
        """Read no more of what goes in this direction, or read on."""

    def drained(self, direction: Direction) -> None:
        """Nothing is held back in this direction any more."""


@dataclass(slots=True, eq=False)
class Held:
    """A frame that waits. data: what is to be sent in its place, once that is known.

    lapses: whether nobody waits for it any more once the client has sent its last byte. stalled:
    whether it is kept until the connection ends.
    """

    flow: Flow
    pieces: list[bytes]
    size: int = 0
    data: bytes | None = None
    lapses: bool = False
    stalled: bool = False
    over: Callable[[], None] | None = None
    timer: Timer | None = None
    coroutine: Coroutine[Any, Any, Any] | None = None

    def give_up(self) -> None:
        """Nobody will decide about it any more."""
        if self.timer is not None:
            self.timer.cancel()
        if self.coroutine is not None:
            self.coroutine.close()
        self.timer = self.coroutine = None


@dataclass(slots=True, eq=False)
class _Span:
    """Bytes of a chunk; those that follow one another are never cut."""

    chunk: bytes
    start: int
    end: int

    def cut(self) -> bytes:
        return self.chunk[self.start : self.end]


class Gate:
    """A queue that only moves while nothing at its head is held.

    judge: takes a held frame that is whole. wants: whether a flow's frame is to be held. passed_by:
    is told of a frame that is wanted and passes nevertheless, and why. is_shut: nothing more can be
    sent.
    """

    def __init__(
        self,
        direction: Direction,
        memory: Copies,
        wants: Callable[[Flow], bool],
        judge: Callable[[Held], None],
        passed_by: Callable[[Flow, str], None],
    ) -> None:
        self._direction = direction
        self._memory = memory
        self._wants = wants
        self._judge = judge
        self._passed_by = passed_by
        self._queue: deque[_Span | Held] = deque()
        self._ready: list[_Span] = []
        self._urgent: list[bytes] = []
        self._current: Held | None = None
        self._waiting = 0
        self._crowded = self._feeding = self._within = self._closed = False
        self.is_shut = False
        self.hands: Hands | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return not self._queue

    @property
    def between(self) -> bool:
        """Whether the frames that came so far have ended."""
        return not self._within

    @property
    def holding(self) -> bool:
        """Whether the frame that is coming is held."""
        return self._current is not None

    @property
    def stalled(self) -> Flow | None:
        """The flow of the frame at the head, where that is kept until the connection ends."""
        head = self._queue[0] if self._queue else None
        return head.flow if isinstance(head, Held) and head.stalled else None

    @property
    def lapsing(self) -> Flow | None:
        """The first flow that waits only as long as its client does."""
        held = (one for one in self._queue if isinstance(one, Held))
        return next((one.flow for one in held if one.lapses), None)

    def begin(self, flow: Flow | None, size: int) -> None:
        """A frame begins; size: without its own four bytes."""
        self._feeding = self._within = True
        if flow is None or not self._wants(flow):
            return
        if size > self._memory.copy_limit:
            self._passed_by(flow, f"{size} bytes, {self._memory.copy_limit} are held")
            return
        self._current = Held(flow, [])
        self._queue.append(self._current)

    def add(self, chunk: bytes, start: int, end: int) -> None:
        """The frame goes on, or bytes that are no frame."""
        self._feeding = True
        held = self._current
        if held is None:
            self._pass(chunk, start, end)
        elif self._memory.take(end - start):
            held.pieces.append(chunk[start:end])
            held.size += end - start
            self._waiting += end - start
        else:
            self._overflow(held)
            self._pass(chunk, start, end)

    def whole(self, over: Callable[[], None]) -> None:
        """The frame has come; `over` is called when it is decided what becomes of it."""
        held, self._current = self._current, None
        assert held is not None
        held.over = over
        self._judge(held)

    def ended(self) -> None:
        """The frame, held or not, is over."""
        self._within = False
        while self._urgent and self.between:
            self.insert(self._urgent.pop(0))

    def cut_short(self) -> None:
        """No more bytes will come. Send nothing of a held frame that is not whole: no filter has
        seen it, and nobody can use a part of a frame."""
        held, self._current = self._current, None
        self._urgent.clear()
        if held is not None:
            held.data = b""
            self._move()
            self._send()
            self._watch()

    def shut(self) -> None:
        """Send nothing more: the end of this direction has been passed on."""
        self.is_shut = True

    def take(self) -> bytes:
        """The chunk is read: what of it, and of what was before it, may pass now."""
        self._feeding = False
        self._watch()
        return self._taken()

    def append(self, data: bytes) -> None:
        """Whole frames of the proxy's own, behind what has come."""
        self._pass(data, 0, len(data))
        self._send()

    def insert(self, data: bytes) -> None:
        """Whole frames of the proxy's own, as soon as they do not cut another."""
        if self._within and self._current is None and not self._queue:
            self._urgent.append(data)
            return
        self._ready.append(_Span(data, 0, len(data)))
        self._send()

    def release(self, held: Held, data: bytes) -> None:
        """A held frame is decided about: send this in its place."""
        held.data = data
        if held.over is not None:
            held.over()
            held.over = None
        if not self._closed:
            self._move()
            self._send()
            self._watch()

    def close(self) -> None:
        """Nothing will be sent any more."""
        self._closed = True
        for one in self._queue:
            if isinstance(one, Held):
                one.give_up()
                self._memory.give_back(one.size)
                if one.over is not None:
                    one.flow.problems.append(f"the {self._direction.value} was held at the end")
                    one.over()
        self._queue.clear()
        self._ready.clear()
        self._current = None

    def _pass(self, chunk: bytes, start: int, end: int) -> None:
        line = self._queue or self._ready
        last = line[-1] if line else None
        if isinstance(last, _Span) and last.chunk is chunk and last.end == start:
            last.end = end
        elif self._queue:
            self._queue.append(_Span(chunk, start, end))
        else:
            self._ready.append(_Span(chunk, start, end))
        if self._queue:
            self._waiting += end - start

    def _overflow(self, held: Held) -> None:
        self._passed_by(held.flow, "the memory for held frames is used up")
        held.data = b"".join(held.pieces)
        self._current = None
        self._move()

    def _move(self) -> None:
        queue = self._queue
        while queue and (isinstance(head := queue[0], _Span) or head.data is not None):
            queue.popleft()
            if isinstance(head, _Span):
                self._waiting -= head.end - head.start
                self._ready.append(head)
                continue
            self._waiting -= head.size
            self._memory.give_back(head.size)
            if head.data:
                self._ready.append(_Span(head.data, 0, len(head.data)))

    def _taken(self) -> bytes:
        ready, self._ready = self._ready, []
        return ready[0].cut() if len(ready) == 1 else b"".join(span.cut() for span in ready)

    def _send(self) -> None:
        if self._feeding or self.hands is None:
            return
        if self._ready:
            self.hands.send(self._direction, self._taken())
        if not self._queue:
            self.hands.drained(self._direction)

    def _watch(self) -> None:
        """Where much waits behind a whole frame, more is not asked for."""
        crowded = self._waiting > CROWD and self._current is not (self._queue or [None])[0]
        if crowded != self._crowded and self.hands is not None:
            self._crowded = crowded
            self.hands.crowded(self._direction, crowded)
