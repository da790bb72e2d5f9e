"""Whoever does not log in, or sends a byte now and then, is cut off in time."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from kwire.controller.server.client_session import LOGIN
from kwire.controller.server.frame_reader import PROGRESS, SLOWEST
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.net.connection import Connection
from kwire.net.frames import encode_request
from kwire.testing.quorum import Quorum
from tests.support.controller.sasl_listeners import ALICE, ALICE_PASSWORD, plain, sasl_listener
from tests.support.controller.server.echo_listener import (
    VERSIONS,
    EchoService,
    answered,
    echo_listener,
)
from tests.support.virtual_time import in_virtual_time

HANDSHAKE = encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 1, correlation_id=8)
TOKEN = encode_request(
    SaslAuthenticateRequest(auth_bytes=b"\0alice\0" + b"x" * 400), 2, correlation_id=9
)
IDLE = 600.0


async def lifetime(
    port: int, *, data: bytes = b"", drip: bytes = b"", every: float = 10.0
) -> float:
    """Send data, then a byte of `drip` now and then; return after how long the server closes."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)

    async def drop() -> None:
        for byte in drip:
            await asyncio.sleep(every)
            writer.write(bytes([byte]))

    dropping = asyncio.create_task(drop())
    try:
        async with asyncio.timeout(2 * IDLE):
            with suppress(ConnectionError):
                while await reader.read(65536):
                    pass
        return loop.time() - began
    finally:
        dropping.cancel()
        writer.transport.abort()


@pytest.mark.parametrize(
    ("data", "drip"),
    [
        pytest.param(b"", b"", id="never a byte"),
        pytest.param(VERSIONS, b"", id="ApiVersions only"),
        pytest.param(VERSIONS + HANDSHAKE, b"", id="no token"),
        pytest.param(HANDSHAKE, TOKEN, id="a token byte by byte"),
        pytest.param(b"", VERSIONS, id="ApiVersions byte by byte"),
        pytest.param(HANDSHAKE + b"\0\7\xff\xff" + b"x" * 500_000, b"x" * 9, id="half a token"),
    ],
)
@in_virtual_time
async def test_a_login_that_does_not_end_is_cut_off(data: bytes, drip: bytes) -> None:
    async with Quorum(1, properties=sasl_listener("PLAIN")) as quorum:
        await quorum.wait_for_leader()
        assert await lifetime(quorum.members[3000].port, data=data, drip=drip) == pytest.approx(
            LOGIN, abs=0.5
        )


@in_virtual_time
async def test_who_has_logged_in_may_be_idle_for_as_long_as_in_kafka() -> None:
    properties = sasl_listener("PLAIN") | {"connections.max.idle.ms": "600000"}
    async with Quorum(1, properties=properties) as quorum:
        await quorum.wait_for_leader()
        port = quorum.members[3000].port
        async with await Connection.open("127.0.0.1", port, sasl=plain()) as connection:
            await asyncio.sleep(IDLE - 10)
            await connection.send(ApiVersionsRequest(), 3)


@in_virtual_time
async def test_a_second_login_has_the_time_of_the_first() -> None:
    properties = sasl_listener("PLAIN") | {"connections.max.reauth.ms": "3600000"}
    whole = encode_request(
        SaslAuthenticateRequest(auth_bytes=f"\0{ALICE}\0{ALICE_PASSWORD}".encode()),
        2,
        correlation_id=9,
    )
    async with Quorum(1, properties=properties) as quorum:
        await quorum.wait_for_leader()
        loop, port = asyncio.get_running_loop(), quorum.members[3000].port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HANDSHAKE + whole)
        assert await answered(reader)
        assert await answered(reader)
        await asyncio.sleep(LOGIN + 10)
        began = loop.time()
        writer.write(HANDSHAKE)
        assert await answered(reader)
        assert await answered(reader) == b""
        assert loop.time() - began == pytest.approx(LOGIN, abs=0.5)
        writer.transport.abort()


@pytest.mark.parametrize("drip", [b"", VERSIONS], ids=["never a byte", "byte by byte"])
@in_virtual_time
async def test_where_nobody_logs_in_the_first_request_is_due(drip: bytes) -> None:
    async with echo_listener(EchoService()) as port:
        assert await lifetime(port, drip=drip) == pytest.approx(LOGIN, abs=0.1)


@in_virtual_time
async def test_a_frame_that_trickles_is_cut_off_though_bytes_come() -> None:
    """Before, each byte bought another 30 s: a frame of 100 MiB could hold its place for years."""
    large = (1 << 20).to_bytes(4, "big") + b"\0\x13\0\7" + bytes(60_000)
    async with echo_listener(EchoService()) as port:
        took = await lifetime(port, data=VERSIONS + VERSIONS[:9], drip=VERSIONS[9:-1])
        assert took == pytest.approx(PROGRESS, abs=0.5)
        took = await lifetime(port, data=VERSIONS + large, drip=bytes(100))
        assert took == pytest.approx(PROGRESS + (1 << 20) / SLOWEST, abs=0.5)
