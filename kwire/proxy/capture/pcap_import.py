"""Flows from pcap and pcapng files, such as tcpdump writes on a broker.

1. `packets.files` reads packets, of each interface by its own link type and clock.
2. `packets.layers` finds the TCP segments in them.
3. `packets.streams` puts the bytes of each direction in order, and finds the gaps.
4. `packets.tls` decrypts them, where they are TLS and a key log has their keys.
5. `packets.conversation` finds the frames in them, of which the proxy's framers make flows.
6. `packets.balance` accounts for all of it: nothing that is not in the file goes unsaid.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from dpkt.tcp import TH_ACK, TH_SYN

from kwire.net.address import Address
from kwire.proxy.capture.packets.balance import Balance
from kwire.proxy.capture.packets.conversation import Conversation
from kwire.proxy.capture.packets.files import PacketFile
from kwire.proxy.capture.packets.layers import LONE_FRAGMENTS, Layers, NotTcp, TcpSegment
from kwire.proxy.capture.packets.streams import TcpConnection
from kwire.proxy.capture.packets.tls import TlsStream
from kwire.proxy.flows.flow import ClientConnection, Event, Flow

if TYPE_CHECKING:
    from kwire.proxy.capture.packets.key_log import KeyLog

CONNECTIONS = 10_000
"""Connections that are followed at once; a flood of SYNs has as many as packets."""

CLOSED = 1000
"""Connections that are remembered when they are over, since packets may come twice."""


class PacketImport:
    """The events of a pcap or pcapng file, read once; `balance` is complete behind the last one.

    ports: those of nodes. Without them the client is the side that sends the SYN, or whose bytes
    are requests if there is no SYN in the file. keys: a key log, with which TLS is decrypted.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        ports: frozenset[int] = frozenset(),
        keys: KeyLog | None = None,
    ) -> None:
        self.balance = Balance(has_keys=keys is not None)
        self._file = PacketFile(file, name)
        self._connections = _Connections(ports, self.balance, keys)

    def events(self) -> Iterator[Event]:
        """Yield the flows and notices. Raises FileError if the file is neither pcap nor pcapng."""
        return (event for event in self.live_events() if event is not None)

    def live_events(self) -> Iterator[Event | None]:
        """Yield the flows and notices; None behind those of a moment, where the file tells it.

        Of a pipe, such events come within two moments of their bytes. Raises FileError.
        """
        balance, layers = self.balance, Layers()
        for packet in self._file.packets():
            if packet is None:
                balance.kernel_drops = self._file.kernel_drops
                yield from self._connections.pass_moment()
                yield None
                continue
            balance.packets += 1
            balance.size += len(packet.data)
            balance.without_time += not packet.at
            try:
                segment = layers.segment(packet)
            except NotTcp as other:
                (balance.unread if other.lost else balance.not_tcp)[other.kind] += 1
                continue
            yield from self._connections.take(segment)
        yield from self._connections.end()
        balance.ended, balance.kernel_drops = self._file.ended, self._file.kernel_drops
        del balance.not_tcp[""]  # fragments of packets that became whole
        if lone := layers.end():
            balance.unread[LONE_FRAGMENTS] = lone

    def unanswered(self) -> Iterator[Flow]:
        """Yield the requests that have waited for their responses for more than a moment."""
        return self._connections.unanswered()


class _Tracked(NamedTuple):
    """A connection: its segments, and what is made of them."""

    tcp: TcpConnection
    tls: TlsStream
    conversation: Conversation


_Ends = tuple[Address, Address]


