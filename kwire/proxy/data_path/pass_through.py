"""The stage between framers and writers where there are no filters: every byte passes at once.

Each framer hands what it reads to the FrameOutput of its direction: a PassThrough here, a Gate
where there are filters. The outputs of both directions belong to the FilterStage of the
connection: this one, or a FilterRunner where there are filters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.interest import Direction

Write = Callable[[bytes], None]
"""Writes bytes to the peer that a direction leads to."""

FinishFlow = Callable[[Flow, bytes | None], None]
"""Ends a flow's part in one direction, with the copy of its frame."""


class Timer(Protocol):
    """A call that is scheduled."""

    def cancel(self) -> None: ...


class Transport(Protocol):
    """The two sockets of one connection, as the stage between them uses them."""

    def writer(self, direction: Direction) -> Write:
        """Return the function that writes to the peer that this direction leads to."""

    def set_crowded(self, direction: Direction, crowded: bool) -> None:
        """Stop reading from the peer that this direction comes from, or read on."""

    def drained(self, direction: Direction) -> None:
        """Take note that nothing is held in this direction any more."""

    def call_later(self, seconds: float, act: Callable[[], None]) -> Timer:
        """Call `act` after this time."""

    def clock(self) -> float:
        """Return seconds of a steady clock."""

    def abort(self, reason: str) -> None:
        """Close both sockets as soon as the current call has returned."""


class FrameOutput(Protocol):
    """The stage behind the framer of one direction.

    transparent: True if every chunk is written as it came, so that frames need not be reported.
    holding: True while the frame that is coming is held back.
    """

    @property
    def transparent(self) -> bool: ...

    @property
    def holding(self) -> bool: ...

    def begin(self, flow: Flow | None, size: int) -> None:
        """Begin a frame. flow: None if it is no RPC's. size: without its own four bytes."""

    def add(self, chunk: bytes, start: int, end: int) -> None:
        """Take chunk[start:end]: the frame goes on, or bytes that are no frame."""

    def end_frame(self, finish: FinishFlow, flow: Flow | None, copy: bytes | None) -> None:
        """End the frame; call `finish` with the other two when its fate is decided."""

    def cut_short(self) -> None:
        """Discard the frame that has begun: no more bytes will come."""

    def flush(self, chunk: bytes) -> None:
        """Write what may be written now, since `chunk` has been read to its end."""


class PassThrough:
    """A FrameOutput that writes each chunk as it came."""

    __slots__ = ("flush",)

    transparent = True
    holding = False

    def __init__(self, write: Write) -> None:
        # The writer itself, not a method that calls it: this runs once for each chunk.
        self.flush = write

    def begin(self, flow: Flow | None, size: int) -> None:
        """Do nothing: the bytes are written with their chunk."""

    def add(self, chunk: bytes, start: int, end: int) -> None:
        """Do nothing, as above."""

    def end_frame(self, finish: FinishFlow, flow: Flow | None, copy: bytes | None) -> None:
        """Finish the flow at once."""
        if flow is not None:
            finish(flow, copy)

    def cut_short(self) -> None:
        """Do nothing: what came has been written."""


class FilterStage:
    """The stage between the two framers of a connection and its two writers; holds nothing."""

    requests: FrameOutput
    responses: FrameOutput

    def __init__(self, transport: Transport) -> None:
        self.requests = PassThrough(transport.writer(Direction.REQUEST))
        self.responses = PassThrough(transport.writer(Direction.RESPONSE))

    def connect(self, then: Callable[[], None]) -> None:
        """Call `then` when a client that has connected may go on to the node."""
        then()

    def is_empty(self, direction: Direction) -> bool:
        """Return True if nothing is held in this direction."""
        return True

    def input_ended(self, direction: Direction) -> None:
        """Take note that the last byte of a direction has come."""

    def output_ended(self, direction: Direction) -> None:
        """Take note that nothing can be written in a direction any more."""

    def close(self) -> None:
        """Take note that the connection is gone."""


DISCARD = PassThrough(lambda data: None)
"""The output of framers that only follow bytes, such as those of a pcap file."""
