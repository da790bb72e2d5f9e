"""TLS between virtual processes: it carries data, it fails as real TLS does, it takes no luck."""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from virtual_nodes.certificates import authority, trusting
from virtual_nodes.virtual_network import NetworkLoop, VirtualNetwork

PORT = 1000
HANDSHAKE = 5.0


def server_context() -> ssl.SSLContext:
    key, certificate = authority("one").keystore("server", 1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(key + certificate)
        file.flush()
        context.load_cert_chain(file.name)
    return context


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
    writer.close()


def run(scenario: Callable[[NetworkLoop], Awaitable[object]], seed: int = 1) -> NetworkLoop:
    """Run a coroutine in a world with a server that echoes over TLS."""
    loop = NetworkLoop(Random(seed), 0.0, VirtualNetwork(Random(seed)))

    async def main() -> None:
        serving = asyncio.start_server(
            echo, "127.0.0.1", PORT, ssl=server_context(), ssl_handshake_timeout=HANDSHAKE
        )
        await loop.run_in("server", serving)
        await scenario(loop)
        await asyncio.sleep(1)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main())
    return loop


async def echoed(loop: NetworkLoop, data: bytes) -> bytes:
    trusted = trusting(authority("one"))
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT, ssl=trusted)
    writer.write(data)
    answer = await reader.readexactly(len(data))
    writer.close()
    await writer.wait_closed()
    return answer


def test_data_larger_than_every_buffer_comes_back() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        data = Random(1).randbytes(1_000_000)
        assert await echoed(loop, data) == data

    run(scenario)


def test_time_does_not_depend_on_openssls_random_bytes() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        for size in range(1, 40_000, 1000):
            await echoed(loop, bytes(size))

    assert len({run(scenario).now for _ in range(5)}) == 1
    assert run(scenario, seed=2).now != run(scenario, seed=1).now


def test_a_certificate_of_an_unknown_authority_is_refused() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        unknown = trusting(authority("another"))
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.open_connection("127.0.0.1", PORT, ssl=unknown)

    run(scenario)


@pytest.mark.parametrize("begin", [b"", b"\x16\x03\x01"], ids=["nothing", "half a record"])
def test_a_handshake_that_stops_is_given_up(begin: bytes) -> None:
    async def scenario(loop: NetworkLoop) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        writer.write(begin)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        assert loop.now == pytest.approx(HANDSHAKE, abs=0.1)
        writer.close()

    run(scenario)


def test_plain_text_is_no_handshake() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            await reader.read()
        assert loop.now < 0.1
        writer.close()

    run(scenario)


def test_a_peer_that_sends_no_more_in_the_middle_of_a_handshake_is_cut_off() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        writer.write(b"\x16\x03\x01")
        writer.write_eof()
        with pytest.raises(ConnectionResetError):
            await reader.read()
        assert loop.now < 0.1
        writer.close()

    run(scenario)
