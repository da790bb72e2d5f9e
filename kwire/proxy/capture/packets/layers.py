"""TCP segments in packets, whatever they are wrapped in.

Each layer names the next one and where it begins. Followed are VLAN, MPLS, PPPoE, GRE, ERSPAN, IP
in IP, VXLAN and Geneve; fragments of IP are put together. A packet ends where its IP header says:
the file may have less of it, and Ethernet pads short ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from struct import Struct, error, unpack_from
from typing import NamedTuple, Optional

from kwire.net.address import Address
from kwire.proxy.capture.packets.files import Packet

LAYERS = 24
"""Most layers of a packet; one of a thousand is made to cost time."""

FRAGMENTED = 1000
"""Most IP packets whose fragments are waited for at once."""

NOT_DESCRIBED = "packets of an interface that the file does not describe"
CUT = "packets cut within a header"
CUT_FRAGMENTS = "cut fragments of IP packets"
LONE_FRAGMENTS = "fragments of IP packets whose others are not in the file"

_TCP = Struct(">HHIIBB")
_IPV4_HEAD, _IPV6_HEAD = 20, 40
_VXLAN_PORTS, _GENEVE_PORT = (4789, 4790, 8472), 6081


class TcpSegment(NamedTuple):
    """A TCP segment. at: Unix seconds. size: bytes of data that it had on the line."""

    at: float
    source: Address
    target: Address
    sequence: int
    acknowledged: int
    flags: int
    data: bytes
    size: int


class NotTcp(Exception):
    """A packet without a TCP segment. kind: such packets, in words. lost: it might have had one."""

    def __init__(self, kind: str, *, lost: bool = False) -> None:
        super().__init__(kind)
        self.kind = kind
        self.lost = lost


class Layers:
    """Finds the segments of packets; keeps fragments until their packet is whole.

    lone: fragments that were given up.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[object, ...], _Fragments] = OrderedDict()
        self._whole: OrderedDict[tuple[object, ...], None] = OrderedDict()
        self.lone = 0

    def segment(self, packet: Packet) -> TcpSegment:
        """Return the segment in a packet. Raises NotTcp."""
        if packet.link is None:
            raise NotTcp(NOT_DESCRIBED, lost=True)
        layer = _LINKS.get(packet.link)
        if layer is None:
            raise NotTcp(f"packets of link type {packet.link}", lost=True)
        cursor = _PacketCursor(packet.data, packet.size, self)
        try:
            for _ in range(LAYERS):
                following = layer(cursor)
                if following is None:
                    return cursor.segment(packet.at)
                layer = following
        except (IndexError, error):
            raise NotTcp(CUT, lost=True) from None
        raise NotTcp("packets in too many others")

    def end(self) -> int:
        """Give up what is not whole; return how many fragments were given up."""
        while self._waiting:
            self._give_up()
        return self.lone

    def put_together(self, key: tuple[object, ...], offset: int, data: bytes, more: bool) -> bytes:
        """Return the content of the packet that a fragment makes whole, else raise NotTcp."""
        if key in self._whole:
            raise NotTcp("repeated fragments of IP packets")
        fragments = self._waiting.setdefault(key, _Fragments())
        fragments.add(offset, data, more)
        content = fragments.content()
        if content is None:
            if len(self._waiting) > FRAGMENTED:
                self._give_up()
            raise NotTcp("")
        del self._waiting[key]
        self._whole[key] = None
        if len(self._whole) > FRAGMENTED:
            self._whole.popitem(last=False)
        return content

    def _give_up(self) -> None:
        self.lone += len(self._waiting.popitem(last=False)[1].parts)


@dataclass(slots=True)
class _Fragments:
    """The fragments of one IP packet, by their offset. total: bytes of all, once the last came."""

    parts: dict[int, bytes] = field(default_factory=dict)
    held: int = 0
    total: int | None = None

    def add(self, offset: int, data: bytes, more: bool) -> None:
        known = self.parts.setdefault(offset, data)
        self.held += len(data) if known is data else 0
        if not more:
            self.total = offset + len(data)

    def content(self) -> bytes | None:
        if self.total is None or self.held < self.total:
            return None
        content = b""
        for offset in sorted(self.parts):
            if offset > len(content):
                return None
            content += self.parts[offset][len(content) - offset :]
        return content


