"""Flows from pcap and pcapng files, such as tcpdump writes on a broker.

1. Packets become segments: of Ethernet, Linux "cooked", loopback and raw IP; others are skipped.
2. Segments become the bytes of a direction, in order, once each. A segment that never comes ends
   the connection: nothing after it can be told apart.
3. Bytes go through the framers of the proxy; flows and notices come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, BinaryIO

import dpkt
from dpkt.ip import IP
from dpkt.ip6 import IP6
from dpkt.tcp import TCP, TH_ACK, TH_FIN, TH_RST, TH_SYN

from kwire.errors import FileError
from kwire.net.address import Address
from kwire.proxy.data_path.copies import Copies
from kwire.proxy.data_path.framer import Framer, RequestFramer, ResponseFramer
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.flows.flow import Connection, Event, Kind, Notice
from kwire.proxy.flows.heads import REQUEST
from kwire.proxy.flows.interest import tap_everything

AHEAD_LIMIT = 16 * 1024 * 1024
"""Bytes that may wait for a segment before them."""

PACKET_LIMIT = 16 * 1024 * 1024
"""Longest block of a file that is believed, in bytes."""

_SEQUENCES = 1 << 32
_HALF = 1 << 31
_NULL, _ETHERNET, _RAW, _LOOP, _COOKED, _COOKED2 = 0, 1, 101, 108, 113, 276
_RAW_OLD = 12


@dataclass(frozen=True, slots=True)
class Segment:
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
    """The flows and notices in a pcap or pcapng file.

    ports: at which nodes listen; without them the side is known by its SYN, else the lower port is
    the node's. Raises FileError where the file is neither.
    """
    dialogues = _Dialogues(ports)
    for segment in segments(file, name):
        yield from dialogues.take(segment)
    yield from dialogues.end()


def segments(file: BinaryIO, name: str) -> Iterator[Segment]:
    """The TCP segments of a file. Raises FileError as above; a torn tail is no error."""
    try:
        reader = dpkt.pcap.UniversalReader(_Bounded(file))
        link = reader.datalink() if hasattr(reader, "datalink") else _ETHERNET
        link = getattr(getattr(reader, "idb", None), "linktype", link)
    except (ValueError, dpkt.Error) as error:
        raise FileError(f"neither pcap nor pcapng: {error}", file=name) from None
    if link not in _STARTS and link not in (_RAW, _RAW_OLD, _NULL, _LOOP):
        raise FileError(f"link type {link} is not known: capture with tcpdump -i any", file=name)
    for at, packet in _packets(iter(reader)):
        try:
            found = _segment(at, packet, link)
        except (ValueError, dpkt.Error):  # no packet that anyone could read
            continue
        if found is not None:
            yield found


def _packets(reader: Iterator[Any]) -> Iterator[tuple[float, bytes]]:
    """Times and packets, up to the end of the file or to where it is torn."""
    try:
        for at, packet in reader:
            yield float(at), bytes(packet)
    except (ValueError, dpkt.Error):
        return


_STARTS = {_ETHERNET: dpkt.ethernet.Ethernet, _COOKED: dpkt.sll.SLL, _COOKED2: dpkt.sll2.SLL2}


def _segment(at: float, packet: bytes, link: int) -> Segment | None:
    """The segment in a packet, None where it is something else."""
    if link in _STARTS:
        inner: Any = _STARTS[link](packet).data
    else:
        start = packet[4:] if link in (_NULL, _LOOP) else packet
        inner = IP6(start) if start[:1] and start[0] >> 4 == 6 else IP(start)
    tcp = getattr(inner, "data", None)
    if not isinstance(inner, IP | IP6) or not isinstance(tcp, TCP):
        return None
    source, target = str(ip_address(inner.src)), str(ip_address(inner.dst))
    return Segment(
        at, Address(source, tcp.sport), Address(target, tcp.dport), tcp.seq, tcp.flags, tcp.data
    )


class _Bounded:
    """A file that gives no more at once than a packet can have, whatever a block says."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.name = getattr(file, "name", "")

    def read(self, size: int) -> bytes:
        return self._file.read(min(max(size, 0), PACKET_LIMIT))

    def seek(self, place: int) -> int:
        return self._file.seek(place)


