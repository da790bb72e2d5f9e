"""Captures as pcapng: the frames in TCP connections that are made up around them.

Wireshark opens the file. Its Kafka dissector takes port 9092; choose others by "Decode As". Hosts
that are names become addresses of 192.0.2.0/24, which RFC 5737 reserves for documentation.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from struct import pack
from typing import BinaryIO

from dpkt import pcapng
from dpkt.ip import IP, IP_PROTO_TCP
from dpkt.ip6 import IP6
from dpkt.tcp import TCP, TH_ACK, TH_FIN, TH_PUSH, TH_SYN

from kwire.capture import NOTICE, REQUEST, CaptureRecord
from kwire.proxy.flows.flow import NoticeKind
from kwire.text.untrusted import whole_number

RAW_IP = 101
"""LINKTYPE_RAW: packets begin with the IP header."""

SECRETS_COMMENT = "recorded by kwire with --show-secrets: passwords and tokens as they passed"
"""Comment of a file; Wireshark shows it among the properties of the capture file."""

SEGMENT = 16 * 1024
"""Most bytes of a frame in one packet."""

WINDOW_SECONDS = 60.0
WINDOW_BYTES = 64 * 1024 * 1024
"""The window in which records are sorted by time: a response is recorded with its request."""

_SEQUENCES = 1 << 32
_MICROS = 1_000_000


def write_pcapng(
    records: Iterable[CaptureRecord], file: BinaryIO, *, shows_secrets: bool = False
) -> int:
    """Write all frames as packets; return the number of packets.

    shows_secrets: say in a comment of the file that secrets were recorded as they passed.
    """
    section = _commented(SECRETS_COMMENT) if shows_secrets else None
    writer = pcapng.Writer(file, snaplen=1 << 18, linktype=RAW_IP, shb=section)
    count = 0
    for at, packet in packets(in_order(records)):
        writer.writepkt_time(packet, max(at, 0.0))  # the format has none before 1970
        count += 1
    return count


def _commented(text: str) -> pcapng.SectionHeaderBlock:
    """Return the head of a file with a comment, in the byte order that the writer takes."""
    little = pack("=H", 1) == b"\1\0"
    block = pcapng.SectionHeaderBlockLE if little else pcapng.SectionHeaderBlock
    option = pcapng.PcapngOptionLE if little else pcapng.PcapngOption
    options = [option(code=pcapng.PCAPNG_OPT_COMMENT, text=text)]
    return block(opts=[*options, option(code=pcapng.PCAPNG_OPT_ENDOFOPT)])


def in_order(records: Iterable[CaptureRecord]) -> Iterator[CaptureRecord]:
    """Sort records by time within the window."""
    waiting: list[tuple[int, int, CaptureRecord]] = []
    held, latest = 0, 0
    for number, record in enumerate(records):
        heapq.heappush(waiting, (record.at_us, number, record))
        held += _weight(record)
        latest = max(latest, record.at_us)
        while waiting and (
            held > WINDOW_BYTES or latest - waiting[0][0] > WINDOW_SECONDS * _MICROS
        ):
            _, _, first = heapq.heappop(waiting)
            held -= _weight(first)
            yield first
    while waiting:
        yield heapq.heappop(waiting)[2]


def packets(records: Iterable[CaptureRecord]) -> Iterator[tuple[float, bytes]]:
    """Yield Unix seconds and an IP packet for all packets of the connections."""
    addresses = _Addresses()
    connections: dict[tuple[str, int], _TcpConnection] = {}
    for record in records:
        key, at = (record.capture, record.connection), record.at_us / _MICROS
        if record.kind == NOTICE and record.notice != NoticeKind.CLOSED.name:
            continue
        connection = connections.get(key)
        if connection is None:
            if record.kind == NOTICE:
                continue
            connection = connections[key] = _TcpConnection(addresses.ends(record))
            yield from ((at, packet) for packet in connection.open())
        is_end = record.kind == NOTICE
        written = connections.pop(key).close() if is_end else connection.frame(record)
        yield from ((at, packet) for packet in written)


@dataclass(slots=True)
class _End:
    """One end of a connection, and the bytes that it has sent so far."""

    address: IPv4Address | IPv6Address
    port: int
    sent: int = 0


@dataclass(slots=True)
class _TcpConnection:
    """A TCP connection: client and node."""

    ends: tuple[_End, _End]

    def open(self) -> Iterator[bytes]:
        """Yield the packets of the handshake."""
        client, node = self.ends
        yield self._packet(client, node, TH_SYN)
        client.sent += 1
        yield self._packet(node, client, TH_SYN | TH_ACK)
        node.sent += 1
        yield self._packet(client, node, TH_ACK)

    def close(self) -> Iterator[bytes]:
        """Yield the packets that close the connection."""
        client, node = self.ends
        yield self._packet(client, node, TH_FIN | TH_ACK)
        client.sent += 1
        yield self._packet(node, client, TH_FIN | TH_ACK)
        node.sent += 1
        yield self._packet(client, node, TH_ACK)

    def frame(self, record: CaptureRecord) -> Iterator[bytes]:
        """Yield the packets of a frame and its size.

        The sequence numbers leave a gap for bytes that were not recorded, as if they were lost.
        """
        client, node = self.ends
        source, target = (client, node) if record.kind == REQUEST else (node, client)
        size = record.size or 0
        data = size.to_bytes(4, "big") + (record.frame or b"")
        for start in range(0, len(data), SEGMENT):
            piece = data[start : start + SEGMENT]
            yield self._packet(source, target, TH_PUSH | TH_ACK, piece)
            source.sent += len(piece)
        source.sent += record.truncated

    def _packet(self, source: _End, target: _End, flags: int, data: bytes = b"") -> bytes:
        segment = TCP(
            sport=source.port,
            dport=target.port,
            seq=source.sent % _SEQUENCES,
            ack=target.sent % _SEQUENCES if flags & TH_ACK else 0,
            flags=flags,
            win=65535,
            data=data,
        )
        return _in_ip(source, target, segment)


def _in_ip(source: _End, target: _End, segment: TCP) -> bytes:
    if source.address.version == 4 and target.address.version == 4:
        packet = IP(
            src=source.address.packed, dst=target.address.packed, p=IP_PROTO_TCP, data=segment
        )
        packet.len = len(packet)
        return bytes(packet)
    packet6 = IP6(
        src=_as_ipv6(source.address),
        dst=_as_ipv6(target.address),
        nxt=IP_PROTO_TCP,
        hlim=64,
        plen=len(segment),
        data=segment,
    )
    packet6.extension_hdrs = {}
    return bytes(packet6)


def _as_ipv6(address: IPv4Address | IPv6Address) -> bytes:
    """Return 16 bytes; an IPv4 address is mapped (RFC 4291)."""
    return address.packed if address.version == 6 else bytes(10) + b"\xff\xff" + address.packed


@dataclass(slots=True)
class _Addresses:
    """Addresses in place of hosts that are names."""

    numbers: dict[str, int] = field(default_factory=dict)

    def ends(self, record: CaptureRecord) -> tuple[_End, _End]:
        """Return the client's and the node's end of a record's connection."""
        return self._end(record.client), self._end(record.upstream)

    def _end(self, text: str) -> _End:
        host, _, port = text.rpartition(":")
        port_number = whole_number(port, bits=16) or 0
        try:
            return _End(ip_address(host.strip("[]")), port_number)
        except ValueError:
            number = self.numbers.setdefault(host, len(self.numbers))
            return _End(IPv4Address(f"192.0.2.{number % 254 + 1}"), port_number)


def _weight(record: CaptureRecord) -> int:
    return 512 + len(record.frame or b"")
