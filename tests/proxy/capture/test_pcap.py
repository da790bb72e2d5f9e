"""Captures become packets that others read, and others' packets become flows again."""

import random
import struct
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import dpkt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzing.steps import steps
from kwire.capture import CaptureRecord
from kwire.errors import FileError
from kwire.proxy import Event, Flow, Notice, NoticeKind, Outcome
from kwire.proxy.capture.pcap_export import in_order, write_pcapng
from kwire.proxy.capture.pcap_import import PacketImport
from kwire.proxy.capture.records import event_records
from tests.support.proxy.capture.events import lost, plain
from tests.support.proxy.flows.dialogue_flows import votes


def conversation(count: int, padding: int = 0) -> list[Event]:
    """Some RPCs and the end of their connection."""
    flows: list[Flow] = votes(count, padding)
    for flow in flows:
        flow.connection = flows[0].connection
        flow.connection.upstream = "127.0.0.1:9093"
    closed = Notice(
        connection=flows[0].connection, at=2e6, kind=NoticeKind.CLOSED, text="the client closed"
    )
    return [*flows, closed]


def records(events: list[Event]) -> Iterator[CaptureRecord]:
    for number, event in enumerate(events):
        yield from event_records(event, number, "c")


def exported(events: list[Event]) -> bytes:
    file = BytesIO()
    write_pcapng(records(events), file)
    return file.getvalue()


def import_events(file: BytesIO, name: str) -> Iterator[Event]:
    return PacketImport(file, name).events()


def flows_of(data: bytes) -> list[Flow]:
    return [event for event in import_events(BytesIO(data), "x") if isinstance(event, Flow)]


def same(given: list[Event], back: list[Flow]) -> bool:
    """True if the RPCs are the same, except for the monotonic clock, which packets lack."""
    left: list[dict[str, Any]] = []
    right: list[dict[str, Any]] = []
    for events, into in ((given, left), (back, right)):
        for event in events:
            if isinstance(event, Flow):
                values = plain(event)
                for name in ("asked", "answered", "connection", "at"):
                    del values[name]
                into.append(values)
    return left == right


def raw(*data: bytes) -> bytes:
    """Return a pcap file of IP packets."""
    return pcap([(1.0, packet) for packet in data])


def in_ip(data: bytes, protocol: int) -> bytes:
    """Return an IP packet of the loopback."""
    size, host = 20 + len(data), b"\x7f\0\0\1"
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, 0, 0, 64, protocol, 0, host, host) + data


def in_tcp(sequence: int, data: bytes, flags: int = 0x18) -> bytes:
    """Return a segment from port 40000 to 9092, in IP."""
    head = struct.pack(">HHIIBBHHH", 40000, 9092, sequence, 0, 5 << 4, flags, 1000, 0, 0)
    return in_ip(head + data, 6)


def test_segments_that_wait_for_one_cost_no_more_the_more_they_are() -> None:
    """Each was compared with all before it: a file of 7 MB took minutes."""

    def read(count: int) -> None:
        ahead = (in_tcp(10 + 2 * number, b"x") for number in range(count))
        events = list(import_events(BytesIO(raw(in_tcp(0, b"", 2), *ahead)), "x"))
        assert [event.kind for event in events if isinstance(event, Notice)] == [
            NoticeKind.OPENED,
            NoticeKind.NOT_CAPTURED,
            NoticeKind.CLOSED,
        ]

    read(10)
    assert steps(lambda: read(2000)) < 4.5 * steps(lambda: read(500))


def test_segments_that_wait_are_forgotten_with_what_they_take_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kwire.proxy.capture.packets.streams.AHEAD_LIMIT", 10_000)
    ahead = (in_tcp(10 + 2 * number, b"x") for number in range(100))
    request = bytes.fromhex("0000000b 0012 0000 00000007 0001 6b")
    packets = [in_tcp(0, b"", 2), *ahead, in_tcp(1000, request)]
    events = list(import_events(BytesIO(raw(*packets)), "x"))
    texts = [event.text for event in events if isinstance(event, Notice)]
    assert texts[1] == "899 bytes of the client are not in the file"
    assert any(isinstance(event, Flow) for event in events)