class _Dialogues:
    """The connections of a file, by their addresses."""

    def __init__(self, ports: frozenset[int]) -> None:
        self._ports = ports
        self._open: dict[tuple[Address, Address], _Dialogue] = {}
        self._count = 0

    def take(self, segment: Segment) -> Iterator[Event]:
        """What a segment completes."""
        client, node = self._sides(segment)
        dialogue = self._open.get((client, node))
        begins = bool(segment.flags & TH_SYN) and not segment.flags & TH_ACK
        if dialogue is not None and begins and not dialogue.repeats(segment):
            yield from dialogue.close("the connection began anew", segment.at)
            dialogue = None
        if dialogue is None:
            if not (begins or segment.data):
                return
            self._count += 1
            dialogue = self._open[client, node] = _Dialogue(self._count, client, node, segment.at)
        yield from dialogue.take(segment, segment.source == client)
        if dialogue.over:
            del self._open[client, node]

    def end(self) -> Iterator[Event]:
        """The file has ended."""
        for dialogue in self._open.values():
            yield from dialogue.close("the file ends", dialogue.latest)
        self._open.clear()

    def _sides(self, segment: Segment) -> tuple[Address, Address]:
        """Client and node."""
        there, back = (segment.source, segment.target), (segment.target, segment.source)
        for pair in (there, back):
            if pair in self._open or pair[1].port in self._ports:
                return pair
        if segment.flags & TH_SYN:
            return back if segment.flags & TH_ACK else there
        return there if segment.target.port < segment.source.port else back


@dataclass(slots=True)
class _Direction:
    """One direction of a connection, put in order. next: sequence number, None before the first."""

    framer: Framer
    next: int | None = None
    ahead: dict[int, bytes] = field(default_factory=dict)
    held: int = 0
    finished: bool = False

    def take(self, segment: Segment) -> Iterable[bytes]:
        """The bytes that a segment makes available."""
        sequence = segment.sequence
        if segment.flags & TH_SYN:
            self.next = (sequence + 1) % _SEQUENCES
            return
        if self.next is None:
            self.next = sequence
        known = self.ahead.get(sequence, b"")
        if len(segment.data) > len(known):
            self.held += len(segment.data) - len(known)
            self.ahead[sequence] = segment.data
        while (piece := self._pop()) is not None:
            yield piece

    def _pop(self) -> bytes | None:
        """The next bytes, without those that were seen before."""
        assert self.next is not None
        for sequence in list(self.ahead):
            seen = (self.next - sequence) % _SEQUENCES
            if seen >= _HALF:
                continue  # it lies ahead
            data = self.ahead.pop(sequence)
            self.held -= len(data)
            if seen < len(data):
                self.next = (sequence + len(data)) % _SEQUENCES
                return data[seen:]
        return None


class _Dialogue:
    """One connection of the file, with the framers of the proxy behind it."""

    def __init__(self, number: int, client: Address, node: Address, at: float) -> None:
        self._events: list[Event] = []
        self._connection = Connection(
            number=number, node_id=None, client=str(client), upstream=str(node), at=at
        )
        copies = Copies()
        self._pairing = Pairing(self._connection, self._events.append, copies)
        common = (self._pairing, tap_everything, copies)
        self._requests = _Direction(RequestFramer(*common))
        self._responses = _Direction(ResponseFramer(*common))
        self._started = False
        self._isn: int | None = None
        self.over = False
        self.latest = at

    def repeats(self, segment: Segment) -> bool:
        """Whether a SYN is the one that began this connection, or the first that is seen of it."""
        return self._isn == segment.sequence

    def take(self, segment: Segment, from_client: bool) -> list[Event]:
        """What a segment completes."""
        self.latest = at = segment.at
        direction = self._requests if from_client else self._responses
        if segment.flags & TH_SYN:
            if from_client:
                self._isn, self._started = segment.sequence, True
                self._tell(Kind.OPENED, f"{self._connection.client} opened", at)
        elif not self._started and not self._starts(segment, from_client):
            return self._given()
        for piece in direction.take(segment):
            direction.framer.feed(piece, at, at)
        waiting = self._requests.held + self._responses.held
        if waiting > AHEAD_LIMIT:
            self._end("a segment is not in the file; what follows it is not read", at)
        direction.finished |= bool(segment.flags & TH_FIN)
        if segment.flags & TH_RST or (self._requests.finished and self._responses.finished):
            self._end("closed", at)
        return self._given()

    def close(self, reason: str, at: float) -> list[Event]:
        """No more will come."""
        if self._requests.held or self._responses.held:
            reason = f"{reason}; a segment before its last ones is not in the file"
        self._end(reason, at)
        return self._given()

    def _starts(self, segment: Segment, from_client: bool) -> bool:
        """Of a connection that began before the file did, the first segment with a request."""
        if from_client and len(segment.data) >= REQUEST.size:
            size, key, version, _ = REQUEST.unpack_from(segment.data)
            self._started = 8 <= size < 1 << 27 and 0 <= key < 200 and 0 <= version < 50
        return self._started

    def _end(self, reason: str, at: float) -> None:
        if self.over:
            return
        self.over = True
        for direction in (self._requests, self._responses):
            direction.framer.finish()
            direction.ahead.clear()
        self._pairing.close(f"the connection ended: {reason}")
        self._tell(Kind.CLOSED, reason, at)

    def _tell(self, kind: Kind, text: str, at: float) -> None:
        self._events.append(Notice(connection=self._connection, at=at, kind=kind, text=text))

    def _given(self) -> list[Event]:
        given = self._events.copy()
        self._events.clear()
        return given
