"""The relay: it hands on what it is not told to break, and breaks what it is."""

import asyncio
from typing import Any

import pytest

from breaking import (
    Break,
    answers_end,
    answers_instead,
    changes,
    closes_on,
    gives_error,
    keeps_open,
    raw,
    reorders,
    repairs,
    rewrites,
    sets,
    silent_on,
    together,
)
from breaking.breaks import UNBROKEN
from breaking.relay import FrameCutter, Relay
from kwire.conform.connection import CheckedConnection
from kwire.conform.reaction import ConnectionState, Reaction
from kwire.conform.target import NO_VERSIONS
from kwire.conform.transcript import Transcript
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kwire.net.accepting import stop_accepting
from kwire.net.address import Address
from kwire.net.frames import RequestFrame
from scripted_node import HANG_UP, Raw, ScriptedNode
from tests.support.virtual_time import in_virtual_time


def node(answer: Any = None) -> ScriptedNode:
    """Return a node that answers ApiVersions with one API, or so."""
    api_keys = [ApiVersion(api_key=18, min_version=0, max_version=4)]

    def script(request: RequestFrame) -> ApiVersionsResponse | Raw:
        name = request.body.client_software_name  # type: ignore[attr-defined]
        if answer is not None:
            return answer  # type: ignore[no-any-return]
        return ApiVersionsResponse(api_keys=api_keys, error_code=0 if name == "good" else 42)

    return ScriptedNode({ApiVersionsRequest: script})


async def ask(broken: Break, answer: Any = None, name: str = "good") -> Reaction:
    """Return the reaction of a node behind a break to ApiVersions v3."""
    async with node(answer) as upstream, Relay(Address.parse(upstream.address), broken) as relay:
        connection = await connect(relay)
        try:
            request = ApiVersionsRequest(client_software_name=name, client_software_version="1")
            reaction = await connection.exchange(request, 3, patience=0.3)
            assert not relay.errors
            return reaction
        finally:
            await connection.close()


async def connect(relay: Relay) -> CheckedConnection:
    return await CheckedConnection.open(
        relay.address, versions=NO_VERSIONS, transcript=Transcript()
    )


def code(reaction: Reaction) -> int | None:
    body: Any = reaction.body
    return None if body is None else body.error_code


async def test_nothing_is_changed_unasked() -> None:
    reaction = await ask(UNBROKEN)
    assert (code(reaction), reaction.problem) == (0, "")
    assert (await ask(UNBROKEN, HANG_UP)).connection is ConnectionState.CLOSED


async def test_answers_are_changed() -> None:
    assert code(await ask(gives_error(ApiVersionsRequest, 42))) == 42
    assert code(await ask(gives_error(ApiVersionsRequest, 42, only_for=2))) == 0
    body: Any = (await ask(changes(None, sets("api_keys[*].max_version", 9)))).body
    assert body.api_keys[0].max_version == 9
    assert "left over" in (await ask(raw(None, lambda frame: frame + b"1"))).problem


async def test_requests_are_changed() -> None:
    good = repairs(ApiVersionsRequest, sets("client_software_name", "good"))
    assert code(await ask(UNBROKEN, name="bad")) == 42
    assert code(await ask(good, name="bad")) == 0
    good = rewrites(None, lambda frame: frame.replace(b"evil", b"good"))
    assert code(await ask(good, name="evil")) == 0


@in_virtual_time
async def test_requests_do_not_reach_the_server() -> None:
    assert (await ask(closes_on(None))).connection is ConnectionState.CLOSED
    assert (await ask(silent_on(None))).connection is ConnectionState.SILENT
    other = answers_instead(lambda request: b"\0\0\0\7")
    assert "correlation id 7" in (await ask(other)).problem


async def test_the_end_of_a_connection_is_hidden() -> None:
    assert (await ask(answers_end(), HANG_UP)).problem
    both = together(closes_on(None, only_for=0), gives_error(None, 42))
    assert code(await ask(both)) == 42


async def test_a_reset_with_bytes_unread_is_hidden() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.transport.abort()

    server = await asyncio.start_server(reset, "127.0.0.1", 0)
    upstream = Address("127.0.0.1", server.sockets[0].getsockname()[1])
    try:
        async with Relay(upstream, keeps_open()) as relay:
            reader, writer = await asyncio.open_connection("127.0.0.1", relay.address.port)
            # No size of a frame, so that the relay hands on what comes: also what comes when the
            # server has ended the connection.
            after_the_end = 0
            while after_the_end < 5:
                after_the_end += relay.applied
                writer.write(b"\xff" * 0xFFFF)
                await writer.drain()
                await asyncio.sleep(0.001)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await reader.read(1)
            writer.close()
    finally:
        await stop_accepting(server)


async def test_answers_change_places() -> None:
    async with node() as upstream, Relay(Address.parse(upstream.address), reorders()) as relay:
        connection = await connect(relay)
        request = ApiVersionsRequest(client_software_name="good", client_software_version="1")
        frames = [connection.frame(request, 3, correlation_id=number) for number in (1, 2)]
        await connection.send(b"".join(frames))
        answers = [await connection.receive() or b"" for _ in range(2)]
        assert [answer[:4].hex() for answer in answers] == ["00000002", "00000001"]
        await connection.close()


async def test_bytes_that_are_no_frames_are_handed_on() -> None:
    received = bytearray()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.extend(await reader.read())
        writer.close()

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    sent = b"\0\0\0\2ab\xff\xff\xff\xffGET /"
    async with Relay(Address("127.0.0.1", port)) as relay:
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.address.port)
        writer.write(sent)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
    await stop_accepting(listener)
    assert received == sent


def test_a_stream_is_cut_into_frames() -> None:
    cutter = FrameCutter()
    assert cutter.feed(b"\0\0\0\1a\0\0\0\2b") == [b"a"]
    assert (cutter.unframed(), cutter.feed(b"c")) == (b"", [b"bc"])
    assert (cutter.feed(b"\x7f\xff\xff\xffd"), cutter.unframed()) == ([], b"\x7f\xff\xff\xffd")
