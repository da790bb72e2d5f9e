"""TLS of a listener: what it takes, what it refuses, and that it ends what it does not understand.

Kafka leaves the protocol to the RFCs; its versions are those of ssl.enabled.protocols (KIP-573).
"""

from __future__ import annotations

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.checks.security.tls_session import client_hello, open_session
from kwire.conform.expectation import expect, expect_equal
from kwire.conform.needs import Need
from kwire.conform.server import Server
from kwire.conform.source import SentenceSource, kafka, kip
from kwire.conform.verdict import Deviation, Skipped
from kwire.net.negotiation import api_versions_request

_OLD = SentenceSource("RFC 8996", "Deprecating TLS 1.0 and TLS 1.1")
_TLS = SentenceSource("RFC 8446", "5. Record Protocol")
_FAREWELL = SentenceSource("RFC 8446", "6.1. Closure Alerts")
_ALERT, _HANDSHAKE = b"\x15", b"\x16"
TLS_10, TLS_11, TLS_12 = b"\x03\x01", b"\x03\x02", b"\x03\x03"
HTTP = b"GET / HTTP/1.1\r\nHost: kwire-conform\r\n\r\n"


async def _expect_refused(server: Server, data: bytes, expected: str) -> None:
    """Send bytes in place of a handshake; demand an alert, an end, or both, and nothing else."""
    connection = await server.plain_connection()
    await connection.send(data)
    first = await connection.receive_bytes()
    if first is None:
        expect(connection.state.ended, expected, f"the connection is {connection.state.value}")
        return
    if not first.startswith(_ALERT):
        came = "a handshake" if first.startswith(_HANDSHAKE) else f"{len(first)} bytes"
        raise Deviation(expected, came)
    while await connection.receive_bytes() is not None:
        pass
    expect(connection.state.ended, "an end behind the alert", connection.state.value)


@scenario(
    "A request without TLS is not answered at a port with TLS.",
    kafka("SslTransportLayer.handshake"),
    needs=Need.TLS,
)
async def _plain(server: Server) -> None:
    connection = await server.plain_connection()
    data = connection.frame(api_versions_request(), 0)
    await _expect_refused(server, data, "an alert or an end")


def _old(name: str, version: bytes) -> Check:
    @scenario(f"{name} is refused.", _OLD, needs=Need.TLS)
    async def run(server: Server) -> None:
        await _expect_refused(server, client_hello(version), "an alert or an end")

    return run


@scenario("TLS 1.2 or 1.3 is spoken.", kip(573), needs=Need.TLS)
async def _modern(server: Server) -> None:
    session = await open_session(server)
    expect_equal("version", await session.handshake(), "TLSv1.2", "TLSv1.3")


@scenario("A request in many records is answered.", _TLS, needs=Need.TLS)
async def _many_records(server: Server) -> None:
    session = await open_session(server)
    await session.handshake()
    await session.connection.send(session.write_versions_request(record=1))
    expect(await session.answered(), "an answer", "an end")


@scenario("The client's close_notify ends the connection.", _FAREWELL, needs=Need.TLS)
async def _farewell(server: Server) -> None:
    session = await open_session(server)
    await session.handshake()
    await session.connection.send(session.write_farewell())
    await session.expect_ended()


@scenario("A record that was altered on its way ends the connection.", _TLS, needs=Need.TLS)
async def _altered(server: Server) -> None:
    session = await open_session(server)
    await session.handshake()
    record = bytearray(session.write_versions_request())
    record[-1] ^= 1
    await session.connection.send(bytes(record))
    await session.expect_ended()


@scenario("A record that is larger than the limit ends the connection.", _TLS, needs=Need.TLS)
async def _too_large(server: Server) -> None:
    session = await open_session(server)
    await session.handshake()
    await session.connection.send(b"\x17\x03\x03\xff\xff" + bytes(0xFFFF))
    await session.expect_ended()


@scenario(
    "A client without the certificate that is asked for is disconnected.",
    kafka("ssl.client.auth"),
    needs=Need.TLS,
)
async def _without_certificate(server: Server) -> None:
    session = await open_session(server, with_certificate=False)
    try:
        await session.handshake()
    except Deviation:  # TLS 1.2 says so within the handshake, 1.3 behind it
        await session.expect_ended()
        return
    await session.connection.send(session.write_versions_request())
    if await session.answered():
        raise Skipped("the listener asks for no certificate")


@scenario("HTTP in place of a handshake ends the connection.", _TLS, needs=Need.TLS)
async def _http(server: Server) -> None:
    await _expect_refused(server, HTTP, "an alert or an end")


SECTION = CheckSection(
    "security/tls",
    "TLS",
    {
        1: _plain,
        2: _old("TLS 1.0", TLS_10),
        3: _old("TLS 1.1", TLS_11),
        4: _modern,
        5: _many_records,
        6: _farewell,
        7: _altered,
        8: _too_large,
        9: _without_certificate,
        10: _http,
    },
)
