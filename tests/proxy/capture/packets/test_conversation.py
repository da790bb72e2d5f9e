"""Connections of which the file has not all: what is missing is said, and reading goes on."""

import random
from collections.abc import Callable
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzing.steps import steps
from kwire.proxy import NoticeKind, Outcome
from tests.support.proxy.capture.imported import Imported
from tests.support.proxy.capture.packets import (
    ACK,
    FIN,
    NODE,
    PUSH,
    RST,
    Sent,
    Talk,
    base,
    pcap,
    request,
    response,
    tcp,
)

MISSING = NoticeKind.NOT_CAPTURED


def imported(packets: list[Sent], ports: frozenset[int] = frozenset()) -> Imported:
    return Imported(pcap(packets), ports)


def payload(sent: Sent) -> bytes:
    return sent.data[40:]


def test_a_connection_that_is_whole_has_nothing_to_tell() -> None:
    whole = imported(base(50))
    assert whole.outcomes == {Outcome.ANSWERED: 50}
    assert (whole.problems, whole.losses, whole.notices(MISSING)) == ([], {}, [])


@pytest.mark.parametrize("place", range(3, 23))
def test_one_packet_that_is_missing_costs_one_rpc(place: int) -> None:
    packets = base(10)
    (lost,) = packets[place : place + 1]
    del packets[place]
    rest = imported(packets)
    size = len(payload(lost))
    side = "client" if place % 2 else "node"
    assert rest.notices(MISSING) == [f"{size} bytes of the {side} are not in the file"]
    assert rest.losses == {"missing": f"{size} bytes that are not in the file"}
    assert rest.answered == 9
    assert rest.outcomes[Outcome.LOST] == 0
    assert rest.items.get("unpaired") == (
        "1 response to missing requests" if side == "client" else None
    )
    unknown = [flow for flow in rest.flows if flow.outcome is Outcome.PENDING]
    assert len(unknown) == (side == "node")
    for flow in unknown:
        assert flow.problems == ["the response is not in the file"]


@pytest.mark.parametrize("place", range(3, 40))
def test_a_missing_part_of_a_long_frame_costs_only_itself(place: int) -> None:
    packets = base(3, size=5000)
    size = len(payload(packets[place])) if place < len(packets) else 0
    if not size:
        return
    del packets[place]
    rest = imported(packets)
    assert rest.notices(MISSING) == [
        notice for notice in rest.notices(MISSING) if notice.startswith(f"{size} bytes of the")
    ]
    assert len(rest.flows) >= 2
    assert rest.outcomes[Outcome.LOST] == 0
    assert rest.answered >= 2
    assert rest.losses.keys() <= {"missing", "passed over"}


def pipelined(count: int, depth: int, size: int) -> list[Sent]:
    """Return a connection whose client sends requests before it has the responses."""
    talk = Talk().open()
    for first in range(1, count + 1, depth):
        numbers = range(first, min(first + depth, count + 1))
        for number in numbers:
            talk.write(0, request(number, size))
        talk.write(1, b"".join(response(number, size) for number in numbers))
    return talk.close().packets


def disturbed(chance: random.Random, packets: list[Sent], lost: set[int]) -> list[Sent]:
    """Leave packets out; change their order, cut and double them, or not."""
    rest = [packet for place, packet in enumerate(packets) if place not in lost]
    if chance.random() < 0.5:
        order = sorted(range(len(rest)), key=lambda place: place + chance.uniform(0, 12))
        rest = [rest[place] for place in order]
    if chance.random() < 0.3:
        rest = [packet.cut(200) if chance.random() < 0.1 else packet for packet in rest]
    return again(rest) if chance.random() < 0.3 else rest


@settings(max_examples=30)
@given(st.integers(0, 1 << 30))
def test_whatever_is_missing_nothing_is_called_no_response(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.choice([0, 0, 700, 6000])
    packets = pipelined(30, chance.choice([1, 1, 4, 30]), size)
    lost = set(chance.sample(range(len(packets)), chance.randrange(1, 15)))
    rest = imported(disturbed(chance, packets, lost))
    assert rest.outcomes[Outcome.LOST] == rest.outcomes[Outcome.NO_RESPONSE] == 0
    # Every flow that is told is one that was there.
    numbers = [flow.correlation_id for flow in rest.flows]
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) <= set(range(1, 31))
    for flow in rest.flows:
        asked, answered = (make(flow.correlation_id, size)[4:] for make in (request, response))
        assert asked.startswith(flow.request_copy or b"")
        assert answered.startswith(flow.response_copy or b"")
    # Without the first, and with SYN behind data, it is a file that begins in the middle.
    sent = [place for place, packet in enumerate(packets) if payload(packet)]
    if lost.intersection(sent[1:]):
        assert rest.losses