class _PacketCursor:
    """A position in a packet. end: where the layer ends on the line. hosts: of the IP header."""

    __slots__ = ("data", "end", "hosts", "layers", "start")

    def __init__(self, data: bytes, end: int, layers: Layers) -> None:
        self.data = data
        self.start = 0
        self.end = end
        self.layers = layers
        self.hosts = (b"", b"")

    def byte(self, offset: int = 0) -> int:
        return self.data[self.start + offset]

    def short(self, offset: int = 0) -> int:
        value: int = unpack_from(">H", self.data, self.start + offset)[0]
        return value

    def bytes(self, offset: int, size: int) -> bytes:
        return self.data[self.start + offset : self.start + offset + size]

    def segment(self, at: float) -> TcpSegment:
        """Return the segment whose TCP header is here. Raises struct.error."""
        source, target, sequence, acknowledged, offset, flags = _TCP.unpack_from(
            self.data, self.start
        )
        if offset >> 4 < 5:
            raise error
        begin = self.start + (offset >> 4) * 4
        return TcpSegment(
            at,
            _address(self.hosts[0], source),
            _address(self.hosts[1], target),
            sequence,
            acknowledged,
            flags,
            self.data[begin : self.end],
            max(self.end - begin, 0),
        )


_Layer = Callable[[_PacketCursor], Optional["_Layer"]]
"""Moves behind a header; returns the layer there, None for TCP. Raises NotTcp, or struct.error and
IndexError where the header is cut."""


@lru_cache(65_536)
def _address(host: bytes, port: int) -> Address:
    return Address(_host(host), port)


@lru_cache(65_536)
def _host(host: bytes) -> str:
    return str(ip_address(host))


def _after(cursor: _PacketCursor, size: int, layer: _Layer) -> _Layer:
    cursor.start += size
    return layer


def _ether_type(cursor: _PacketCursor, kind: int) -> _Layer:
    """Return the layer of an EtherType. Raises NotTcp."""
    layer = _ETHER_TYPES.get(kind)
    if layer is None:
        raise NotTcp(_NAMES.get(kind, f"EtherType 0x{kind:04x}"))
    return layer


def _ethernet(cursor: _PacketCursor) -> _Layer:
    kind = cursor.short(12)
    cursor.start += 14
    return _llc(cursor) if kind < 0x600 else _ether_type(cursor, kind)


def _llc(cursor: _PacketCursor) -> _Layer:
    if cursor.bytes(0, 6) != b"\xaa\xaa\x03\0\0\0":  # SNAP, with an EtherType behind it
        raise NotTcp("LLC")
    kind = cursor.short(6)
    return _after(cursor, 8, _ether_type(cursor, kind))


def _vlan(cursor: _PacketCursor) -> _Layer:
    kind = cursor.short(2)
    cursor.start += 4
    return _llc(cursor) if kind < 0x600 else _ether_type(cursor, kind)


def _mpls(cursor: _PacketCursor) -> _Layer:
    bottom = cursor.byte(2) & 1
    cursor.start += 4
    if not bottom:
        return _mpls
    # Nothing names what follows: IP by its version, or Ethernet behind a control word (RFC 4448).
    version = cursor.byte() >> 4
    if version in (4, 6):
        return _ip
    return _after(cursor, 4, _ethernet) if version == 0 else _ethernet


def _pppoe(cursor: _PacketCursor) -> _Layer:
    return _after(cursor, 6, _ppp)


def _ppp(cursor: _PacketCursor) -> _Layer:
    if cursor.bytes(0, 2) == b"\xff\x03":  # address and control, as in HDLC
        cursor.start += 2
    compressed = cursor.byte() & 1
    kind = cursor.byte() if compressed else cursor.short()
    layer = {0x21: _ipv4, 0x57: _ipv6, 0x281: _mpls}.get(kind)
    if layer is None:
        raise NotTcp("PPP")
    return _after(cursor, 1 if compressed else 2, layer)


