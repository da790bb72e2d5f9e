"""Packets of TCP connections, the layers around them, and the files that they are in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from struct import pack
from typing import NamedTuple

from kwire.messages.a03_metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
)
from kwire.net.frames import encode_request, encode_response

FIN, SYN, RST, PUSH, ACK = 1, 2, 4, 8, 16
START = 1_700_000_000.0
ETHERNET, RAW = 1, 101
_AH = "06 04 0000 00000001 00000001 000000000000000000000000"
CLIENT, NODE = ("10.9.0.1", 40001), ("10.9.0.2", 9092)


def request(number: int, size: int = 0) -> bytes:
    """Return a Metadata request for a topic whose name has so many more bytes than `orders`."""
    topic = MetadataRequestTopic(name="orders" + "x" * size)
    return encode_request(
        MetadataRequest(topics=[topic]), 0, correlation_id=number, client_id="own-client"
    )


def response(number: int, size: int = 0) -> bytes:
    """Return its response: a broker whose host has so many more bytes than `node`."""
    broker = MetadataResponseBroker(node_id=1, host="node" + "x" * size, port=9092)
    return encode_response(MetadataResponse(brokers=[broker]), 0, correlation_id=number)


class Sent(NamedTuple):
    """A packet: Unix seconds, its bytes, and how many it had on the line; 0: all are there."""

    at: float
    data: bytes
    size: int = 0

    def cut(self, size: int) -> Sent:
        """Return what a snap length leaves of it."""
        return Sent(self.at, self.data[:size], max(self.size, len(self.data)))


@dataclass
class Talk:
    """A TCP connection between a client and a node, packet by packet, a millisecond each.

    packets: IP packets. sequences: the next number of the client and of the node.
    """

    client: tuple[str, int] = CLIENT
    node: tuple[str, int] = NODE
    sequences: list[int] = field(default_factory=lambda: [1000, 9000])
    at: float = START
    packets: list[Sent] = field(default_factory=list)

    def send(self, side: int, data: bytes = b"", flags: int = PUSH | ACK) -> Sent:
        """Send a segment of the client (0) or the node (1)."""
        own, other = (self.client, self.node)[:: -1 if side else 1]
        acknowledged = self.sequences[1 - side] if flags & ACK else 0
        segment = tcp(own[1], other[1], self.sequences[side], acknowledged, flags, data)
        self.at = round(self.at + 0.001, 6)
        sent = Sent(self.at, ip(own[0], other[0], segment))
        self.packets.append(sent)
        step = len(data) + bool(flags & (SYN | FIN))
        self.sequences[side] = (self.sequences[side] + step) % (1 << 32)
        return sent

    def open(self) -> Talk:
        """Send the three packets of a beginning."""
        self.send(0, flags=SYN)
        self.send(1, flags=SYN | ACK)
        self.send(0, flags=ACK)
        return self

    def close(self) -> Talk:
        """Send the packets of an end."""
        self.send(0, flags=FIN | ACK)
        self.send(1, flags=FIN | ACK)
        self.send(0, flags=ACK)
        return self

    def rpcs(self, count: int, *, first: int = 1, size: int = 0, mss: int = 1448) -> Talk:
        """Send requests and their responses, in segments of so many bytes."""
        for number in range(first, first + count):
            self.write(0, request(number, size), mss)
            self.write(1, response(number, size), mss)
        return self

    def write(self, side: int, data: bytes, mss: int = 1448) -> Talk:
        """Send bytes in segments."""
        for start in range(0, len(data), mss):
            self.send(side, data[start : start + mss])
        return self


def base(count: int = 5, *, size: int = 0, mss: int = 1448) -> list[Sent]:
    """Return the packets of a whole connection with so many RPCs."""
    return Talk().open().rpcs(count, size=size, mss=mss).close().packets


def tcp(
    source: int, target: int, sequence: int, acknowledged: int, flags: int, data: bytes = b""
) -> bytes:
    """Return a TCP segment."""
    return (
        pack(">HHIIBBHHH", source, target, sequence, acknowledged, 5 << 4, flags, 1000, 0, 0) + data
    )


def ip(source: str, target: str, content: bytes, protocol: int = 6) -> bytes:
    """Return an IP packet, of the version of its addresses."""
    one, two = ip_address(source), ip_address(target)
    if one.version == 6:
        return (
            pack(">IHBB", 6 << 28, len(content), protocol, 64) + one.packed + two.packed + content
        )
    return ipv4(one.packed + two.packed, content, protocol)


def ipv4(
    hosts: bytes, content: bytes, protocol: int, *, fragment: int = 0, number: int = 0
) -> bytes:
    """Return a packet of IPv4; `fragment` has the flags and the offset of one."""
    head = pack(">BBHHHBBH", 0x45, 0, 20 + len(content), number, fragment, 64, protocol, 0)
    return head + hosts + content


def fragments(packet: bytes, size: int, number: int) -> list[bytes]:
    """Return the fragments of an IPv4 packet, with so many bytes each."""
    content, parts = packet[20:], []
    for start in range(0, len(content), size):
        place = (0x2000 if start + size < len(content) else 0) | start // 8
        part = content[start : start + size]
        parts.append(ipv4(packet[12:20], part, packet[9], fragment=place, number=number))
    return parts


def fragments6(packet: bytes, size: int, number: int) -> list[bytes]:
    """Return the fragments of an IPv4 packet's content in IPv6."""
    content, parts = packet[20:], []
    source, target = (f"fd00::{packet[place]}" for place in (15, 19))
    for start in range(0, len(content), size):
        place = start | (start + size < len(content))
        head = pack(">BBHI", 6, 0, place, number)
        parts.append(ip(source, target, head + content[start : start + size], 44))
    return parts