@pytest.mark.parametrize("side", [0, 1])
def test_one_direction_alone_is_told_as_such(side: int) -> None:
    packets = base(200)
    port = pack(">H", (40001, 9092)[side])
    rest = imported([packet for packet in packets if packet.data[20:22] == port])
    missing = sum(len(payload(packet)) for packet in packets if packet.data[20:22] != port)
    other = "node" if side == 0 else "client"
    assert rest.notices(MISSING) == [f"{missing} bytes of the {other} are not in the file"]
    assert rest.outcomes == ({Outcome.PENDING: 200} if side == 0 else {})


def test_a_snap_length_cuts_contents_only() -> None:
    for snap in range(20, 120, 7):
        rest = imported([sent.cut(snap) for sent in base(20)])
        assert rest.outcomes[Outcome.LOST] == 0
        if 60 <= snap < 70:  # the head of a response, and its first bytes
            assert rest.answered == 20
            assert rest.notices(MISSING)[-1].startswith("packets of the node are cut in the file")
        if snap < 76:
            assert rest.losses


@pytest.mark.parametrize("snap", [68, 76, 96])
def test_cut_packets_tell_the_client_without_a_beginning(snap: int) -> None:
    packets = base(20, size=60)[3:]
    rest = imported([sent.cut(snap) for sent in packets])
    assert rest.outcomes == {Outcome.ANSWERED: 20}
    assert {event.connection.client for event in rest.events} == {"10.9.0.1:40001"}
    assert rest.losses.keys() == {"cut"}


def test_frames_cut_at_their_size_keep_their_place() -> None:
    """The rest of the frame is not there, and the next one begins where the size says."""
    cut = [sent.cut(44) if place in (5, 6, 11) else sent for place, sent in enumerate(base(10))]
    rest = imported(cut)
    assert rest.answered == 8
    assert rest.items["unpaired"] == "1 response to missing requests"
    assert rest.losses.keys() == {"cut"}


BEFORE = {
    "at a request": (5, 9),
    "at a response": (4, 9),
    "at the handshake's end": (2, 10),
    "at its second packet": (1, 10),
}


@pytest.mark.parametrize(("place", "answered"), BEFORE.values(), ids=list(BEFORE))
@pytest.mark.parametrize("ports", [(40001, 9092), (9092, 40001), (30120, 36333)])
def test_without_the_beginning_the_bytes_tell_the_client(
    place: int, answered: int, ports: tuple[int, int]
) -> None:
    talk = Talk(client=("10.9.0.1", ports[0]), node=("10.9.0.2", ports[1]))
    rest = imported(talk.open().rpcs(10).close().packets[place:])
    assert (rest.answered, rest.losses, rest.problems) == (answered, {}, [])
    clients = {event.connection.client for event in rest.events}
    assert clients == {f"10.9.0.1:{ports[0]}"}


def test_without_the_beginning_a_long_frame_is_passed_over() -> None:
    packets = base(4, size=8000, mss=1000)
    for place in range(4, 20):
        rest = imported(packets[place:])
        assert (rest.answered, rest.losses) == (3, {})


def test_a_named_port_is_the_nodes() -> None:
    talk = Talk(client=("10.9.0.1", 9000), node=("10.9.0.2", 9092))
    rest = imported(talk.rpcs(3).packets, frozenset({9092}))
    assert {event.connection.upstream for event in rest.events} == {"10.9.0.2:9092"}


def again(packets: list[Sent]) -> list[Sent]:
    return [packet for packet in packets for _ in range(2)]


def shuffled(packets: list[Sent]) -> list[Sent]:
    """Exchange neighbours, as a machine does that writes several queues."""
    chance = random.Random(1)
    order = sorted(range(len(packets)), key=lambda place: place + chance.uniform(0, 6))
    return [packets[place] for place in order]