def _ip(cursor: _PacketCursor) -> _Layer:
    """Read either version; the link, or a tunnel, does not say which."""
    version = cursor.byte() >> 4
    if version not in (4, 6):
        raise NotTcp("neither IPv4 nor IPv6")
    return _ipv4 if version == 4 else _ipv6


def _ipv4(cursor: _PacketCursor) -> _Layer | None:
    start, head = cursor.start, (cursor.byte() & 0xF) * 4
    length, number, fragment = cursor.short(2), cursor.short(4), cursor.short(6)
    protocol, hosts = cursor.byte(9), cursor.bytes(12, 8)
    if head < _IPV4_HEAD or len(hosts) < 8:
        raise error
    cursor.hosts = (hosts[:4], hosts[4:])
    cursor.start = start + head
    if length:  # 0: the network card divides the packet (TSO)
        cursor.end = start + length
    if fragment & 0x3FFF:
        return _fragment(cursor, protocol, number, (fragment & 0x1FFF) * 8, fragment & 0x2000 != 0)
    return _transport(protocol)


def _ipv6(cursor: _PacketCursor) -> _Layer | None:
    length, protocol, hosts = cursor.short(4), cursor.byte(6), cursor.bytes(8, 32)
    if len(hosts) < 32:
        raise error
    cursor.hosts = (hosts[:16], hosts[16:])
    cursor.start += _IPV6_HEAD
    if length:  # 0: a jumbogram, or TSO
        cursor.end = cursor.start + length
    return _behind_ipv6(cursor, protocol)


def _behind_ipv6(cursor: _PacketCursor, protocol: int) -> _Layer | None:
    """Pass over the extension headers."""
    for _ in range(LAYERS):
        if protocol in (0, 43, 60, 135, 139, 140):
            protocol, size = cursor.byte(), (cursor.byte(1) + 1) * 8
        elif protocol == 51:
            protocol, size = cursor.byte(), (cursor.byte(1) + 2) * 4
        elif protocol == 44:
            following, place = cursor.byte(), cursor.short(2)
            number = int.from_bytes(cursor.bytes(4, 4), "big")
            cursor.start += 8
            if place & 0xFFF9:
                return _fragment(cursor, following, number, place & 0xFFF8, place & 1 != 0)
            protocol, size = following, 0
        else:
            return _transport(protocol)
        cursor.start += size
    raise NotTcp("packets in too many others")


def _fragment(
    cursor: _PacketCursor, protocol: int, number: int, offset: int, more: bool
) -> _Layer | None:
    if len(cursor.data) < cursor.end:
        raise NotTcp(CUT_FRAGMENTS, lost=True)
    part = cursor.data[cursor.start : cursor.end]
    content = cursor.layers.put_together((cursor.hosts, number, protocol), offset, part, more)
    cursor.data, cursor.start, cursor.end = content, 0, len(content)
    if len(cursor.hosts[0]) == 16:
        return _behind_ipv6(cursor, protocol)
    return _transport(protocol)


def _transport(protocol: int) -> _Layer:
    layer = _PROTOCOLS.get(protocol)
    if layer is None:
        raise NotTcp(_PROTOCOL_NAMES.get(protocol, f"IP protocol {protocol}"))
    return layer


def _tcp(cursor: _PacketCursor) -> None:
    """End: the cursor is at a TCP header."""


def _authenticated(cursor: _PacketCursor) -> _Layer:
    protocol, size = cursor.byte(), (cursor.byte(1) + 2) * 4
    return _after(cursor, size, _transport(protocol))


def _gre(cursor: _PacketCursor) -> _Layer:
    flags, kind = cursor.short(), cursor.short(2)
    if flags & 7 == 1:  # PPTP: the length and the call are always there
        size = 8 + 4 * (flags >> 12 & 1) + 4 * (flags >> 7 & 1)
        return _after(cursor, size, _ppp)
    sequence = flags >> 12 & 1
    size = 4 + 4 * bool(flags & 0xC000) + 4 * (flags >> 13 & 1) + 4 * sequence
    cursor.start += size
    if kind == 0x88BE:  # ERSPAN: type I has no header of its own, and GRE no sequence number
        return _after(cursor, 8 * sequence, _ethernet)
    if kind == 0x22EB:  # ERSPAN of type III
        platform = cursor.byte(11) & 1
        return _after(cursor, 12 + 8 * platform, _ethernet)
    return _ether_type(cursor, kind)