class _Connections:
    """The connections of a file, by the ends of their first packet, those with the latest last.

    _empty: those that have had no data yet. _closed: those that are over.
    """

    def __init__(self, ports: frozenset[int], balance: Balance, keys: KeyLog | None) -> None:
        self._ports = ports
        self._keys = keys
        self._balance = balance
        # Of a plain dict that loses its first items, the first is found ever more slowly.
        self._open: OrderedDict[_Ends, _Tracked] = OrderedDict()
        self._empty: OrderedDict[_Ends, None] = OrderedDict()
        self._closed: OrderedDict[_Ends, TcpConnection] = OrderedDict()
        self._count = 0
        self._latest = self._before = 0.0

    def pass_moment(self) -> Iterator[Event]:
        """Yield the events that wait for packets which will not come: a moment has passed."""
        self._before, latest = self._latest, 0.0
        for ends, tracked in list(self._open.items()):
            tracked.tcp.pass_moment()
            tracked.tls.pass_moment(tracked.tcp.latest)
            latest = max(latest, tracked.tcp.latest)
            if tracked.tcp.over:  # its last FIN is not in the file
                del self._open[ends]
                yield from self._close(ends, tracked, "closed")
            else:
                yield from tracked.conversation.take_events()
        self._latest = latest

    def unanswered(self) -> Iterator[Flow]:
        """Yield the requests that were waiting when the moment before the last had passed."""
        for tracked in self._open.values():
            for flow in tracked.conversation.pairing.pending:
                if flow.at <= self._before:
                    yield flow

    def take(self, segment: TcpSegment) -> Iterator[Event]:
        """Yield the events that a segment completes."""
        ends = (segment.source, segment.target)
        if ends not in self._open and (back := ends[::-1]) in self._open:
            ends = back
        tracked = self._open.pop(ends, None)
        client = None
        if tracked is not None and tracked.tcp.is_another(segment):
            if tracked.conversation.client is not None:
                client = tracked.tcp.ends[tracked.conversation.client]
            yield from self._close(ends, tracked, "the port is used again")
            ends, tracked = (segment.source, segment.target), None
        if tracked is None:
            tracked = self._begin(segment, client)
            if tracked is None:
                return
            self._empty[ends] = None
        self._open[ends] = tracked
        tracked.tcp.take(segment)
        if segment.size or tracked.tcp.over:
            self._empty.pop(ends, None)
        if tracked.tcp.over:
            del self._open[ends]
            yield from self._close(ends, tracked, "closed")
        else:
            yield from tracked.conversation.take_events()
        if len(self._open) > CONNECTIONS:
            yield from self._give_up()

    def end(self) -> Iterator[Event]:
        """Yield the last events, since the file has ended."""
        for ends, tracked in self._open.items():
            yield from self._close(ends, tracked, "the file ends")
        self._open.clear()
        self._empty.clear()

    def _begin(self, segment: TcpSegment, client: Address | None) -> _Tracked | None:
        """Begin a connection; return None for a segment that belongs to none that can be read."""
        is_syn = segment.flags & TH_SYN != 0
        source, target = ends = (segment.source, segment.target)
        known = self._closed.get(ends) or self._closed.get(ends[::-1])
        if not (is_syn or segment.size) or (known is not None and known.repeats(segment)):
            return None
        if client is None and is_syn:
            client = target if segment.flags & TH_ACK else source
        elif client is None and (source.port in self._ports) != (target.port in self._ports):
            client = target if source.port in self._ports else source
        self._count += 1
        # Until its bytes tell, and if they never do, the lower port is taken for the node's.
        shown = ends if source.port >= target.port else ends[::-1]
        connection = ClientConnection(
            number=self._count,
            node_id=None,
            client=str(shown[0]),
            upstream=str(shown[1]),
            at=segment.at,
        )
        conversation = Conversation(
            connection, ends, None if client is None else ends.index(client)
        )
        if is_syn:
            conversation.open(segment.at)
        tls = TlsStream(conversation, self._keys)
        return _Tracked(TcpConnection(*ends, tls), tls, conversation)

    def _give_up(self) -> Iterator[Event]:
        """Forget the first connection without data, else the one without packets for longest."""
        ends = next(iter(self._empty or self._open))
        self._empty.pop(ends, None)
        tracked = self._open.pop(ends)
        tracked.tcp.end()
        self._balance.given_up += tracked.conversation.waits
        reason = f"not followed further: {CONNECTIONS} others are open"
        yield from self._close(ends, tracked, reason)

    def _close(self, ends: _Ends, tracked: _Tracked, reason: str) -> Iterator[Event]:
        """Yield the last events of a connection."""
        tcp, tls, conversation = tracked
        tcp.end()
        tls.end(tcp.latest)
        node = None if conversation.client is None else tcp.streams[1 - conversation.client]
        complete = tcp.over and node is not None and node.seen
        conversation.end("closed" if tcp.over else reason, tcp.latest, complete=complete)
        self._balance.add(conversation)
        self._closed[ends] = tcp
        if len(self._closed) > CLOSED:
            self._closed.popitem(last=False)
        yield from conversation.take_events()
