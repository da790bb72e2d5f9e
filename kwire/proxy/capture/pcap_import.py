"""Flows from pcap and pcapng files, such as tcpdump writes on a broker.

1. Packets of Ethernet, Linux "cooked", loopback and raw IP become TCP segments; others are skipped.
2. Segments become the bytes of one direction, in order and without repetitions. A segment that is
   not in the file ends the connection: where frames begin behind it cannot be known.
3. The proxy's framers turn the bytes into flows and notices.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from ipaddress import ip_address
from typing import Any, BinaryIO

import dpkt
from dpkt.ip import IP
from dpkt.ip6 import IP6
from dpkt.tcp import TCP, TH_ACK, TH_FIN, TH_RST, TH_SYN

from kwire.errors import FileError
from kwire.net.address import Address
from kwire.proxy.data_path.copies import Copies
from kwire.proxy.data_path.framer import Framer, Framing, RequestFramer, ResponseFramer
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.data_path.pass_through import DISCARD
from kwire.proxy.flows.flow import ClientConnection, Event, Notice, NoticeKind
from kwire.proxy.flows.heads import REQUEST
from kwire.proxy.flows.interest import tap_everything

AHEAD_LIMIT = 16 * 1024 * 1024
"""Most memory that segments of a connection may take that wait for an earlier one, in bytes."""

CONNECTIONS = 10_000
"""Connections that are followed at once; a flood of SYNs has as many as packets."""

PACKET_LIMIT = 16 * 1024 * 1024
"""Bytes of the longest block that is read; a damaged file may claim any length."""

_SEQUENCES = 1 << 32
_HALF = 1 << 31
_NULL, _ETHERNET, _RAW, _LOOP, _COOKED, _COOKED2 = 0, 1, 101, 108, 113, 276
_RAW_OLD = 12
_WEIGHT = 150  # bytes that a waiting segment takes beside its data


@dataclass(frozen=True, slots=True)
class TcpSegment:
    """A TCP segment. at: Unix seconds."""

    at: float
    source: Address
    target: Address
    sequence: int
    flags: int
    data: bytes


def import_events(
    file: BinaryIO, name: str, ports: frozenset[int] = frozenset()
) -> Iterator[Event]:
    """Yield the flows and notices in a pcap or pcapng file.

    ports: those of nodes. Without them the client is the side that sends the SYN, or has the higher
    port if there is no SYN in the file. Raises FileError if the file is neither.
    """
    connections = _Connections(ports)
    for segment in segments(file, name):
        yield from connections.take(segment)
    yield from connections.end()


def segments(file: BinaryIO, name: str) -> Iterator[TcpSegment]:
    """Yield the TCP segments of a file. Raises FileError; a file may end within a packet."""
    try:
        reader = dpkt.pcap.UniversalReader(_BoundedFile(file))
        link = reader.datalink() if hasattr(reader, "datalink") else _ETHERNET
        link = getattr(getattr(reader, "idb", None), "linktype", link)
    except Exception as error:  # whatever dpkt makes of bytes that are neither
        raise FileError(
            f"neither pcap nor pcapng: {str(error) or 'it is cut'}", file=name
        ) from None
    if link not in _STARTS and link not in (_RAW, _RAW_OLD, _NULL, _LOOP):
        raise FileError(f"link type {link} is not known: capture with tcpdump -i any", file=name)
    for at, packet in _packets(iter(reader)):
        try:
            segment = _segment(at, packet, link)
        except Exception:  # whatever dpkt makes of a packet that is none
            continue
        if segment is not None:
            yield segment


def _packets(reader: Iterator[Any]) -> Iterator[tuple[float, bytes]]:
    """Yield times and packets, up to the end of the file or of its last whole packet."""
    try:
        for at, packet in reader:
            yield float(at), bytes(packet)
    except Exception:  # whatever dpkt makes of a damaged block
        return


_STARTS = {_ETHERNET: dpkt.ethernet.Ethernet, _COOKED: dpkt.sll.SLL, _COOKED2: dpkt.sll2.SLL2}


def _segment(at: float, packet: bytes, link: int) -> TcpSegment | None:
    """Return the TCP segment in a packet, None if it has none."""
    if link in _STARTS:
        inner: Any = _STARTS[link](packet).data
    else:
        start = packet[4:] if link in (_NULL, _LOOP) else packet
        inner = IP6(start) if start[:1] and start[0] >> 4 == 6 else IP(start)
    tcp = getattr(inner, "data", None)
    if not isinstance(inner, IP | IP6) or not isinstance(tcp, TCP):
        return None
    source, target = str(ip_address(inner.src)), str(ip_address(inner.dst))
    return TcpSegment(
        at, Address(source, tcp.sport), Address(target, tcp.dport), tcp.seq, tcp.flags, tcp.data
    )


class _BoundedFile:
    """A file that reads no more at once than a packet has, whatever length a block claims."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.name = getattr(file, "name", "")

    def read(self, size: int) -> bytes:
        return self._file.read(min(max(size, 0), PACKET_LIMIT))

    def seek(self, position: int) -> int:
        return self._file.seek(position)