def with_keep_alives(packets: list[Sent]) -> list[Sent]:
    """Let the client repeat the byte before its next one, with a value of its own."""
    alive = []
    for packet in packets:
        alive.append(packet)
        if packet.data[33] & (PUSH | ACK) and packet.data[20:22] == pack(">H", 40001):
            sequence = int.from_bytes(packet.data[24:28], "big") + len(payload(packet))
            head = packet.data[20:40]
            number = pack(">I", (sequence - 1) % (1 << 32))
            keep = packet.data[:20] + head[:4] + number + head[8:13] + bytes([ACK]) + head[14:]
            alive.append(Sent(packet.at, keep + b"\xaa"))
    return [Sent(at, data[:2] + pack(">H", len(data)) + data[4:]) for at, data, _ in alive]


def repeated_otherwise(packets: list[Sent]) -> list[Sent]:
    """Repeat each segment, with other bytes: what came first had arrived."""
    return [
        one
        for packet in packets
        for one in (packet, Sent(packet.at, packet.data[:40] + b"\xff" * len(payload(packet))))
    ]


def resegmented(packets: list[Sent]) -> list[Sent]:
    """Repeat each segment with the last bytes of the one before it in front."""
    last: dict[bytes, bytes] = {}
    out = []
    for packet in packets:
        port, data = packet.data[20:22], payload(packet)
        more = last.get(port, b"")[-9:]
        if data and more:
            sequence = int.from_bytes(packet.data[24:28], "big") - len(more)
            head = packet.data[20:24] + pack(">I", sequence) + packet.data[28:40]
            content = head + more + data
            size = pack(">H", 20 + len(content))
            data_before = packet.data[:2] + size + packet.data[4:20]
            out.append(Sent(packet.at, data_before + content))
        else:
            out.append(packet)
        last[port] = data or last.get(port, b"")
    return out


CHANGES: dict[str, Callable[[list[Sent]], list[Sent]]] = {
    "doubled": again,
    "doubled as a whole": lambda packets: packets + packets,
    "in another order": shuffled,
    "doubled, in another order": lambda packets: shuffled(again(packets)),
    "keep-alives": with_keep_alives,
    "repeated with other contents": repeated_otherwise,
    "overlaps": resegmented,
    "times that go back": lambda packets: [Sent(2e9 - sent.at, sent.data) for sent in packets],
    "a time for all": lambda packets: [Sent(1.0, sent.data) for sent in packets],
    "no end": lambda packets: packets[:-3],
    "reset": lambda packets: [*packets[:-3], reset(packets)],
    "reset twice": lambda packets: [*packets[:-3], reset(packets), reset(packets)],
}


def reset(packets: list[Sent]) -> Sent:
    return Sent(packets[-1].at, packets[-3].data[:33] + bytes([RST | ACK]) + packets[-3].data[34:])


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_what_tcp_allows_makes_no_difference(change: Callable[[list[Sent]], list[Sent]]) -> None:
    rest = imported(change(base(40)))
    assert (rest.outcomes, rest.losses) == ({Outcome.ANSWERED: 40}, {})
    assert (rest.problems, rest.notices(MISSING)) == ([], [])
    assert rest.notices(NoticeKind.UNREADABLE) == []
    assert all((flow.latency or 0) >= 0 for flow in rest.flows)


def test_sequence_numbers_wrap() -> None:
    talk = Talk(sequences=[(1 << 32) - 100, (1 << 32) - 7])
    rest = imported(talk.open().rpcs(20).close().packets)
    assert (rest.answered, rest.losses) == (20, {})


def test_the_last_packet_of_a_side_may_have_data_and_its_end() -> None:
    talk = Talk().open().rpcs(2)
    talk.send(0, request(3), PUSH | ACK | FIN)
    talk.send(1, response(3), PUSH | ACK | FIN)
    talk.send(0, flags=ACK)
    rest = imported(talk.packets)
    assert (rest.answered, rest.losses, rest.problems) == (3, {}, [])


ENDS = {
    "closed": lambda talk: talk.close(),
    "reset by the node": lambda talk: talk.send(1, flags=RST | ACK),
    "reset by the client": lambda talk: talk.send(0, flags=RST | ACK),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=list(ENDS))
def test_no_response_is_said_where_none_came(end: Callable[[Talk], object]) -> None:
    """The node's bytes are in the file up to its end, and the response is not among them."""
    talk = Talk().open().rpcs(2)
    talk.write(0, request(3))
    talk.send(1, flags=ACK)
    end(talk)
    rest = imported(talk.packets)
    assert rest.outcomes == {Outcome.ANSWERED: 2, Outcome.LOST: 1}
    assert rest.losses == {}