def ether(packet: bytes) -> bytes:
    """Return an Ethernet frame, which is padded to its least size."""
    kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
    return (bytes.fromhex("020000000001 020000000002") + kind + packet).ljust(60, b"\0")


_MACS = "020000000001 020000000002"

Wrap = Callable[[bytes], bytes]


def _behind(head: str, inside: Wrap = bytes) -> Wrap:
    """Return a function that puts a header before a packet, or before what it is inside of."""
    return lambda packet: bytes.fromhex(head) + inside(packet)


def _frame(kind: str, inside: Wrap = bytes) -> Wrap:
    """Return a function that puts a packet into an Ethernet frame of this kind."""
    return _behind(f"{_MACS} {kind}", inside)


def _tagged(tags: str) -> Wrap:
    return _frame(tags, lambda packet: ether(packet)[12:])


def _udp(port: int, head: str, inside: Wrap = ether) -> Wrap:
    def wrap(packet: bytes) -> bytes:
        content = _behind(head, inside)(packet)
        return pack(">HHHH", 50000, port, 8 + len(content), 0) + content

    return _tunnel(17, "", wrap)


def _tunnel(protocol: int, head: str = "", inside: Wrap = bytes) -> Wrap:
    content = _behind(head, inside)
    return lambda packet: ether(ip("10.1.0.1", "10.1.0.2", content(packet), protocol))


def _pppoe(packet: bytes) -> bytes:
    return pack(">BBHHH", 0x11, 0, 1, 2 + len(packet), 0x21) + packet


def _snap(packet: bytes) -> bytes:
    return pack(">H", 8 + len(packet)) + bytes.fromhex("aaaa03 000000 0800") + packet


def _nflog(order: str) -> Wrap:
    def wrap(packet: bytes) -> bytes:
        head = b"\2\0\0\0" + pack(f"{order}HHI", 8, 5, 3)
        return head + pack(f"{order}HH", 4 + len(packet), 9) + packet + bytes(-len(packet) % 4)

    return wrap


def _ipv6(*extensions: tuple[int, str]) -> Wrap:
    """Return a function that puts TCP in IPv6 behind headers: their type, and all but the first."""

    def wrap(packet: bytes) -> bytes:
        content, protocol = packet[20:], 6
        for kind, rest in reversed(extensions):
            content = bytes([protocol]) + bytes.fromhex(rest) + content
            protocol = kind
        source, target = (f"fd00::{packet[place]}" for place in (15, 19))
        return ether(ip(source, target, content, protocol))

    return wrap