class _Connections:
    """The connections of a file, by their addresses, those with the latest packets last.

    _empty: those that have had no data yet.
    """

    def __init__(self, ports: frozenset[int]) -> None:
        self._ports = ports
        # Of a plain dict that loses its first items, the first is found ever more slowly.
        self._open: OrderedDict[tuple[Address, Address], _FramedConnection] = OrderedDict()
        self._empty: OrderedDict[tuple[Address, Address], None] = OrderedDict()
        self._count = 0

    def take(self, segment: TcpSegment) -> Iterator[Event]:
        """Yield the events that a segment completes."""
        client, node = ends = self._ends(segment)
        connection = self._open.pop(ends, None)
        begins = bool(segment.flags & TH_SYN) and not segment.flags & TH_ACK
        if connection is not None and begins and not connection.repeats(segment):
            yield from connection.close("the connection began anew", segment.at)
            connection = None
        if connection is None:
            if not (begins or segment.data):
                return
            self._count += 1
            connection = _FramedConnection(self._count, client, node, segment.at)
            self._empty[ends] = None
        self._open[ends] = connection
        yield from connection.take(segment, segment.source == client)
        if segment.data or connection.over:
            self._empty.pop(ends, None)
        if connection.over:
            del self._open[ends]
        if len(self._open) > CONNECTIONS:
            yield from self._give_up(segment.at)

    def _give_up(self, at: float) -> Iterator[Event]:
        """Forget the first connection without data, else the one without packets for longest."""
        ends = next(iter(self._empty or self._open))
        self._empty.pop(ends, None)
        reason = f"not followed further: {CONNECTIONS} others are open"
        yield from self._open.pop(ends).close(reason, at)

    def end(self) -> Iterator[Event]:
        """Yield the last events, since the file has ended."""
        for connection in self._open.values():
            yield from connection.close("the file ends", connection.latest)
        self._open.clear()
        self._empty.clear()

    def _ends(self, segment: TcpSegment) -> tuple[Address, Address]:
        """Return the addresses of client and node."""
        forward, back = (segment.source, segment.target), (segment.target, segment.source)
        for pair in (forward, back):
            if pair in self._open or pair[1].port in self._ports:
                return pair
        if segment.flags & TH_SYN:
            return back if segment.flags & TH_ACK else forward
        return forward if segment.target.port < segment.source.port else back


