"""Files of packets in all their forms, whole, cut and damaged."""

import gzip
from io import BytesIO
from struct import pack

import pytest

from kwire.errors import FileError
from kwire.proxy.capture.packets.files import PacketFile
from tests.support.proxy.capture.imported import Imported
from tests.support.proxy.capture.packets import (
    RAW,
    START,
    Sent,
    base,
    block,
    enhanced,
    ether,
    interface,
    obsolete,
    pcap,
    section,
    simple,
)

SENT = base()


def ng(*blocks: bytes) -> bytes:
    return section() + b"".join(blocks)


def epbs(number: int = 0, unit: int = 1_000_000) -> bytes:
    return b"".join(enhanced(sent, number, unit) for sent in SENT)


def mixed() -> bytes:
    """Two interfaces, of other link types and clocks, that have every second packet."""
    blocks = [
        enhanced(sent, 0, 10**9)
        if place % 2
        else enhanced(Sent(sent.at, ether(sent.data)), 1, 1 << 20)
        for place, sent in enumerate(SENT)
    ]
    return ng(interface(RAW, resolution=9), interface(1, resolution=0x94), *blocks)


FORMS = {
    "little": pcap(SENT),
    "big": pcap(SENT, order=">"),
    "nanoseconds": pcap(SENT, unit=10**9, magic=0xA1B23C4D),
    "nanoseconds, big": pcap(SENT, unit=10**9, magic=0xA1B23C4D, order=">"),
    "modified": pcap(SENT, magic=0xA1B2CD34),
    "length of an FCS": pcap(SENT, 0xF4000000 | RAW),
    "pcapng": ng(interface(), epbs()),
    "pcapng, big": section(">")
    + interface(order=">")
    + b"".join(enhanced(sent, order=">") for sent in SENT),
    "obsolete blocks": ng(interface(), *map(obsolete, SENT)),
    "milliseconds": ng(interface(resolution=3), epbs(unit=1000)),
    "power of two": ng(interface(resolution=0x94), epbs(unit=1 << 20)),
    "tenths of nanoseconds": ng(interface(resolution=10), epbs(unit=10**10)),
    "offset": ng(
        interface(offset=1_000_000_000),
        *(enhanced(Sent(sent.at - 1_000_000_000, sent.data)) for sent in SENT),
    ),
    "two interfaces": mixed(),
    "other blocks": ng(
        block(4, bytes(4)), interface(), block(10, bytes(16)), epbs(), block(0xBAD, b"any")
    ),
    "gzip": gzip.compress(pcap(SENT)),
    "two members": gzip.compress(pcap(SENT)[:500]) + gzip.compress(pcap(SENT)[500:]),
    "gzip of pcapng": gzip.compress(mixed()),
}


@pytest.mark.parametrize("data", FORMS.values(), ids=list(FORMS))
def test_every_form_has_the_same_packets_and_times(data: bytes) -> None:
    packets = list(filter(None, PacketFile(BytesIO(data), "x").packets()))
    assert [packet.at for packet in packets] == pytest.approx([s.at for s in SENT], abs=1e-3)
    imported = Imported(data)
    assert (imported.answered, imported.losses, imported.problems) == (5, {}, [])


def test_each_section_has_interfaces_and_a_byte_order_of_its_own() -> None:
    frames = [enhanced(Sent(one.at + 100, ether(one.data)), 0, 10**9, ">") for one in SENT]
    second = section(">") + interface(1, resolution=9, order=">") + b"".join(frames)
    imported = Imported(ng(interface(), epbs()) + second)
    assert (imported.answered, imported.losses) == (10, {})
    assert {round(flow.at - START) for flow in imported.flows} == {0, 100}


def test_packets_without_time_are_in_order_and_have_no_latency() -> None:
    imported = Imported(ng(interface(), *map(simple, SENT)))
    assert [flow.correlation_id for flow in imported.flows] == [1, 2, 3, 4, 5]
    assert {(flow.at, flow.latency) for flow in imported.flows} == {(0.0, None)}
    assert imported.items["without time"] == "16 packets"


def test_simple_blocks_are_cut_by_the_snap_length_of_their_interface() -> None:
    cut = [Sent(sent.at, sent.data[:60], len(sent.data)) for sent in SENT]
    imported = Imported(ng(interface(snap=60), *map(simple, cut)))
    assert imported.losses.keys() == {"cut"}


TIMES = {
    "zero": (0, 0.0),
    "before 1970": (-5, 0.0),
    "2106": (1 << 32, float(1 << 32)),
    "9999": (253_402_300_799, 253_402_300_799.0),
    "10000": (253_402_300_800, 0.0),
    "the last": ((1 << 63) - 1, 0.0),
}