def _udp(cursor: _PacketCursor) -> _Layer:
    port = cursor.short(2)
    if port in _VXLAN_PORTS and cursor.byte(8) & 0x08:
        protocol = cursor.byte(11) if port == 4790 else 3
        layer = {1: _ipv4, 2: _ipv6, 3: _ethernet}.get(protocol)
        if layer is not None:
            return _after(cursor, 16, layer)
    elif port == _GENEVE_PORT and cursor.byte(8) >> 6 == 0:
        kind, options = cursor.short(10), (cursor.byte(8) & 0x3F) * 4
        return _after(cursor, 16 + options, _ether_type(cursor, kind))
    raise NotTcp("UDP")


def _cooked(cursor: _PacketCursor) -> _Layer:
    return _after(cursor, 16, _ether_type(cursor, cursor.short(14)))


def _cooked2(cursor: _PacketCursor) -> _Layer:
    return _after(cursor, 20, _ether_type(cursor, cursor.short()))


def _loopback(cursor: _PacketCursor) -> _Layer:
    # The family's number is of the system that wrote the file: the IP header says enough.
    return _after(cursor, 4, _ip)


def _hdlc(cursor: _PacketCursor) -> _Layer:
    return _after(cursor, 4, _ether_type(cursor, cursor.short(2)))


def _nflog(cursor: _PacketCursor) -> _Layer:
    """Find the payload among the attributes, in the byte order of the system that wrote them."""
    for order in "<>":
        start = cursor.start + 4
        while start + 4 <= len(cursor.data):
            size, kind = unpack_from(f"{order}HH", cursor.data, start)
            if size < 4:
                break
            if kind == 9:
                cursor.start = start + 4
                return _ip
            start += size + -size % 4
    raise NotTcp("NFLOG without a packet")


def _pktap(cursor: _PacketCursor) -> _Layer:
    """Pass over the header of macOS, which has its length and the link type behind it."""
    size, _, link = unpack_from("<III", cursor.data, cursor.start)
    layer = _LINKS.get(link)
    if layer is None or layer is _pktap:
        raise NotTcp(f"packets of link type {link}", lost=True)
    return _after(cursor, size, layer)


_PROTOCOLS: dict[int, _Layer] = {
    4: _ipv4,
    6: _tcp,
    17: _udp,
    41: _ipv6,
    47: _gre,
    51: _authenticated,
    137: _mpls,
}
_PROTOCOL_NAMES = {1: "ICMP", 2: "IGMP", 50: "ESP", 58: "ICMPv6", 89: "OSPF", 132: "SCTP"}
_ETHER_TYPES: dict[int, _Layer] = {
    0x0800: _ipv4,
    0x86DD: _ipv6,
    0x8100: _vlan,
    0x88A8: _vlan,
    0x9100: _vlan,
    0x9200: _vlan,
    0x8847: _mpls,
    0x8848: _mpls,
    0x8864: _pppoe,
    0x880B: _ppp,
    0x6558: _ethernet,
}
_NAMES = {0x0806: "ARP", 0x88CC: "LLDP", 0x8863: "PPPoE", 0x88E5: "MACsec", 0x888E: "EAPOL"}
_LINKS: dict[int, _Layer] = {
    0: _loopback,
    1: _ethernet,
    9: _ppp,
    12: _ip,
    14: _ip,
    50: _ppp,
    51: _pppoe,
    101: _ip,
    104: _hdlc,
    108: _loopback,
    113: _cooked,
    228: _ipv4,
    229: _ipv6,
    239: _nflog,
    258: _pktap,
    276: _cooked2,
}
"""Link types, by the numbers of the tcpdump group."""
