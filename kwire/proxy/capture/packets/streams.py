"""The two directions of a TCP connection: bytes in order, and the bytes that are not in the file.

1. A segment that comes early waits for those before it, and for the bytes of the other side that it
   acknowledges: so a request passes before its response, in whatever order a machine with several
   queues wrote them.
2. Bytes that the peer acknowledged had arrived there. If `PATIENCE` further packets do not bring
   them, they are not in the file: a gap. Bytes that nobody acknowledged may still be repeated: they
   are a gap behind `LONG_PATIENCE` packets, and where too much waits for them. Of packets that
   still come, two moments are as long as `PATIENCE` packets.
3. A packet that was cut in the file has its gap at its end.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple, Protocol

from dpkt.tcp import TH_ACK, TH_FIN, TH_RST, TH_SYN

from kwire.net.address import Address
from kwire.proxy.capture.packets.layers import TcpSegment

PATIENCE, LONG_PATIENCE = 64, 4096
"""Packets of a connection that may come before bytes that are missing."""

AHEAD_LIMIT = 16 * 1024 * 1024
"""Most memory that segments of a connection may take that wait for others, in bytes."""

NEAR, FAR = 1 << 16, 1 << 26
"""Bytes that packets of one connection are out of order by, and that a gap of one can have."""

_SEQUENCES = 1 << 32
_HALF = 1 << 31
_WEIGHT = 150  # bytes that a waiting segment takes beside its data


class Consumer(Protocol):
    """Takes the bytes of both sides, 0 and 1, in their order."""

    def data(self, side: int, data: bytes, at: float) -> None:
        """Take the next bytes of a side."""

    def gap(self, side: int, size: int, at: float, *, cut: bool) -> None:
        """Take note of bytes that are not in the file. cut: a packet was cut in it."""

    def begin_late(self, side: int, at: float) -> None:
        """Take note that the first bytes of a side are not in the file, nor how many they are."""


class _WaitingSegment(NamedTuple):
    """A segment that waits. start: bytes before it, in its direction. size: on the line.

    needs: how many bytes of the other direction come before it. number: of the packet.
    """

    start: int
    data: bytes
    size: int
    at: float
    needs: int
    number: int

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(slots=True)
class _Stream:
    """One direction. Positions count its bytes from the first one that is known.

    next: the sequence number at `passed`, None before the first packet. whole: it is known from its
    SYN on, whose byte is at `origin`. moved: bytes have passed. acks: positions that the peer
    acknowledged and that have not passed, with the number of the packet. acknowledged: the highest
    of the other direction that a packet of this one named. highest: end of the last byte of which a
    packet came. fin: the position of its FIN. seen: a packet came. held: what waits, in memory.
    """

    next: int | None = None
    whole: bool = False
    moved: bool = False
    origin: int = 0
    passed: int = 0
    highest: int = 0
    acknowledged: int = 0
    fin: int | None = None
    seen: bool = False
    held: int = 0
    acks: deque[tuple[int, int]] = field(default_factory=deque)
    _ahead: dict[int, _WaitingSegment] = field(default_factory=dict)
    _order: list[int] = field(default_factory=list)

    def begin(self, sequence: int, *, whole: bool) -> None:
        """Set the number of the first byte, unless it is known.

        As long as none has passed, an earlier packet may come late, also that of the SYN.
        """
        if self.next is None:
            self.next, self.whole = sequence, whole
        elif not (self.whole or self.moved) and (whole or self.position(sequence) < self.passed):
            self.passed = self.origin = self.position(sequence)
            self.next, self.whole = sequence, whole

    def position(self, sequence: int) -> int:
        """Return the position of a sequence number: half of them are before, half behind."""
        assert self.next is not None
        return self.passed + (sequence - self.next + _HALF) % _SEQUENCES - _HALF

    def keep(self, piece: _WaitingSegment) -> None:
        """Keep a segment until it can pass; of two that begin alike, the one with more bytes."""
        known = self._ahead.get(piece.start)
        self.highest = max(self.highest, piece.end)
        if known is not None and len(known.data) >= len(piece.data):
            return
        if known is None:
            heappush(self._order, piece.start)
            self.held += _WEIGHT
        self.held += len(piece.data) - len(known.data if known else b"")
        self._ahead[piece.start] = piece

    @property
    def first(self) -> _WaitingSegment | None:
        """The segment that comes first of those that wait; those that only repeat are dropped."""
        while self._order:
            piece = self._ahead[self._order[0]]
            if piece.end > self.passed:
                return piece
            self._remove()
        return None

    @property
    def ready(self) -> _WaitingSegment | None:
        """The first segment, if no byte is missing before it."""
        first = self.first
        return first if first is not None and first.start <= self.passed else None

    def take(self) -> tuple[bytes, int]:
        """Pass the first segment; return its new bytes and the size of the gap at its end."""
        piece = self._remove()
        data = piece.data[self.passed - piece.start :]
        self.advance(len(data))
        following = self.first
        end = piece.end if following is None else min(piece.end, following.start)
        gap = max(end - self.passed, 0)
        self.advance(gap)
        return data, gap

    def advance(self, size: int) -> None:
        """Pass bytes."""
        assert self.next is not None
        self.passed += size
        self.next = (self.next + size) % _SEQUENCES
        while self.acks and self.acks[0][0] <= self.passed:
            self.acks.popleft()

    @property
    def ended(self) -> bool:
        """True if all bytes up to the FIN have passed."""
        return self.fin is not None and self.passed >= self.fin

    def acknowledge(self, position: int, number: int) -> None:
        """Take note of what the peer has received."""
        if self.fin is not None:
            position = min(position, self.fin)  # the FIN has a number, too
        last = self.acks[-1][0] if self.acks else self.passed
        if last < position < self.passed + _HALF:
            self.acks.append((position, number))

    def missing(self, number: int, patience: int, long_patience: int) -> tuple[int, int] | None:
        """Return up to where bytes are given up, and the number of the packet that showed it."""
        first = self.first
        if self.ended or (first is not None and first.start <= self.passed):
            return None
        if self.acks and number - self.acks[0][1] >= patience:
            end, shown = self.acks[0]
            ends = (end, first.start if first else end, end if self.fin is None else self.fin)
            return min(ends), shown
        if first is not None and number - first.number >= long_patience:
            return first.start, first.number
        return None

    def _remove(self) -> _WaitingSegment:
        piece = self._ahead.pop(heappop(self._order))
        self.held -= len(piece.data) + _WEIGHT
        return piece


class TcpConnection:
    """One connection of the file. Side 0 is the one whose packet came first.

    reset: a RST came. latest: the time of the last packet.
    """

    def __init__(self, first: Address, second: Address, consumer: Consumer) -> None:
        self.ends = (first, second)
        self.streams = (_Stream(), _Stream())
        self.reset = False
        self.latest = 0.0
        self._consumer = consumer
        self._number = self._before = 0

    @property
    def over(self) -> bool:
        """True if nothing more can come."""
        return self.reset or (self.streams[0].ended and self.streams[1].ended)

    def side(self, segment: TcpSegment) -> int:
        """Return the side that sent a segment."""
        return 0 if segment.source == self.ends[0] else 1

    def is_another(self, segment: TcpSegment) -> bool:
        """True if a segment belongs to a later connection between the same two ports.

        Its SYN says so. Without one, both of its numbers are such as this connection cannot have:
        data behind the last that was seen acknowledges less than that did, or is out of reach.
        """
        side = self.side(segment)
        own, other = self.streams[side], self.streams[1 - side]
        if segment.flags & TH_SYN:
            start = None if own.next is None else own.position(segment.sequence + 1)
            repeated = start is not None and (
                start == own.origin if own.whole else abs(start) < NEAR
            )
            # Some choose the same number again; then only the time tells a later connection.
            repeated = repeated and (not own.passed or segment.at <= self.latest)
            return not segment.flags & TH_ACK and not repeated
        if own.next is None or other.next is None or not segment.size:
            return False
        start, acknowledged = own.position(segment.sequence), other.position(segment.acknowledged)
        least = own.origin if own.whole else own.passed - FAR
        return (start > own.highest + NEAR or start + segment.size < least) and not (
            own.acknowledged <= acknowledged <= other.highest + FAR
        )

    def repeats(self, segment: TcpSegment) -> bool:
        """True if no byte of a segment is new: it comes late, behind the end."""
        own = self.streams[self.side(segment)]
        if own.next is None or self.is_another(segment):
            return False
        start = own.position(segment.sequence)
        return own.ended and (start == own.fin or start + segment.size <= own.passed)

    def take(self, segment: TcpSegment) -> None:
        """Take a segment; hand on the bytes that it makes available."""
        self._number += 1
        self.latest = segment.at or self.latest
        side = self.side(segment)
        own, other = self.streams[side], self.streams[1 - side]
        own.seen = True
        flags, sequence = segment.flags, segment.sequence
        if flags & TH_SYN:
            sequence = (sequence + 1) % _SEQUENCES
        needs = self._acknowledge(own, other, segment) if flags & TH_ACK else 0
        # Not by an empty segment: the number of a keep-alive is one too low.
        if flags & (TH_SYN | TH_FIN) or segment.size:
            own.begin(sequence, whole=flags & TH_SYN != 0)
            start = own.position(sequence)
            if segment.size:
                own.keep(
                    _WaitingSegment(
                        start, segment.data, segment.size, segment.at, needs, self._number
                    )
                )
            if flags & TH_FIN:
                own.fin = start + segment.size
        self.reset = self.reset or flags & TH_RST != 0
        self._pump(0 if self.reset else PATIENCE, 0 if self.reset else LONG_PATIENCE)

    def _acknowledge(self, own: _Stream, other: _Stream, segment: TcpSegment) -> int:
        """Take note of an acknowledgement; return its position in the other direction."""
        if other.next is None:
            if segment.flags & TH_RST:  # of a connection that was refused
                return 0
            # What acknowledges it and is the first itself tells the beginning of the other side.
            first = own.whole and own.position(segment.sequence) == own.origin
            starts = segment.flags & TH_SYN != 0 or first
            other.begin(segment.acknowledged, whole=starts)
        position = other.position(segment.acknowledged)
        other.acknowledge(position, self._number)
        own.acknowledged = max(own.acknowledged, position)
        return position

    def pass_moment(self) -> None:
        """Give up bytes that were acknowledged before the last moment: they would be there."""
        if any(stream.held or stream.acks for stream in self.streams):
            self._pump(min(self._number - self._before, PATIENCE), LONG_PATIENCE)
        self._before = self._number

    def _begin(self, side: int) -> None:
        """Tell, before the first byte of a side passes, if others before it are missing."""
        own, other = self.streams[side], self.streams[1 - side]
        if not own.moved and other.whole and not own.whole:
            self._consumer.begin_late(side, self.latest)
        own.moved = True

    def end(self) -> None:
        """Hand on what waits: no more packets will come."""
        self._pump(0, 0)

    def _pump(self, patience: int, long_patience: int) -> None:
        """Hand on what can pass."""
        while self._pass_ready() or self._pass_missing(patience, long_patience):
            pass

    def _pass_ready(self, *, in_order: bool = True) -> bool:
        """Pass the earliest segment that waits for nothing; return False if there is none."""
        best: tuple[int, int] | None = None
        for side, own in enumerate(self.streams):
            piece, other = own.ready, self.streams[1 - side]
            if piece is None or (in_order and piece.needs > other.passed and not other.ended):
                continue
            if best is None or piece.number < best[0]:
                best = piece.number, side
        if best is None:
            return False
        side = best[1]
        own = self.streams[side]
        assert own.ready is not None
        at = own.ready.at
        self._begin(side)
        data, gap = own.take()
        if data:
            self._consumer.data(side, data, at)
        if gap:
            self._consumer.gap(side, gap, at, cut=True)
        return True

    def _pass_missing(self, patience: int, long_patience: int) -> bool:
        """Pass over the bytes that were waited for long enough; return False if there are none."""
        if sum(own.held for own in self.streams) > AHEAD_LIMIT:
            patience = long_patience = 0
        best: tuple[int, int, int] | None = None
        waits = False
        for side, own in enumerate(self.streams):
            waits = waits or own.ready is not None
            missing = own.missing(self._number, patience, long_patience)
            if missing is not None and (best is None or missing[1] < best[0]):
                best = missing[1], side, missing[0]
        if best is None:
            # Two segments that wait for each other, which TCP never sends.
            return waits and not patience and self._pass_ready(in_order=False)
        _, side, end = best
        own, waiting = self.streams[side], self.streams[1 - side].ready
        if waiting is not None and waiting.needs > own.passed:
            end = min(end, waiting.needs)  # what is missing behind them may answer it
        self._begin(side)
        size = end - own.passed
        if size == 1 and own.first is None and own.fin is None and not patience:
            own.fin = own.passed  # what was acknowledged is a FIN that is not in the file
            return True
        own.advance(size)
        self._consumer.gap(side, size, self.latest, cut=False)
        return True
