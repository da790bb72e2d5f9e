"""The queue of one direction of a connection: keeps the order while filters hold frames of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kwire.proxy.data_path.copies import MEMORY_LIMIT, Copies, RequestShare
from kwire.proxy.data_path.filter_run import FilterRun
from kwire.proxy.data_path.pass_through import FinishFlow, Transport
from kwire.proxy.filters.filter import Step
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
    """A frame that waits: for its last byte, then for filters, then for those before it.

    pieces, size: what came of it. run: the filters, once it is whole. finish: ends the flow's part
    in this direction, with the copy of the frame. released: what to send in its place, None until
    that is decided. refused: it has no room and must not pass either; its connection is being
    closed.
    """

    flow: Flow
    pieces: list[bytes]
    size: int = 0
    run: FilterRun | None = None
    copy: bytes | None = None
    finish: FinishFlow | None = None
    released: bytes | None = None
    refused: bool = False

    @property
    def waits_for(self) -> Step[Any] | None:
        """The step that its filters wait for, if they do."""
        return None if self.run is None else self.run.waits_for


@dataclass(slots=True, eq=False)
class _Piece:
    """Bytes of a chunk that pass. Neighbours are joined here, so that they are never copied."""

    chunk: bytes
    start: int
    end: int

    @property
    def released(self) -> bytes:
        return self.chunk[self.start : self.end]


class Gate:
    """A FrameOutput with a queue, of which everything before the first held frame is sent.

    wants: says if a flow's frame is to be held. judge: takes a held frame that is whole, and calls
    `release` at some time. no_room: takes a flow whose frame is wanted and cannot be held, and the
    reason; False if it must not pass either, and the connection is being closed. frame_ended: is
    called behind each frame. is_shut: nothing can be sent any more. between: the frames that came
    so far have ended.
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
        self._size = 0  # bytes in the queue
        self._urgent: list[bytes] = []
        self._current: HeldFrame | None = None
        self._crowded = self._feeding = self._closed = False
        self.between = True
        self.is_shut = False

    @property
    def held(self) -> Iterator[HeldFrame]:
        """The frames that are not decided, in order."""
        return (
            item for item in self._queue if isinstance(item, HeldFrame) and item.released is None
        )

    @property
    def idle(self) -> bool:
        """True if nothing waits."""
        return next(self.held, None) is None

    @property
    def holding(self) -> bool:
        """True while the frame that is coming is held."""
        return self._current is not None

    def begin(self, flow: Flow | None, size: int) -> None:
        """Begin a frame, and hold it if a filter wants it. size: without its own four bytes."""
        self._feeding, self.between = True, False
        if flow is None or not self._wants(flow):
            return
        held = HeldFrame(flow, [])
        # Rather unfiltered than stuck: a frame that can never be whole here would stop its
        # connection.
        if size > self._memory.copy_limit:
            if self._no_room(flow, f"{size} bytes, {self._memory.copy_limit} are held"):
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
            self._size += end - start
        elif self._no_room(held.flow, "the memory for held frames is used up"):
            held.released, self._current = b"".join(held.pieces), None
            self._enqueue(chunk, start, end)
        else:
            self._refuse(held)

    def end_frame(self, finish: FinishFlow, flow: Flow | None, copy: bytes | None) -> None:
        """End the frame. `finish` is called at once, of a held frame when it is decided."""
        held, self._current = self._current, None
        if held is None:
            if flow is not None:
                finish(flow, copy)
        else:
            held.finish, held.copy = finish, copy
            # A refused one stays at its place, so that nothing behind it is sent either.
            if not held.refused:
                self._judge(held)
        self.between = True
        while self._urgent:
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
            self.release(held, b"")

    def flush(self, chunk: bytes = b"") -> None:
        """Write what stands before the first held frame, then read on or stop reading."""
        # Until here nothing was written, so that a chunk of many frames is one write.
        self._feeding = False
        queue, ready = self._queue, []
        while queue and (data := queue[0].released) is not None:
            item = queue.popleft()
            if isinstance(item, HeldFrame):
                self._memory.give_back(item.size)
                self._size -= item.size
            else:
                self._size -= len(data)
            if data:
                ready.append(data)
        if queue or self._crowded:
            self._limit_reading()
        if ready:
            self._write(ready[0] if len(ready) == 1 else b"".join(ready))

    def append(self, data: bytes) -> None:
        """Send whole frames of the proxy's own behind what has come."""
        self._enqueue(data, 0, len(data))
        self._send()

    def insert(self, data: bytes) -> None:
        """Send whole frames of the proxy's own as soon as they do not cut another."""
        first = next(self.held, None)
        if first is None and not self.between:
            self._urgent.append(data)
            return
        # Before what is held: a filter that asks the node holds the frame at the head.
        place = len(self._queue) if first is None else self._queue.index(first)
        self._queue.insert(place, _Piece(data, 0, len(data)))
        self._size += len(data)
        self._send()

    def release(self, held: HeldFrame, data: bytes) -> None:
        """Let a held frame go, and send `data` in its place."""
        held.released = data
        if held.finish is not None:
            held.finish(held.flow, held.copy)
            held.finish = None
        if not self._closed:
            self._send()

    def close(self) -> None:
        """Discard what is held: nothing will be sent any more."""
        self._closed = self.is_shut = True
        for held in self.held:
            if held.run is not None:
                held.run.close()
            if held.finish is not None:
                held.flow.problems.append(f"the {self._direction.value} was held at the end")
                held.finish(held.flow, held.copy)
        for item in self._queue:
            if isinstance(item, HeldFrame):
                self._memory.give_back(item.size)
        self._queue.clear()
        self._current = None

    def _enqueue(self, chunk: bytes, start: int, end: int) -> None:
        self._size += end - start
        last = self._queue[-1] if self._queue else None
        # Pieces of one chunk are joined again, so that a chunk none of whose frames is wanted is
        # written as the very object that came (decision 14).
        if isinstance(last, _Piece) and last.chunk is chunk and last.end == start:
            last.end = end
        else:
            self._queue.append(_Piece(chunk, start, end))

    def _refuse(self, held: HeldFrame) -> None:
        """Discard what came of a frame that has no room and must not pass."""
        held.refused = True
        self._memory.give_back(held.size)
        self._size -= held.size
        held.size = 0
        held.pieces.clear()

    def _send(self) -> None:
        """Write what was released, unless `flush` will at the end of the chunk."""
        if not self._feeding:
            self.flush()
            # The end of the stream may wait for this.
            if not self._queue:
                self._transport.drained(self._direction)

    def _limit_reading(self) -> None:
        """Stop reading where much waits behind a whole frame, and read on where it does not.

        A frame that is still coming must be read to its end, or it would wait for ever.
        """
        whole_at_head = bool(self._queue) and self._queue[0] is not self._current
        crowded = self._size > CROWD and whole_at_head
        if crowded != self._crowded:
            self._crowded = crowded
            self._transport.set_crowded(self._direction, crowded)
