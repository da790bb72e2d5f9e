"""Whatever stands in a file of packets: no error of Lua, no hang, and the next frame is read."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import pytest
from dpkt import pcapng
from dpkt.ip import IP, IP_PROTO_TCP
from dpkt.tcp import TCP, TH_ACK, TH_PUSH

from kwire.batches import Compression, Record, build_batch
from kwire.codec.declaration import Request
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener
from kwire.messages.registry import all_messages
from kwire.net.frames import encode_request, encode_response
from tests.support.dissector.packets import Exchange, fetched
from tests.support.dissector.tshark import Tshark
from tests.support.seed import SEED

CLIENT, NODE = 50000, 9093
MUTANTS = 100 * int(os.environ.get("KWIRE_MUTANTS", 6))

Segment = tuple[bool, bytes]
"""True for one of the client, and its bytes."""

VOTE = encode_request(VoteRequest(voter_id=3), 2, correlation_id=7, client_id="raft-1")
GRANTED = encode_response(VoteResponse(), 2, correlation_id=7)
ADD = encode_request(
    AddRaftVoterRequest(voter_id=3, listeners=[Listener(name="C", host="h", port=9093)]),
    1,
    correlation_id=8,
    client_id="admin",
)


def write_segments(path: Path, *connections: Sequence[Segment]) -> None:
    """Write TCP segments of connections, without their handshakes."""
    with path.open("wb") as file:
        writer = pcapng.Writer(file, snaplen=1 << 18, linktype=101)
        for client, segments in enumerate(connections, CLIENT):
            _write_connection(writer, client, segments)


def _write_connection(writer: pcapng.Writer, client: int, segments: Sequence[Segment]) -> None:
    sent = {True: 1000, False: 5000}
    for number, (is_client, data) in enumerate(segments):
        ports = (client, NODE) if is_client else (NODE, client)
        tcp = TCP(
            sport=ports[0],
            dport=ports[1],
            seq=sent[is_client],
            ack=sent[not is_client],
            flags=TH_ACK | TH_PUSH,
            win=65535,
            data=data,
        )
        packet = IP(src=b"\x7f\0\0\1", dst=b"\x7f\0\0\1", p=IP_PROTO_TCP, data=tcp)
        packet.len = len(packet)
        writer.writepkt_time(bytes(packet), 1.8e9 + client + number / 1000)
        sent[is_client] += len(data)


def lines(tshark: Tshark, path: Path, *arguments: str) -> list[list[str]]:
    """Return the Info column of Kafka's packets, by connection."""
    fields = ("-T", "fields", "-e", "tcp.stream", "-e", "_ws.col.Info", "-Y", "kwire")
    shown: dict[int, list[str]] = defaultdict(list)
    for line in tshark.run(path, *arguments, *fields).splitlines():
        stream, _, info = line.partition("\t")
        shown[int(stream)].append(info)
    return [shown[stream] for stream in sorted(shown)]


