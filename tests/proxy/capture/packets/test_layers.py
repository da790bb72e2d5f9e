"""TCP is found in all that packets are wrapped in."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from kwire.proxy import Flow, Outcome
from kwire.proxy.capture.packets.balance import Balance
from kwire.proxy.capture.packets.files import PacketFile
from kwire.proxy.capture.packets.layers import Layers
from kwire.proxy.capture.pcap_import import PacketImport
from tests.support.dissector.tshark import Tshark
from tests.support.proxy.capture.packets import (
    WRAPPINGS,
    Sent,
    base,
    enhanced,
    ether,
    fragments,
    fragments6,
    interface,
    ip,
    ipv4,
    pcap,
    section,
    wrapped,
)


def read(data: bytes) -> tuple[int, Balance]:
    """Return the number of answered RPCs, and the account."""
    reading = PacketImport(BytesIO(data), "x")
    events = list(reading.events())
    answered = [
        event for event in events if isinstance(event, Flow) and event.outcome is Outcome.ANSWERED
    ]
    return len(answered), reading.balance


@pytest.mark.parametrize("name", WRAPPINGS)
def test_each_wrapping_is_opened(name: str) -> None:
    answered, balance = read(wrapped(name, base()))
    assert (answered, [item for item in balance.items if item.lost]) == (5, [])


FIELDS = ("tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.len")
NOT_OF_TSHARK = {
    "NFLOG, big": "it takes the byte order of its own machine",
    "pseudowire": "it takes the control word for the beginning of an Ethernet address",
}


def all_wrappings() -> Iterator[bytes]:
    """Yield the blocks of a file with an interface for each wrapping."""
    yield section()
    wrappings = {name: wrap for name, wrap in WRAPPINGS.items() if name not in NOT_OF_TSHARK}
    for number, (link, wrap) in enumerate(wrappings.values()):
        yield interface(link)
        for sent in base(2):
            yield enhanced(Sent(sent.at, wrap(sent.data)), number)


@pytest.mark.real
def test_the_segments_are_those_of_tshark(tshark: Tshark, tmp_path: Path) -> None:
    path = tmp_path / "packets.pcapng"
    path.write_bytes(b"".join(all_wrappings()))
    options = [option for field in FIELDS for option in ("-e", field)]
    printed = tshark.run(path, "-d", "udp.port==8472,vxlan", "-T", "fields", *options)
    layers, found = Layers(), []
    for packet in filter(None, PacketFile(BytesIO(path.read_bytes()), "x").packets()):
        one = layers.segment(packet)
        numbers = (one.source.port, one.target.port, one.sequence, one.acknowledged, one.size)
        found.append("\t".join(map(str, numbers)))
    assert printed.splitlines() == found


@pytest.mark.parametrize("size", [8, 24, 64])
@pytest.mark.parametrize("version", [4, 6])
def test_fragments_are_put_together(size: int, version: int) -> None:
    whole = base(5, size=50)
    parts = [
        Sent(sent.at, part)
        for number, sent in enumerate(whole)
        for part in (fragments if version == 4 else fragments6)(sent.data, size, number)
    ]
    for order in (parts, parts[::2] + parts[1::2], [part for part in parts for _ in range(2)]):
        answered, balance = read(pcap(order))
        assert (answered, [item for item in balance.items if item.lost]) == (5, [])


def test_fragments_whose_others_are_missing_are_lost() -> None:
    sent = base(3)
    parts = fragments(sent[5].data, 24, 7)
    del parts[1]
    sent[5:6] = [Sent(sent[5].at, part) for part in parts]
    answered, balance = read(pcap(sent))
    assert answered == 2
    losses = {item.name: item.text for item in balance.items if item.lost}
    assert losses == {
        "missing": "36 bytes that are not in the file",
        "not read": "2 fragments of IP packets whose others are not in the file",
    }


OTHERS = {
    "ARP": (ether(bytes(28)).replace(b"\x08\x00", b"\x08\x06", 1), "1 ARP"),
    "UDP": (ether(ip("10.1.0.1", "10.1.0.2", bytes(8), 17)), "1 UDP"),
    "ESP": (ether(ip("10.1.0.1", "10.1.0.2", bytes(16), 50)), "1 ESP"),
    "LLC": (bytes(12) + b"\0\x26" + bytes(46), "1 LLC"),
    "unknown": (bytes(12) + b"\x99\x99" + bytes(46), "1 EtherType 0x9999"),
}


@pytest.mark.parametrize(("frame", "kind"), OTHERS.values(), ids=list(OTHERS))
def test_what_has_no_tcp_is_said_and_is_no_loss(frame: bytes, kind: str) -> None:
    packets = [Sent(sent.at, ether(sent.data)) for sent in base()]
    answered, balance = read(pcap([*packets, Sent(1.0, frame)], 1))
    items = {item.name: item for item in balance.items}
    assert (answered, items["not TCP"].text, items["not TCP"].lost) == (5, kind, False)


UNREAD = {
    "link type": (pcap(base(), 147), "16 packets of link type 147"),
    "cut": (pcap([sent.cut(10) for sent in base()]), "16 packets cut within a header"),
    "interface": (
        section() + b"".join(enhanced(sent, 3) for sent in base()),
        "16 packets of an interface that the file does not describe",
    ),
}


@pytest.mark.parametrize(("data", "text"), UNREAD.values(), ids=list(UNREAD))
def test_what_may_have_had_tcp_is_a_loss(data: bytes, text: str) -> None:
    answered, balance = read(data)
    losses = [item.text for item in balance.items if item.lost]
    assert (answered, losses) == (0, [text])


def test_a_packet_within_a_thousand_others_is_passed_over() -> None:
    nested = base()[0].data
    for _ in range(2000):
        nested = ipv4(nested[12:20], nested, 4)
    _, balance = read(pcap([Sent(1.0, nested)]))
    assert [item.text for item in balance.items if item.name == "not TCP"] == [
        "1 packets in too many others"
    ]