@pytest.mark.parametrize(("offset", "at"), TIMES.values(), ids=list(TIMES))
def test_times_that_no_calendar_has_are_not_known(offset: int, at: float) -> None:
    data = ng(interface(offset=offset), *(enhanced(Sent(0.0, sent.data)) for sent in SENT))
    imported = Imported(data)
    assert {flow.at for flow in imported.flows} == {at}
    assert ("without time" in imported.items) == (not at)


def test_a_resolution_of_any_power_is_read() -> None:
    for resolution in (0, 0x80, 0x7F, 0xFF):
        assert Imported(ng(interface(resolution=resolution), epbs())).answered == 5


def test_what_the_system_dropped_is_told() -> None:
    drops = pack("<HHQ", 5, 8, 7) + pack("<HHQ", 7, 8, 7) + bytes(4)
    statistics = block(5, pack("<III", 0, 0, 0) + drops)
    imported = Imported(ng(interface(), epbs(), statistics))
    assert imported.losses == {"dropped": "7 packets by the system that captured"}


def test_a_file_that_ends_anywhere_gives_what_is_there_and_says_so() -> None:
    for whole in (pcap(base(1)), ng(interface(), *map(enhanced, base(1)))):
        for end in range(4, len(whole)):
            imported = Imported(whole[:end])
            assert imported.answered <= 1
            ended = imported.balance.ended
            # Between two packets nothing tells that others followed.
            if ended is not None:
                assert ended.offset <= end
                assert "the file ends within" in ended.reason
    assert Imported(pcap(SENT)[:-1]).losses == {
        "broken off": "byte 1210: the file ends within a packet: 39 of 40 bytes are there"
    }


def test_a_gzip_file_that_is_cut_or_damaged_gives_what_is_there() -> None:
    whole = gzip.compress(pcap(base(400)), 1)
    cut = Imported(whole[: len(whole) // 2])
    assert 0 < cut.answered < 400
    assert cut.losses.keys() == {"broken off"}
    assert "cannot be unpacked further" in cut.losses["broken off"]
    damaged = Imported(whole[:-8] + bytes(8))  # the sum at the end
    assert (damaged.answered, list(damaged.losses)) == (400, ["broken off"])


HEAD = 24
DAMAGED = {
    "a packet of 2 GiB": (
        pcap(SENT)[:HEAD] + pack("<IIII", 0, 0, 0x7FFFFFFF, 60) + bytes(60),
        "byte 24: a packet of 2147483647 bytes; what follows is not read",
    ),
    "a block of 2 GiB": (
        ng(interface(), pack("<II", 6, 0x7FFFFFF0)),
        "byte 48: a block of 2147483632 bytes; what follows is not read",
    ),
    "a block that is too short": (
        ng(interface(), block(6, bytes(8))),
        "byte 48: a block of type 6 that is too short; what follows is not read",
    ),
    "no length at the end": (
        ng(interface(), block(6, bytes(40))[:-4] + bytes(4)),
        "byte 48: a block of 52 bytes that does not end with its length; what follows is not read",
    ),
    "more than its block has": (
        ng(interface(), block(6, pack("<IIIII", 0, 0, 0, 900, 900))),
        "byte 48: a block of type 6 that is too short; what follows is not read",
    ),
    "another version": (
        block(0x0A0D0D0A, pack("<IHHq", 0x1A2B3C4D, 2, 0, -1)),
        "byte 0: a section of an unknown version; what follows is not read",
    ),
}


@pytest.mark.parametrize(("data", "text"), DAMAGED.values(), ids=list(DAMAGED))
def test_damage_is_told_with_its_place(data: bytes, text: str) -> None:
    assert Imported(data).losses == {"broken off": text}


NO_PACKETS = {
    "empty": (b"", "it is empty"),
    "short": (b"\xd4\xc3", "it has 2 bytes"),
    "text": (b"tcpdump: listening on any", "it begins with b'tcpd'"),
    "zstd": (bytes.fromhex("28b52ffd 00000000"), "compressed with zstd: unpack it first"),
    "xz": (b"\xfd7zXZ\0\0", "compressed with xz: unpack it first"),
    "bzip2": (b"BZh91AY", "compressed with bzip2: unpack it first"),
    "lz4": (bytes.fromhex("04224d18 00"), "compressed with lz4: unpack it first"),
    "gzip of nothing": (gzip.compress(b""), "it is empty"),
    "gzip of text": (gzip.compress(b"text"), "it begins with b'text'"),
    "gzip that is none": (b"\x1f\x8bxxxxxxxxxxxxxx", "cannot be unpacked"),
}


@pytest.mark.parametrize(("data", "text"), NO_PACKETS.values(), ids=list(NO_PACKETS))
def test_what_is_no_file_of_packets_is_refused(data: bytes, text: str) -> None:
    with pytest.raises(FileError, match=text):
        Imported(data)


def test_a_file_without_packets_has_nothing_to_read() -> None:
    for data in (pcap([]), ng(interface())):
        assert Imported(data).items == {"packets": "0, 0 bytes"}
