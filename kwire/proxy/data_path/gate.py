"""The queue of one direction of a connection: keeps the order while filters hold frames of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from kwire.proxy.data_path.copies import MEMORY_LIMIT, Copies, RequestShare
from kwire.proxy.data_path.pass_through import FinishFlow, Timer, Transport
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.interest import Direction

FRAME_HELD = MEMORY_LIMIT
"""Bytes of the longest response that filters see by default; requests have a quarter of it.

Fetch responses end at 8 MiB of the metadata log (KafkaRaftClient's MAX_FETCH_SIZE_BYTES), and at
55 MiB of other topics, fetch.max.bytes of the broker.
"""

CROWD = 1024 * 1024
"""Bytes behind a held frame from which on no more are read."""

RESERVE = 8 * 1024 * 1024
"""Bytes of the memory in which only the first bytes of frames find room, up to about a CROWD.

A few long frames leave it to the many short ones.
"""


@dataclass(slots=True, eq=False)
class HeldFrame:
    """A frame that waits for filters. replacement: what to send in its place, None until decided.

    ends_with_client: nobody waits for it any more once the client has sent its last byte. stalled:
    it is kept until the connection ends. refused: it has no room and must not pass either; its
    connection is being closed. finish: ends the flow's part in this direction. timer, coroutine:
    what the filters wait for, and the filters themselves.
    """

    flow: Flow
    pieces: list[bytes]
    size: int = 0
    replacement: bytes | None = None
    ends_with_client: bool = False
    stalled: bool = False
    refused: bool = False
    finish: Callable[[], None] | None = None
    timer: Timer | None = None
    coroutine: Coroutine[Any, Any, Any] | None = None

    def give_up(self) -> None:
        """End the filters that still think about it."""
        if self.timer is not None:
            self.timer.cancel()
        if self.coroutine is not None:
            self.coroutine.close()
        self.timer = self.coroutine = None


@dataclass(slots=True, eq=False)
class _Piece:
    """Bytes of a chunk that pass. Neighbours are joined here, so that they are never copied."""

    chunk: bytes
    start: int
    end: int

    def cut(self) -> bytes:
        return self.chunk[self.start : self.end]


class Gate:
    """A FrameOutput whose queue only moves while no held frame is at its head.

    wants: says if a flow's frame is to be held. judge: takes a held frame that is whole, and calls
    `release` at some time. no_room: takes a flow whose frame is wanted and cannot be held, and the
    reason; False if it must not pass either, and the connection is being closed. frame_ended: is
    called behind each frame. is_shut: nothing can be sent any more.
    """

    transparent = False

    def __init__(
        self,
        direction: Direction,
        memory: Copies | RequestShare,
        transport: Transport,
        *,
        wants: Callable[[Flow], bool],
        judge: Callable[[HeldFrame], None],
        no_room: Callable[[Flow, str], bool],
        frame_ended: Callable[[], None],
    ) -> None:
        self._direction = direction
        self._memory = memory
        self._transport = transport
        self._write = transport.writer(direction)
        self._wants = wants
        self._judge = judge
        self._no_room = no_room
        self._frame_ended = frame_ended
        self._queue: deque[_Piece | HeldFrame] = deque()
        self._ready: list[_Piece] = []
        self._urgent: list[bytes] = []
        self._current: HeldFrame | None = None
        self._waiting = 0
        self._crowded = self._feeding = self._within = self._closed = False
        self.is_shut = False

    @property
    def idle(self) -> bool:
        """True if nothing waits."""
        return not self._queue

    @property
    def between(self) -> bool:
        """True if the frames that came so far have ended."""
        return not self._within

    @property
    def holding(self) -> bool:
        """True while the frame that is coming is held."""
        return self._current is not None

    @property
    def stalled(self) -> Flow | None:
        """The flow of the frame at the head, where that is kept until the connection ends."""
        head = self._queue[0] if self._queue else None
        return head.flow if isinstance(head, HeldFrame) and head.stalled else None

    @property
    def ends_with_client(self) -> Flow | None:
        """The first flow that waits only as long as its client does."""
        held = (frame for frame in self._queue if isinstance(frame, HeldFrame))
        return next((frame.flow for frame in held if frame.ends_with_client), None)

    def begin(self, flow: Flow | None, size: int) -> None:
        """Begin a frame, and hold it if a filter wants it. size: without its own four bytes."""
        self._feeding = self._within = True
        if flow is None or not self._wants(flow):
            return
        held = HeldFrame(flow, [])
        # Rather unfiltered than stuck: a frame that can never be whole here would stop its
        # connection.
        if size > self._memory.copy_limit:
            reason = f"{size} bytes, {self._memory.copy_limit} are held"
            if self._no_room(flow, reason):
                return
            held.refused = True
        self._current = held
        self._queue.append(held)

    def add(self, chunk: bytes, start: int, end: int) -> None:
        """Take chunk[start:end]: the frame goes on, or bytes that are no frame."""
        self._feeding = True
        held = self._current
        if held is None:
            self._enqueue(chunk, start, end)
        elif held.refused:
            return
        elif self._memory.take(end - start, 0 if held.size <= CROWD else RESERVE):
            held.pieces.append(chunk[start:end])
            held.size += end - start
            self._waiting += end - start
        elif self._no_room(held.flow, "the memory for held frames is used up"):
            self._overflow(held)
            self._enqueue(chunk, start, end)
        else:
            self._refuse(held)

    def end_frame(self, finish: FinishFlow, flow: Flow | None, copy: bytes | None) -> None:
        """End the frame. `finish` is called at once, of a held frame when it is decided."""
        held, self._current = self._current, None
        if flow is not None:
            if held is None:
                finish(flow, copy)
            else:
                held.finish = partial(finish, flow, copy)
                # A refused one stays at its place, so that nothing behind it is sent either.
                if not held.refused:
                    self._judge(held)
        self._within = False
        while self._urgent and self.between:
            self.insert(self._urgent.pop(0))
        self._frame_ended()

    def cut_short(self) -> None:
        """Discard the frame that has begun: no more bytes will come.

        Nothing of a held frame that is not whole is sent: no filter has seen it, and nobody can
        use a part of a frame.
        """
        held, self._current = self._current, None
        self._urgent.clear()
        if held is not None:
            held.replacement = b""
            self._move()
            self._send()
            self._limit_reading()

    def shut(self) -> None:
        """Send nothing more: the end of this direction has been passed on."""
        self.is_shut = True

    def flush(self, chunk: bytes) -> None:
        """Write all bytes that are neither held nor behind a held frame, after a whole chunk."""
        # Until here nothing was written, so that a chunk of many frames is one write.
        self._feeding = False
        self._limit_reading()
        if self._ready:
            self._write(self._take_ready())

    def append(self, data: bytes) -> None:
        """Send whole frames of the proxy's own behind what has come."""
        self._enqueue(data, 0, len(data))
        self._send()

    def insert(self, data: bytes) -> None:
        """Send whole frames of the proxy's own as soon as they do not cut another."""
        if self._within and self._current is None and not self._queue:
            self._urgent.append(data)
            return
        # Before what is held: a filter that asks the node holds the frame at the head.
        self._ready.append(_Piece(data, 0, len(data)))
        self._send()

    def release(self, held: HeldFrame, data: bytes) -> None:
        """Let a held frame go, and send `data` in its place."""
        held.replacement = data
        if held.finish is not None:
            held.finish()
            held.finish = None
        if not self._closed:
            self._move()
            self._send()
            self._limit_reading()

    def close(self) -> None:
        """Discard what is held: nothing will be sent any more."""
        self._closed = True
        for frame in self._queue:
            if isinstance(frame, HeldFrame):
                frame.give_up()
                self._memory.give_back(frame.size)
                if frame.finish is not None:
                    frame.flow.problems.append(f"the {self._direction.value} was held at the end")
                    frame.finish()
        self._queue.clear()
        self._ready.clear()
        self._current = None

    def _enqueue(self, chunk: bytes, start: int, end: int) -> None:
        line = self._queue or self._ready
        last = line[-1] if line else None
        # Pieces of one chunk are joined again, so that a chunk none of whose frames is wanted is
        # written as the very object that came (decision 14).
        if isinstance(last, _Piece) and last.chunk is chunk and last.end == start:
            last.end = end
        elif self._queue:
            self._queue.append(_Piece(chunk, start, end))
        else:
            self._ready.append(_Piece(chunk, start, end))
        if self._queue:
            self._waiting += end - start

    def _overflow(self, held: HeldFrame) -> None:
        """Let a frame pass that has no room, beginning with what came of it."""
        held.replacement = b"".join(held.pieces)
        self._current = None
        self._move()

    def _refuse(self, held: HeldFrame) -> None:
        """Discard what came of a frame that has no room and must not pass."""
        held.refused = True
        self._memory.give_back(held.size)
        self._waiting -= held.size
        held.size = 0
        held.pieces.clear()

    def _move(self) -> None:
        """Make ready what is at the head of the queue, up to a frame that is still held."""
        queue = self._queue
        while queue and (isinstance(head := queue[0], _Piece) or head.replacement is not None):
            queue.popleft()
            if isinstance(head, _Piece):
                self._waiting -= head.end - head.start
                self._ready.append(head)
                continue
            self._waiting -= head.size
            self._memory.give_back(head.size)
            if head.replacement:
                self._ready.append(_Piece(head.replacement, 0, len(head.replacement)))

    def _take_ready(self) -> bytes:
        ready, self._ready = self._ready, []
        return ready[0].cut() if len(ready) == 1 else b"".join(piece.cut() for piece in ready)

    def _send(self) -> None:
        """Write what is ready, unless `flush` will."""
        if self._feeding:
            return
        if self._ready:
            self._write(self._take_ready())
        # The end of the stream may wait for this.
        if not self._queue:
            self._transport.drained(self._direction)

    def _limit_reading(self) -> None:
        """Stop reading where much waits behind a whole frame, and read on where it does not.

        A frame that is still coming must be read to its end, or it would wait for ever.
        """
        crowded = self._waiting > CROWD and self._current is not (self._queue or [None])[0]
        if crowded != self._crowded:
            self._crowded = crowded
            self._transport.set_crowded(self._direction, crowded)