@dataclass(slots=True)
class _Reassembly:
    """The bytes of one direction, put in order.

    next: the sequence number of the next byte, None before the first segment. passed: bytes before
    it, by which segments that wait for earlier ones are ordered: `ahead` has them by the number of
    bytes before each. held: what they take in memory.
    """

    framer: Framer
    next: int | None = None
    passed: int = 0
    ahead: dict[int, bytes] = field(default_factory=dict)
    held: int = 0
    finished: bool = False
    _order: list[int] = field(default_factory=list)

    def take(self, segment: TcpSegment) -> Iterable[bytes]:
        """Yield the bytes that a segment makes available."""
        sequence = segment.sequence
        if segment.flags & TH_SYN:
            first = (sequence + 1) % _SEQUENCES
            if self.next != first:
                self.clear()
            self.next = first
            return
        if self.next is None:
            self.next = sequence
        # Half of the numbers are before the next one, the other half behind it.
        distance = (sequence - self.next + _HALF) % _SEQUENCES - _HALF
        self._keep(self.passed + distance, segment.data)
        while (piece := self._pop()) is not None:
            yield piece

    def clear(self) -> None:
        """Forget the segments that wait."""
        self.ahead.clear()
        self._order.clear()
        self.held = 0

    def _keep(self, start: int, data: bytes) -> None:
        known = self.ahead.get(start)
        if len(data) <= len(known or b""):
            return
        if known is None:
            heappush(self._order, start)
            self.held += _WEIGHT
        self.held += len(data) - len(known or b"")
        self.ahead[start] = data

    def _pop(self) -> bytes | None:
        """Return the next bytes, without those that a repeated segment has again."""
        assert self.next is not None
        while self._order and self._order[0] <= self.passed:
            start = heappop(self._order)
            data = self.ahead.pop(start)
            self.held -= len(data) + _WEIGHT
            piece = data[self.passed - start :]
            if piece:
                self.passed += len(piece)
                self.next = (self.next + len(piece)) % _SEQUENCES
                return piece
        return None


class _FramedConnection:
    """One connection of the file, and the proxy's framers for its bytes."""

    def __init__(self, number: int, client: Address, node: Address, at: float) -> None:
        self._events: list[Event] = []
        self._connection = ClientConnection(
            number=number, node_id=None, client=str(client), upstream=str(node), at=at
        )
        copies = Copies()
        self._pairing = Pairing(self._connection, self._events.append, copies)
        common = (self._pairing, Framing(tap_everything, copies), DISCARD)
        self._requests = _Reassembly(RequestFramer(*common))
        self._responses = _Reassembly(ResponseFramer(*common))
        self._started = False
        self._initial_sequence: int | None = None
        self.over = False
        self.latest = at

    def repeats(self, segment: TcpSegment) -> bool:
        """True if a SYN is the one that began this connection, sent again."""
        return self._initial_sequence == segment.sequence

    def take(self, segment: TcpSegment, from_client: bool) -> list[Event]:
        """Return the events that a segment completes."""
        self.latest = at = segment.at
        direction = self._requests if from_client else self._responses
        if segment.flags & TH_SYN:
            if from_client:
                self._initial_sequence, self._started = segment.sequence, True
                self._notify(NoticeKind.OPENED, f"{self._connection.client} opened", at)
        elif not self._started and not self._starts(segment, from_client):
            return self._take_events()
        for piece in direction.take(segment):
            direction.framer.feed(piece, at, at)
        waiting = self._requests.held + self._responses.held
        if waiting > AHEAD_LIMIT:
            self._end("a segment is not in the file; what follows it is not read", at)
        direction.finished |= bool(segment.flags & TH_FIN)
        if segment.flags & TH_RST or (self._requests.finished and self._responses.finished):
            self._end("closed", at)
        return self._take_events()

    def close(self, reason: str, at: float) -> list[Event]:
        """End the connection; return its last events."""
        if self._requests.held or self._responses.held:
            reason = f"{reason}; a segment before its last ones is not in the file"
        self._end(reason, at)
        return self._take_events()

    def _starts(self, segment: TcpSegment, from_client: bool) -> bool:
        """True from the first segment that begins with a request.

        For connections that began before the file: other segments may be the middle of a frame.
        """
        if from_client and len(segment.data) >= REQUEST.size:
            size, key, version, _ = REQUEST.unpack_from(segment.data)
            # Bytes from the middle of a frame seldom look like a size, a key and a version.
            self._started = 8 <= size < 1 << 27 and 0 <= key < 200 and 0 <= version < 50
        return self._started

    def _end(self, reason: str, at: float) -> None:
        if self.over:
            return
        self.over = True
        for direction in (self._requests, self._responses):
            direction.framer.finish()
            direction.clear()
        self._pairing.close(f"the connection ended: {reason}")
        self._notify(NoticeKind.CLOSED, reason, at)

    def _notify(self, kind: NoticeKind, text: str, at: float) -> None:
        self._events.append(Notice(connection=self._connection, at=at, kind=kind, text=text))

    def _take_events(self) -> list[Event]:
        events = self._events.copy()
        self._events.clear()
        return events
