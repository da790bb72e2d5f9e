"""Frames: headers, sizes and the odd cases of ApiVersions and ControlledShutdown."""

import tracemalloc

import pytest

from kwire.errors import FrameError, UnsupportedVersion
from kwire.messages.a07_controlled_shutdown import ControlledShutdownRequest
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.frames import (
    FRAME_LIMIT,
    FrameSplitter,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    request_head,
    request_header_version,
    response_header_version,
)


def test_the_smallest_request_is_kafkas() -> None:
    # The bytes that Kafka's own readiness checks send: size 10, key 18, v0, id 1, null client.
    frame = encode_request(ApiVersionsRequest(), 0, correlation_id=1)
    assert frame.hex() == "0000000a001200000000" + "0001ffff"


def test_a_client_id_is_not_compact_in_a_flexible_header() -> None:
    frame = encode_request(VoteRequest(), 2, correlation_id=7, client_id="raft-client-1")
    assert frame[12:14] == b"\x00\x0d"
    assert frame[14:28] == b"raft-client-1\x00"


def test_a_request_comes_back_whole() -> None:
    sent = VoteRequest(cluster_id="abc", voter_id=2)
    read = decode_request(encode_request(sent, 2, correlation_id=7, client_id="c")[4:])
    assert (read.body, read.version, read.left_over) == (sent, 2, 0)
    assert (read.header.correlation_id, read.header.client_id) == (7, "c")


def test_bytes_behind_a_request_are_counted_as_kafka_ignores_them() -> None:
    frame = encode_request(VoteRequest(), 2, correlation_id=7) + b"12345"
    assert decode_request(frame[4:]).left_over == 5


def test_a_response_comes_back_whole() -> None:
    sent = VoteResponse(error_code=41)
    read = decode_response(encode_response(sent, 2, correlation_id=9)[4:], 52, 2)
    assert (read.body, read.version, read.header.correlation_id) == (sent, 2, 9)


@pytest.mark.parametrize(
    ("key", "version", "request_header", "response_header"),
    [(18, 0, 1, 0), (18, 4, 2, 0), (52, 0, 2, 1), (1, 11, 1, 0), (1, 12, 2, 1), (7, 0, 0, 0)],
)
def test_header_versions_follow_the_body(
    key: int, version: int, request_header: int, response_header: int
) -> None:
    assert request_header_version(key, version) == request_header
    assert response_header_version(key, version) == response_header


def test_controlled_shutdown_v0_carries_no_client_id() -> None:
    frame = encode_request(ControlledShutdownRequest(broker_id=1), 0, correlation_id=2)
    assert frame.hex() == "0000000c" + "0007" + "0000" + "00000002" + "00000001"


def test_api_versions_falls_back_to_v0_with_error_35() -> None:
    # What a 3.6.2 node answers to v4 (KIP-511): a v0 body.
    refusal = ApiVersionsResponse(
        error_code=35, api_keys=[ApiVersion(api_key=18, min_version=0, max_version=3)]
    )
    frame = encode_response(refusal, 0, correlation_id=1)
    read = decode_response(frame[4:], 18, 4)
    assert (read.version, read.body) == (0, refusal)


def test_an_unknown_api_still_has_a_head() -> None:
    frame = bytes.fromhex("270f 0003 0000002a")
    head = request_head(frame)
    assert (head.key, head.version, head.correlation_id) == (9999, 3, 42)
    with pytest.raises(UnsupportedVersion, match="no API has key 9999"):
        decode_request(frame)


def test_a_frame_shorter_than_its_head_is_an_error() -> None:
    with pytest.raises(FrameError, match="7 are here"):
        request_head(bytes(7))


@pytest.mark.parametrize("step", [1, 3, 7, 1000])
def test_a_stream_is_cut_into_frames_however_it_arrives(step: int) -> None:
    stream = b"".join(encode_request(ApiVersionsRequest(), 0, correlation_id=i) for i in range(20))
    frames: list[bytes] = []
    splitter = FrameSplitter()
    for start in range(0, len(stream), step):
        splitter.feed(stream[start : start + step], frames.append)
    assert [request_head(frame).correlation_id for frame in frames] == list(range(20))
    assert splitter.pending == 0


@pytest.mark.parametrize("in_pieces", [False, True])
@pytest.mark.parametrize("step", [1000, 65536, (1 << 20) + 3, 10 << 20])
def test_large_frames_are_cut_out_among_small_ones(step: int, in_pieces: bool) -> None:
    sizes = [1, 1 << 20, (1 << 20) + 1, 7, 3 << 20, 3 << 20, 1]
    sent = [bytes([number]) * size for number, size in enumerate(sizes)]
    stream = b"".join(len(frame).to_bytes(4, "big") + frame for frame in sent)
    frames: list[bytes] = []

    def join(pieces: list[bytes]) -> None:
        frames.append(b"".join(pieces))

    splitter = FrameSplitter(pieces=join if in_pieces else None)
    for start in range(0, len(stream), step):
        splitter.feed(stream[start : start + step], frames.append)
        taken = sum(4 + len(frame) for frame in frames)
        assert splitter.pending <= min(start + step, len(stream)) - taken
    assert frames == sent
    assert splitter.pending == 0


def test_a_large_frame_is_not_copied() -> None:
    """Copying 100 MiB holds everything else up for as long as thousands of small frames."""
    size = 32 << 20
    frames: list[bytes] = []
    splitter = FrameSplitter()
    chunk = bytes(1 << 16)
    tracemalloc.start()
    try:
        splitter.feed(size.to_bytes(4, "big"), frames.append)
        for _ in range(size // len(chunk)):
            splitter.feed(chunk, frames.append)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(frames[0]) == size
    assert most < 1.5 * size


def test_a_large_frame_comes_in_few_pieces_however_small_its_chunks_are() -> None:
    """A byte takes 40 bytes as an object: 100 MiB sent one by one would take 4 GiB."""
    size = 2 << 20
    frame = bytes(range(256)) * (size // 256)
    found: list[list[bytes]] = []
    splitter = FrameSplitter(pieces=found.append)
    splitter.feed(size.to_bytes(4, "big"), lambda _: pytest.fail("it is large"))
    for start in range(0, size, 100):
        splitter.feed(frame[start : start + 100], lambda _: pytest.fail("it is large"))
    assert splitter.pending == 0
    (pieces,) = found
    assert len(pieces) <= 3
    assert b"".join(pieces) == frame


@pytest.mark.parametrize("size", ["00000000", "ffffffff", "7fffffff", "06400001"])
def test_a_size_out_of_bounds_is_refused_at_once(size: str) -> None:
    with pytest.raises(FrameError, match=f"1 to {FRAME_LIMIT} allowed"):
        FrameSplitter().feed(bytes.fromhex(size), list[bytes]().append)
