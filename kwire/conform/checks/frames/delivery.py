"""Delivery of frames: in pieces, several at once, in order, to the end of the connection."""

from __future__ import annotations

import asyncio

from kwire.conform.bad_bytes import API_VERSIONS, good_frame, others_served
from kwire.conform.check import CheckSection
from kwire.conform.expectation import answers, expect, expect_equal, judge
from kwire.conform.reaction import ConnectionState
from kwire.conform.safe_requests import first_request
from kwire.conform.server import Server
from kwire.conform.vocabulary import ConformanceVerdict, Deviation, Need, ServerRole, guide
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchTopic
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.registry import api_key
from kwire.net.negotiation import api_versions_request

SECTION = CheckSection(
    "frames/delivery", "Delivery of frames: in pieces, several at once, in order"
)

_NETWORK = guide("Network")
_PIPELINED = 20
_CONNECTIONS = 32
_FETCH_WAIT = 300
"""Milliseconds that a Fetch without records is held back."""


async def _ids(server: Server, count: int) -> list[int]:
    """Return the correlation ids of the next answers."""
    connection = await server.connection()
    frames = [await connection.receive() or b"" for _ in range(count)]
    return [int.from_bytes(frame[:4], "big") for frame in frames]


@SECTION.check(1, _NETWORK)
async def _(server: Server) -> None:
    """A request that comes byte by byte is answered."""
    connection = await server.connection()
    for byte in good_frame():
        await connection.send(bytes([byte]))
        await asyncio.sleep(0.002)  # else the kernel sends several at once
    judge(await connection.reaction(API_VERSIONS, 0, 1), answers(ErrorCode.NONE))


@SECTION.check(2, _NETWORK)
async def _(server: Server) -> None:
    """Two requests that come in one segment are both answered, in order."""
    await (await server.connection()).send(good_frame(1) + good_frame(2))
    expect_equal("correlation ids", await _ids(server, 2), [1, 2])


@SECTION.check(3, _NETWORK)
async def _(server: Server) -> None:
    """A request and the beginning of the next in one segment are told apart."""
    connection = await server.connection()
    second = good_frame(2)
    await connection.send(good_frame(1) + second[:6])
    expect_equal("correlation ids", await _ids(server, 1), [1])
    await connection.send(second[6:])
    expect_equal("correlation ids", await _ids(server, 1), [2])


@SECTION.check(4, _NETWORK)
async def _(server: Server) -> None:
    """Requests that do not wait for answers are answered in their order."""
    connection = await server.connection()
    other, version = first_request(server.target.versions)
    frames = [
        connection.frame(other, version, correlation_id=number)
        if number % 2
        else good_frame(number)
        for number in range(_PIPELINED)
    ]
    await connection.send(b"".join(frames))
    ids = await _ids(server, _PIPELINED)
    expect(ids == list(range(_PIPELINED)), "answers in order", ids)


@SECTION.check(5, _NETWORK, role=ServerRole.BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A quick request behind a Fetch that waits is answered behind it."""
    name = await server.topic()
    connection = await server.leader(name)
    topics = [MetadataRequestTopic(name=name)]
    answer = await connection.ask(MetadataRequest(topics=topics))
    partition = FetchPartition(partition=0, partition_max_bytes=1 << 20)
    fetch = FetchRequest(max_wait_ms=_FETCH_WAIT, min_bytes=1, topics=[])
    version = connection.version_for(fetch)
    named = {"topic_id": answer.topics[0].topic_id} if version >= 13 else {"topic": name}
    fetch.topics = [FetchTopic(partitions=[partition], **named)]
    await connection.send(connection.frame(fetch, version, correlation_id=1) + good_frame(2))
    judge(await connection.reaction(api_key("Fetch"), version, 1), answers(ErrorCode.NONE))
    judge(await connection.reaction(API_VERSIONS, 0, 2), answers(ErrorCode.NONE))


@SECTION.check(6, _NETWORK)
async def _(server: Server) -> None:
    """A client that stops sending still gets its answers, or is disconnected."""
    connection = await server.connection()
    server.allowed_ends = frozenset(ConnectionState)
    await connection.send(good_frame())
    connection.end_sending()
    first = await connection.reaction(API_VERSIONS, 0, 1)
    if first.frame is not None:
        judge(first, answers(ErrorCode.NONE))
        await connection.receive()
    if not connection.state.ended:
        raise Deviation("the connection ended", "open", ConformanceVerdict.DIFFERS)


@SECTION.check(7, _NETWORK)
async def _(server: Server) -> None:
    """Many connections at once are all served."""

    async def ask() -> None:
        connection = await server.new_connection()
        await connection.ask(api_versions_request(), 0)

    await asyncio.gather(*(ask() for _ in range(_CONNECTIONS)))


@SECTION.check(8, _NETWORK)
async def _(server: Server) -> None:
    """A connection that is cut within a request harms no other."""
    for _ in range(5):
        connection = await server.new_connection()
        await connection.send(good_frame()[:7])
        await connection.close()
    await others_served(server)
    await server.ask(api_versions_request(), 0)
