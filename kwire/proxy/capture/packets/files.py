"""Packets out of pcap and pcapng files, read once from the beginning to the end, also from a pipe.

The formats are those of draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. A pcapng file has
sections, each of its own byte order, and interfaces, each of its own link type and clock.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from struct import Struct, error, unpack_from
from typing import BinaryIO, NamedTuple, TypeVar, cast

from kwire.errors import FileError

PACKET_LIMIT = 16 * 1024 * 1024
"""Bytes of the longest packet or block that is read; a damaged file may claim any length."""

_LATEST = 253_402_300_800  # the year 10000, in Unix seconds
_GZIP = b"\x1f\x8b"
_COMPRESSED = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zX": "xz",
    b"BZh": "bzip2",
    b"\x04\x22M\x18": "lz4",
}
_CLASSIC = {
    0xA1B2C3D4: (1_000_000, 0),
    0xA1B23C4D: (1_000_000_000, 0),
    0xA1B2CD34: (1_000_000, 8),  # Kuznetzov's patch: an interface and a protocol behind each head
}
"""Magic number to fractions of a second, and bytes behind the head of a packet."""

_SECTION, _INTERFACE, _OBSOLETE, _SIMPLE, _STATISTICS, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 5, 6
_ORDER_MAGIC = 0x1A2B3C4D
_TSRESOL, _TSOFFSET = 9, 14  # options of an interface
_IFDROP, _OSDROP = 5, 7  # options of its statistics
_MICROSECONDS = 1_000_000

_T = TypeVar("_T")
_Reading = Generator[None, None, _T]
"""Reading that yields None where a moment has passed."""


class Packet(NamedTuple):
    """A packet as it is in a file.

    at: Unix seconds, 0.0 where the file does not say or no calendar has such a time. link: its link
    type, None where the file does not describe its interface. size: bytes that it had on the line.
    """

    at: float
    link: int | None
    data: bytes
    size: int


@dataclass(slots=True)
class PacketFile:
    """A file of packets that is read once.

    file: a pipe of packets that still come may return None from `read`, to say that a moment has
    passed and nothing was read. kernel_drops: packets that the system says it dropped before they
    were written. ended: why reading ended before the end of the file, None if it did not.
    """

    file: BinaryIO
    name: str
    ended: FileError | None = None
    _position: int = 0
    _dropped: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def kernel_drops(self) -> int:
        """Packets that were dropped while the file was made, as far as it says."""
        return sum(self._dropped.values())

    def packets(self) -> Iterator[Packet | None]:
        """Yield the packets up to the first damage, which is in `ended` then; None for a moment.

        Raises FileError if the file is neither pcap nor pcapng.
        """
        magic = yield from self._open()
        for order in "<>":
            (number,) = unpack_from(f"{order}I", magic)
            if number in _CLASSIC:
                blocks = self._classic(order, *_CLASSIC[number])
                break
        else:
            if magic != _SECTION.to_bytes(4, "big"):
                raise self._no_packets(magic)
            blocks = self._sections()
        try:
            yield from blocks
        except FileError as damage:
            self.ended = damage
        except (OSError, EOFError, zlib.error) as failure:  # a gzip member that is cut or damaged
            self.ended = self._error(f"cannot be unpacked further: {failure}", self._position)

    def _open(self) -> _Reading[bytes]:
        """Return the first four bytes, of the content of a gzip'ed file. Raises FileError."""
        magic = yield from self._available(4)
        if magic.startswith(_GZIP):
            whole = cast(BinaryIO, _Joined(magic, self.file))
            self.file = cast(BinaryIO, gzip.GzipFile(fileobj=whole))
            try:
                magic = self.file.read(4)
            except (OSError, EOFError, zlib.error) as failure:
                raise self._error(f"cannot be unpacked: {failure}", 0) from None
        self._position = len(magic)
        if len(magic) < 4:
            found = f"it has {len(magic)} bytes" if magic else "it is empty"
            raise self._error(f"neither pcap nor pcapng: {found}", 0)
        return magic

    def _no_packets(self, magic: bytes) -> FileError:
        for start, kind in _COMPRESSED.items():
            if magic.startswith(start):
                return self._error(f"compressed with {kind}: unpack it first", 0)
        return self._error(f"neither pcap nor pcapng: it begins with {magic!r}", 0)

    def _error(self, reason: str, offset: int) -> FileError:
        return FileError(reason, file=self.name, offset=offset)

    def _available(self, size: int) -> _Reading[bytes]:
        """Return the next bytes, fewer at the end of the file."""
        while (data := cast("bytes | None", self.file.read(size))) is None:
            yield None
        return data

    def _read(self, size: int, of: str) -> _Reading[bytes]:
        """Return the next bytes. Raises FileError if there are fewer."""
        data = yield from self._available(size)
        self._position += len(data)
        if len(data) < size:
            reason = f"the file ends within {of}: {len(data)} of {size} bytes are there"
            raise self._error(reason, self._position - len(data))
        return data

    def _next_byte(self) -> _Reading[bytes]:
        """Return the next byte, nothing at the end of the file."""
        data = yield from self._available(1)
        self._position += len(data)
        return data

    def _damaged(self, reason: str, offset: int) -> FileError:
        return self._error(f"{reason}; what follows is not read", offset)

    def _classic(self, order: str, unit: int, extra: int) -> Iterator[Packet | None]:
        header = yield from self._read(20, "its header")
        link = unpack_from(f"{order}I", header, 16)[0] & 0xFFFF  # above: the length of an FCS
        head = Struct(f"{order}IIII")
        while True:
            offset = self._position
            first = yield from self._available(head.size)
            if not first:
                return
            self._position += len(first)
            if len(first) < head.size:
                raise FileError(
                    "the file ends within the head of a packet", file=self.name, offset=offset
                )
            seconds, fraction, captured, size = head.unpack(first)
            if captured > PACKET_LIMIT:
                raise self._damaged(f"a packet of {captured} bytes", offset)
            data = (yield from self._read(extra + captured, "a packet"))[extra:]
            yield Packet(_time(seconds * unit + fraction, unit), link, data, max(size, captured))

    def _sections(self) -> Iterator[Packet | None]:
        order, section = "<", 0
        interfaces: list[_Interface] = []
        kind_bytes = _SECTION.to_bytes(4, "big")
        while kind_bytes:
            offset = self._position - 4
            length_bytes = yield from self._read(4, "the head of a block")
            if kind_bytes == _SECTION.to_bytes(4, "big"):  # the same in both byte orders
                mark = yield from self._read(4, "the head of a section")
                order = self._byte_order(mark, offset)
                interfaces, section = [], section + 1
                body = yield from self._body(order, length_bytes, mark, offset)
                if unpack_from(f"{order}H", body, 4)[0] != 1:
                    raise self._damaged("a section of an unknown version", offset)
            else:
                (kind,) = unpack_from(f"{order}I", kind_bytes)
                body = yield from self._body(order, length_bytes, b"", offset)
                try:
                    packet = self._block(order, kind, body, interfaces, section)
                except (error, IndexError):
                    raise self._damaged(
                        f"a block of type {kind} that is too short", offset
                    ) from None
                if packet is not None:
                    yield packet
            first = yield from self._next_byte()
            kind_bytes = first and first + (yield from self._read(3, "the head of a block"))

    def _byte_order(self, mark: bytes, offset: int) -> str:
        for order in "<>":
            if unpack_from(f"{order}I", mark)[0] == _ORDER_MAGIC:
                return order
        raise self._damaged("a section without a byte order", offset)

    def _body(self, order: str, length_bytes: bytes, read: bytes, offset: int) -> _Reading[bytes]:
        """Return the body of a block, of which `read` is read already."""
        (length,) = unpack_from(f"{order}I", length_bytes)
        least = 12 + (16 if read else 0)
        if not least <= length <= PACKET_LIMIT:
            raise self._damaged(f"a block of {length} bytes", offset)
        padded = length + -length % 4  # some writers leave the padding out of the length
        body = read + (yield from self._read(padded - 12 - len(read), "a block"))
        if (yield from self._read(4, "a block")) != length_bytes:
            raise self._damaged(
                f"a block of {length} bytes that does not end with its length", offset
            )
        return body

    def _block(
        self, order: str, kind: int, body: bytes, interfaces: list[_Interface], section: int
    ) -> Packet | None:
        """Return the packet in a block, None if there is none. Raises struct.error."""
        if kind == _INTERFACE:
            interfaces.append(_interface(order, body))
        elif kind == _STATISTICS:
            number = unpack_from(f"{order}I", body)[0]
            for code, value in _options(order, body, 12):
                if code in (_IFDROP, _OSDROP) and len(value) == 8:
                    # The numbers of the system and of the interface may count the same packets.
                    drops = int.from_bytes(value, "little" if order == "<" else "big")
                    known = self._dropped.get((section, number), 0)
                    self._dropped[section, number] = max(known, drops)
        elif kind == _SIMPLE:
            (size,) = unpack_from(f"{order}I", body)
            first = interfaces[0] if interfaces else None
            data = body[4 : 4 + min(size, (first.snap if first else 0) or size)]
            return Packet(0.0, first.link if first else None, data, size)
        elif kind in (_ENHANCED, _OBSOLETE):
            form = "I" if kind == _ENHANCED else "HH"
            number, *_, high, low, captured, size = unpack_from(f"{order}{form}IIII", body)
            data = body[20 : 20 + captured]
            if len(data) < captured:
                raise error
            known_interface = interfaces[number] if number < len(interfaces) else None
            if known_interface is None:
                return Packet(0.0, None, data, max(size, captured))
            at = known_interface.time(high << 32 | low)
            return Packet(at, known_interface.link, data, max(size, captured))
        return None