_PAD = "00 010400000000"
WRAPPINGS: dict[str, tuple[int, Wrap]] = {
    "Ethernet": (1, ether),
    "raw": (101, bytes),
    "raw of BSD": (12, bytes),
    "raw of OpenBSD": (14, bytes),
    "IPv4": (228, bytes),
    "VLAN": (1, _tagged("8100 0064")),
    "QinQ": (1, _tagged("88a8 0064 8100 00c8")),
    "three VLANs": (1, _tagged("9100 0001 8100 0064 8100 00c8")),
    "MPLS": (1, _frame("8847 00010140")),
    "two labels": (1, _frame("8847 00010040 00011140")),
    "pseudowire": (1, _frame("8847 00010140 00000000", ether)),
    "PPPoE": (1, _frame("8864", _pppoe)),
    "SNAP": (1, _frame("", _snap)),
    "LINUX_SLL": (113, _behind("0000 0001 0006 0200000000010000 0800")),
    "LINUX_SLL2": (276, _behind("0800 0000 00000002 0001 00 06 0200000000010000")),
    "NULL, little": (0, _behind("02000000")),
    "NULL, big": (0, _behind("00000002")),
    "LOOP": (108, _behind("00000002")),
    "PPP": (9, _behind("ff03 0021")),
    "PPP, short": (9, _behind("21")),
    "HDLC": (104, _behind("0f00 0800")),
    "NFLOG": (239, _nflog("<")),
    "NFLOG, big": (239, _nflog(">")),
    "VXLAN": (1, _udp(4789, "08000000 00002a00")),
    "VXLAN of Linux": (1, _udp(8472, "08000000 00002a00")),
    "VXLAN-GPE": (1, _udp(4790, "0c000001 00002a00", bytes)),
    "Geneve": (1, _udp(6081, "00006558 00002a00")),
    "Geneve, options": (1, _udp(6081, "02006558 00002a00 01028001 00000000")),
    "Geneve, IP": (1, _udp(6081, "00000800 00002a00", bytes)),
    "GRE": (1, _tunnel(47, "0000 0800")),
    "GRE, key": (1, _tunnel(47, "3000 0800 00000007 00000001")),
    "GRE, checksum": (1, _tunnel(47, "8000 0800 00000000")),
    "GRE, Ethernet": (1, _tunnel(47, "0000 6558", ether)),
    "PPTP": (1, _tunnel(47, "3001 880b 0000 0001 00000001 0021")),
    "ERSPAN": (1, _tunnel(47, "1000 88be 00000001 10010000 00000000", ether)),
    "ERSPAN III": (1, _tunnel(47, "1000 22eb 00000001 20010000 00000000 00000000", ether)),
    "IP in IP": (1, _tunnel(4)),
    "AH": (1, lambda packet: ether(ipv4(packet[12:20], bytes.fromhex(_AH) + packet[20:], 51))),
    "IPv4 in IPv6": (1, lambda packet: ether(ip("fd00::a", "fd00::b", packet, 4))),
    "MPLS in IP": (1, _tunnel(137, "00010140")),
    "IPv6": (1, _ipv6()),
    "IPv6, options": (1, _ipv6((0, _PAD), (60, _PAD))),
    "IPv6, routing": (1, _ipv6((43, "02 02 00 00000000" + "00" * 16))),
    "IPv6, AH": (1, _ipv6((51, _AH[2:]))),
    "IPv6, fragment": (1, _ipv6((44, "00 0000 00000007"))),
}
"""Link types, and functions that wrap an IPv4 packet of TCP."""


def pcap(
    packets: Iterable[Sent],
    link: int = RAW,
    *,
    order: str = "<",
    unit: int = 1_000_000,
    magic: int = 0xA1B2C3D4,
) -> bytes:
    """Return a pcap file. magic: 0xA1B2CD34 is that of the form with longer heads."""
    extra = bytes(8) if magic == 0xA1B2CD34 else b""
    file = [pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 262144, link)]
    for at, data, size in packets:
        seconds, rest = divmod(round(at * 1_000_000), 1_000_000)
        fraction = rest * unit // 1_000_000
        head = pack(f"{order}IIII", seconds, fraction, len(data), size or len(data))
        file.append(head + extra + data)
    return b"".join(file)


def wrapped(name: str, packets: Iterable[Sent]) -> bytes:
    """Return a pcap file of packets with one of the wrappings."""
    link, wrap = WRAPPINGS[name]
    return pcap((Sent(at, wrap(data)) for at, data, _ in packets), link)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """Return a block of pcapng."""
    body += bytes(-len(body) % 4)
    length = pack(f"{order}I", 12 + len(body))
    return pack(f"{order}I", kind) + length + body + length


def section(order: str = "<") -> bytes:
    """Return the block that begins a section."""
    return block(0x0A0D0D0A, pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(
    link: int = RAW,
    *,
    resolution: int | None = None,
    offset: int | None = None,
    snap: int = 0,
    order: str = "<",
) -> bytes:
    """Return the block of an interface."""
    options = b""
    if resolution is not None:
        options += pack(f"{order}HHB3x", 9, 1, resolution)
    if offset is not None:
        options += pack(f"{order}HHq", 14, 8, offset)
    return block(1, pack(f"{order}HHI", link, 0, snap) + options, order)


def enhanced(sent: Sent, number: int = 0, unit: int = 1_000_000, order: str = "<") -> bytes:
    """Return the block of a packet."""
    time = round(sent.at * 1_000_000) * unit // 1_000_000
    high, low, size = time >> 32, time & 0xFFFFFFFF, len(sent.data)
    return block(
        6, pack(f"{order}IIIII", number, high, low, size, sent.size or size) + sent.data, order
    )


def obsolete(sent: Sent, number: int = 0) -> bytes:
    """Return the block of a packet in its first form."""
    time = round(sent.at * 1_000_000)
    head = pack("<HHIIII", number, 0, time >> 32, time & 0xFFFFFFFF, len(sent.data), len(sent.data))
    return block(2, head + sent.data)


def simple(sent: Sent) -> bytes:
    """Return the block of a packet without a time."""
    return block(3, pack("<I", sent.size or len(sent.data)) + sent.data)