CONVERSATIONS: dict[str, tuple[list[Segment], list[str]]] = {
    "several frames in a segment": (
        [(True, VOTE + ADD)],
        ["Vote v2 request, AddRaftVoter v1 request"],
    ),
    "a frame in many segments": (
        [(True, VOTE[i : i + 3]) for i in range(0, len(VOTE), 3)],
        ["Vote v2 request"],
    ),
    "answers in another order": (
        [
            (True, VOTE),
            (True, encode_request(ApiVersionsRequest(), 3, correlation_id=9)),
            (False, encode_response(ApiVersionsResponse(), 3, correlation_id=9) + GRANTED),
        ],
        ["Vote v2 request", "ApiVersions v3 request", "ApiVersions v3 response, Vote v2 response"],
    ),
    "an ApiVersions of the future is answered in version 0": (
        [
            (True, b"\0\0\0\x0c\0\x12\0\x63\0\0\0\5\0\2ab"),
            (
                False,
                encode_response(ApiVersionsResponse(error_code=35), 0, correlation_id=5),
            ),
        ],
        ["ApiVersions v99 request", "ApiVersions v99 response: UNSUPPORTED_VERSION"],
    ),
    "an unknown API": (
        [(True, b"\0\0\0\x0e\x01\xf4\0\0\0\0\0\5\0\2abZZ")],
        ["API 500 v0 request"],
    ),
    "a response alone": ([(False, GRANTED)], ["response"]),
    "the middle of a frame, then a whole one": (
        [(True, b"\x55" * 50), (True, VOTE)],
        ["no frame", "Vote v2 request"],
    ),
    "a claim of 100 MB": (
        [(True, b"\x06\0\0\0" + VOTE[4:]), (True, VOTE)],
        ["no frame", "Vote v2 request"],
    ),
    "a claim of 2 GB": ([(True, b"\x7f\xff\xff\xff" + VOTE[4:]), (True, VOTE)],
        ["no frame", "Vote v2 request"]),
    "a negative size": ([(True, b"\xff\xff\xff\xff" + VOTE[4:]), (True, ADD)],
        ["no frame", "AddRaftVoter v1 request"]),
    "an HTTP request": ([(True, b"GET / HTTP/1.1\r\n\r\n")], ["no frame"]),
    "an array of two billion elements": (
        [(True, bytes([0, 0, 0, VOTE[3] + 4]) + VOTE[4:-2] + b"\xff\xff\xff\xff\x07\0")],
        ["Vote v2 request (malformed)"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("passes", [(), ("-2",)], ids=["one pass", "two passes"])
def test_frames_are_found(tshark: Tshark, tmp_path: Path, passes: tuple[str, ...]) -> None:
    path = tmp_path / "segments.pcapng"
    write_segments(path, *(segments for segments, _ in CONVERSATIONS.values()))
    shown = dict(zip(CONVERSATIONS, lines(tshark, path, *passes), strict=True))
    assert shown == {name: wanted for name, (_, wanted) in CONVERSATIONS.items()}


def test_a_retransmission_is_read_once(tshark: Tshark, tmp_path: Path) -> None:
    path = tmp_path / "segments.pcapng"
    write_segments(path, [(True, VOTE), (False, GRANTED)])
    packets = [packet for _, packet in pcapng.Reader(BytesIO(path.read_bytes()))]
    with path.open("wb") as file:
        writer = pcapng.Writer(file, snaplen=1 << 18, linktype=101)
        for number, packet in enumerate([packets[0], packets[0], packets[1], packets[1]]):
            writer.writepkt_time(packet, 1.8e9 + number / 1000)
    (shown,) = lines(tshark, path)
    assert [line for line in shown if "Retransmission" not in line] == [
        "Vote v2 request",
        "Vote v2 response",
    ]


def mutants(generator: random.Random, frame: bytes, count: int) -> Iterator[bytes]:
    """Yield frames with changed, cut or added bytes and a size that fits again."""
    for _ in range(count):
        body = bytearray(frame[4:])
        for _ in range(generator.randint(1, 4)):
            place = generator.randrange(8, max(9, len(body)))
            match generator.randrange(3):
                case 0 if place < len(body):
                    body[place] = generator.choice(
                        (0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256))
                    )
                case 1:
                    del body[place:]
                case _:
                    body[place:place] = generator.randbytes(generator.randint(1, 5))
        yield len(body).to_bytes(4, "big") + body


def fuzzed(generator: random.Random) -> Iterator[Segment]:
    """Yield mutants of every request and of responses with records."""
    requests = [cls for cls in all_messages() if issubclass(cls, Request) and cls.versions]
    for _ in range(MUTANTS // 2):
        cls = generator.choice(requests)
        frame = encode_request(cls(), cls.versions.last, correlation_id=3, client_id="c")
        yield from ((True, mutant) for mutant in mutants(generator, frame, 1))
    codecs = [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4]
    values = [Record(key=b"k", value=b"\x01\x1b\0" + bytes(20)) for _ in range(5)]
    for number in range(MUTANTS // 2):
        topic = generator.choice(("orders", "__cluster_metadata", "__consumer_offsets"))
        batch = build_batch(values, compression=generator.choice(codecs))
        exchange: Exchange = fetched(topic, batch)
        for is_client, data in (
            (True, exchange.request_frame(number)),
            (False, exchange.response_frame(number)),
        ):
            frame = len(data).to_bytes(4, "big") + data
            yield is_client, frame if is_client else next(mutants(generator, frame, 1))


def test_mutants_neither_stop_nor_break_the_dissector(tshark: Tshark, tmp_path: Path) -> None:
    path = tmp_path / "mutants.pcapng"
    write_segments(path, list(fuzzed(random.Random(SEED))))
    tree = tshark.run(path, "-V")
    assert tree.count("\nApache Kafka (kwire), ") > MUTANTS, f"seed {SEED}"