def test_a_file_that_ends_does_not_tell_what_would_have_come() -> None:
    talk = Talk().open().rpcs(2)
    talk.write(0, request(3))
    rest = imported(talk.packets)
    assert rest.outcomes == {Outcome.ANSWERED: 2, Outcome.PENDING: 1}
    assert rest.problems == ["the response is not in the file: the file ends"]
    assert (rest.items["unknown"], rest.losses) == ("1 response not in the file", {})


REUSE = {
    "with a SYN": ([777_000, 888_000], True),
    "without, far ahead": ([777_777, 9001], False),
    "without, both elsewhere": ([3_000_000_000, 2_000_000_000], False),
    "without, both behind": ([1000 - 200_000_000, 9000 - 100_000_000], False),
}


@pytest.mark.parametrize(("sequences", "opened"), REUSE.values(), ids=list(REUSE))
def test_a_port_is_used_again(sequences: list[int], opened: bool) -> None:
    first = Talk().open().rpcs(5)
    second = Talk(sequences=[number % (1 << 32) for number in sequences], at=first.at + 50)
    if opened:
        second.open()
    rest = imported(first.packets + second.rpcs(5).close().packets)
    assert (rest.answered, rest.losses, rest.problems) == (10, {}, [])
    assert len({event.connection.number for event in rest.events}) == 2


def test_an_idle_connection_begins_with_a_keep_alive() -> None:
    talk = Talk().rpcs(3)
    number = pack(">I", 999)
    first = talk.packets[0].data
    head = tcp(40001, 9092, 999, 9000, ACK)
    alive = Sent(talk.packets[0].at, first[:2] + pack(">H", 40) + first[4:20] + head)
    assert number in alive.data
    rest = imported([alive, *talk.packets])
    assert (rest.answered, rest.losses) == (3, {})


OTHERS = {
    "HTTP": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", "not Kafka"),
    "SSH": (b"SSH-2.0-OpenSSH_9\r\n", b"SSH-2.0-OpenSSH_9\r\n", "not Kafka"),
    "TLS": (bytes.fromhex("16030100f5") + bytes(245), bytes.fromhex("160303007a"), "TLS"),
}


@pytest.mark.parametrize(("asked", "answer", "name"), OTHERS.values(), ids=list(OTHERS))
@pytest.mark.parametrize("opened", [True, False])
def test_what_is_not_kafka_is_named(asked: bytes, answer: bytes, name: str, opened: bool) -> None:
    talk = Talk().open().write(0, asked).write(1, answer).write(0, asked).close()
    rest = imported(talk.packets[0 if opened else 3 :])
    assert rest.flows == []
    assert rest.notices(NoticeKind.UNREADABLE)
    assert rest.items[name] == f"1 connection, {2 * len(asked) + len(answer)} bytes"
    assert rest.losses == {}


def test_hundreds_of_connections_are_told_apart() -> None:
    talks = [Talk(client=("10.9.0.1", 10_000 + number)).open().rpcs(1) for number in range(500)]
    turns = zip(*(talk.packets for talk in talks), strict=True)
    rest = imported([packet for turn in turns for packet in turn])
    assert (rest.answered, rest.losses) == (500, {})


def unacknowledged(sent: Sent) -> Sent:
    flags = bytes([sent.data[33] & ~ACK])
    return Sent(sent.at, sent.data[:28] + bytes(4) + sent.data[32:33] + flags + sent.data[34:])


def times(count: int) -> dict[str, int]:
    """Return the calls that captures of so many RPCs cost: whole, with gaps, and cut."""
    packets = base(count, size=40)
    to_node = pack(">H", NODE[1])
    files = {
        "whole": packets,
        "gap": packets[:23] + packets[24:],
        "gaps": [packet for place, packet in enumerate(packets) if place % 10],
        "cut": [packet.cut(96) for packet in packets],
        "no beginning": packets[4:],
        "requests": [packet for packet in packets if packet.data[22:24] == to_node],
        "not acknowledged": [*packets[:3], *map(unacknowledged, packets[6:])],
    }
    return {name: steps(lambda file=file: Imported(pcap(file))) for name, file in files.items()}  # type: ignore[misc]


def test_time_grows_with_the_file() -> None:
    times(10)
    few, many = times(75), times(300)
    assert {name: many[name] for name in many if many[name] > 5 * few[name]} == {}