def from_port(port: int, sequence: int = 0, data: bytes = b"", flags: int = 2) -> bytes:
    """Return a segment from this port to 9092, in IP."""
    head = struct.pack(">HHIIBBHHH", port, 9092, sequence, 0, 5 << 4, flags, 1000, 0, 0)
    return in_ip(head + data, 6)


def test_of_too_many_connections_those_without_data_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kwire.proxy.capture.pcap_import.CONNECTIONS", 3)
    request = bytes.fromhex("0000000b 0012 0000 00000007 0001 6b")
    first = [from_port(20_000), from_port(20_000, 1, request, 0x18)]
    flood = [from_port(30_000 + number) for number in range(50)]
    events = list(import_events(BytesIO(raw(*first, *flood)), "x"))
    closed = [one for one in events if isinstance(one, Notice) and one.kind is NoticeKind.CLOSED]
    given_up = [one.connection.client for one in closed if "3 others are open" in one.text]
    assert given_up == [f"127.0.0.1:{30_000 + number}" for number in range(48)]
    # Each is told of as soon as it is given up, not only at the end of the file.
    assert events.index(closed[0]) < 10
    (flow,) = (one for one in events if isinstance(one, Flow))
    assert flow.request_copy == request[4:]
    assert "not followed" not in closed[-1].text


def test_of_too_many_connections_with_data_the_one_that_is_silent_for_longest_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kwire.proxy.capture.pcap_import.CONNECTIONS", 3)
    data = [from_port(20_000 + number, 1, b"data", 0x18) for number in (0, 1, 2, 0, 3)]
    events = list(import_events(BytesIO(raw(*data)), "x"))
    assert isinstance(events[0], Notice)
    assert events[0].connection.client == "127.0.0.1:20001"


def test_the_packets_are_tcp_as_dpkt_reads_it() -> None:
    data = exported(conversation(1))
    packets = [dpkt.ip.IP(packet) for _, packet in dpkt.pcapng.Reader(BytesIO(data))]
    flags = [packet.data.flags for packet in packets]
    assert flags == [0x02, 0x12, 0x10, 0x18, 0x18, 0x11, 0x11, 0x10]
    for packet in packets:
        again = dpkt.ip.IP(bytes(packet))
        again.sum = again.data.sum = 0
        checked = dpkt.ip.IP(bytes(again))
        assert (checked.sum, checked.data.sum) == (packet.sum, packet.data.sum)
    seen = {0: 0, 1: 0}
    for packet in packets:
        side = packet.data.dport == 9093
        assert packet.data.seq == seen[side]
        step = bool(packet.data.flags & 3)
        seen[side] += len(packet.data.data) + step