@dataclass(slots=True)
class _Joined:
    """A file whose first bytes have been read already."""

    start: bytes
    file: BinaryIO

    def read(self, size: int) -> bytes:
        data, self.start = self.start[:size], self.start[size:]
        while len(data) < size:
            more = cast("bytes | None", self.file.read(size - len(data)))
            if not more and more is not None:
                break
            data += more or b""
        return data


@dataclass(frozen=True, slots=True)
class _Interface:
    """link: its link type. snap: most bytes of a packet, 0 for all. unit: fractions of a second."""

    link: int
    snap: int
    unit: int = _MICROSECONDS
    offset: int = 0

    def time(self, fractions: int) -> float:
        return _time(fractions + self.offset * self.unit, self.unit)


def _interface(order: str, body: bytes) -> _Interface:
    link, _, snap = unpack_from(f"{order}HHI", body)
    unit, offset = _MICROSECONDS, 0
    for code, value in _options(order, body, 8):
        if code == _TSRESOL and len(value) == 1:
            power = value[0] & 0x7F
            unit = (2 if value[0] & 0x80 else 10) ** power
        elif code == _TSOFFSET and len(value) == 8:
            offset = unpack_from(f"{order}q", value)[0]
    return _Interface(link, snap, unit, offset)


def _options(order: str, body: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    """Yield codes and values; options that are damaged end them."""
    while start + 4 <= len(body):
        code, length = unpack_from(f"{order}HH", body, start)
        if code == 0 or start + 4 + length > len(body):
            return
        yield code, body[start + 4 : start + 4 + length]
        start += 4 + length + -length % 4


def _time(fractions: int, unit: int) -> float:
    """Return Unix seconds, 0.0 for times of which no calendar knows."""
    seconds, rest = divmod(fractions, unit)
    return seconds + rest / unit if 0 < seconds < _LATEST else 0.0