@pytest.mark.parametrize("padding", [0, 100_000 // 4], ids=["small", "many segments"])
def test_what_was_exported_is_imported_again(padding: int) -> None:
    given = conversation(5, padding)
    assert same(given, flows_of(exported(given)))


def test_addresses_of_version_6_and_names_become_packets_too() -> None:
    given = conversation(2)
    given[0].connection.upstream = "[::1]:9093"
    back = flows_of(exported(given))
    assert same(given, back)
    assert back[0].connection.upstream == "[::1]:9093"
    given[0].connection.upstream = "broker.example:9093"
    (first, *_) = flows_of(exported(given))
    assert first.connection.upstream == "192.0.2.1:9093"
    given[0].connection.upstream = f"[::1]:{'9' * 5000}"
    (first, *_) = flows_of(exported(given))
    assert first.connection.upstream == "[::1]:0"


def test_a_connection_of_a_recording_that_lasts_has_no_end() -> None:
    *given, _ = conversation(2)
    events = list(import_events(BytesIO(exported(given)), "x"))
    assert isinstance(events[-1], Notice)
    assert events[-1].text == "the file ends"


def test_records_are_put_in_the_order_of_time() -> None:
    late, early = list(records(conversation(1)))[:2][::-1]
    assert [one.at_us for one in in_order([late, early])] == [early.at_us, late.at_us]


def packets(data: bytes) -> list[tuple[float, bytes]]:
    return list(dpkt.pcapng.Reader(BytesIO(data)))


def pcap(found: list[tuple[float, bytes]], link: int = 101) -> bytes:
    """A classic pcap file, as tcpdump writes it."""
    file = BytesIO()
    writer = dpkt.pcap.Writer(file, linktype=link)
    for at, packet in found:
        writer.writepkt(packet, at)
    return file.getvalue()


ETHERNET = bytes(12) + b"\x08\x00"
COOKED = bytes.fromhex("00000304 0006 000000000000 0000 0800")
STARTS = {"raw": (101, b""), "Ethernet": (1, ETHERNET), "cooked": (113, COOKED)}


@pytest.mark.parametrize(("link", "start"), STARTS.values(), ids=list(STARTS))
def test_a_pcap_of_each_link_type_is_read(link: int, start: bytes) -> None:
    given = conversation(3)
    found = [(at, start + packet) for at, packet in packets(exported(given))]
    assert same(given, flows_of(pcap(found, link)))


@settings(max_examples=40)
@given(seed=st.integers(0, 1000))
def test_doubled_and_reordered_segments_make_no_difference(seed: int) -> None:
    chance = random.Random(seed)
    given = conversation(4, padding=10_000)
    found = packets(exported(given))
    start, middle, end = found[:3], found[3:-3], found[-3:]
    middle += chance.sample(middle, 3)
    chance.shuffle(middle)
    back = flows_of(pcap(start + middle + end))
    requests = {flow.request_copy for flow in given if isinstance(flow, Flow)}
    assert {flow.request_copy for flow in back} == requests


def test_a_segment_that_repeats_the_end_of_the_one_before_adds_only_what_is_new() -> None:
    given = conversation(2, padding=20_000)
    found = packets(exported(given))
    before, packet = (dpkt.ip.IP(found[place][1]) for place in (3, 4))
    packet.data.seq -= 7
    packet.data.data = before.data.data[-7:] + packet.data.data
    packet.len += 7
    found[4] = (found[4][0], bytes(packet))
    assert same(given, flows_of(pcap(found)))


def test_a_lost_segment_ends_nothing() -> None:
    given = conversation(5)
    found = packets(exported(given))
    del found[5]  # the second request
    assert same([given[0], *given[2:]], flows_of(pcap(found)))


def test_a_connection_that_began_before_the_file_is_followed_from_a_request_on() -> None:
    given = conversation(5)
    found = packets(exported(given))[4:]  # from the first response on
    assert same(given[1:], flows_of(pcap(found)))


def test_a_torn_file_gives_what_is_there() -> None:
    given = conversation(5)
    data = pcap(packets(exported(given)))
    assert len(flows_of(data[:-400])) >= 1


def test_what_is_no_packet_is_skipped_and_what_is_no_pcap_refused() -> None:
    given = conversation(1)
    found = packets(exported(given))
    found.insert(3, (1e6, b"\x45\x00"))
    found.insert(3, (1e6, b""))
    assert same(given, flows_of(pcap(found)))
    with pytest.raises(FileError, match="neither pcap nor pcapng"):
        flows_of(b"anything else, such as this")


def test_a_huge_block_takes_no_memory(tmp_path: Path) -> None:
    data = exported(conversation(1))
    wrong = data[:28] + data[28:32] + b"\xff\xff\xff\x7f" + data[36:]
    reading = PacketImport(BytesIO(wrong), "x")
    assert list(reading.events()) == []
    assert "a block of 2147483647 bytes" in str(reading.balance.ended)


def test_a_lost_request_stays_lost() -> None:
    flow = lost()
    flow.connection.upstream = "127.0.0.1:9093"
    closed = Notice(connection=flow.connection, at=2e6, kind=NoticeKind.CLOSED, text="closed")
    (back,) = flows_of(exported([flow, closed]))
    assert back.outcome is flow.outcome is Outcome.LOST


VALID = (exported(conversation(4, padding=300)), pcap(packets(exported(conversation(4)))))


@given(
    whole=st.sampled_from(VALID),
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=6),
    end=st.integers(0, 10**6),
)
def test_damaged_files_give_events_or_one_typed_error(
    whole: bytes, changes: list[tuple[int, int]], end: int
) -> None:
    data = bytearray(whole)
    for place, value in changes:
        data[place % len(data)] = value
    try:
        events = list(import_events(BytesIO(bytes(data[: max(end, 1)])), "x"))
    except FileError:
        return
    assert all(isinstance(event, Flow | Notice) for event in events)
