"""TLS of a listener: what it takes, what it refuses, and that it ends what it does not understand.

Kafka leaves the protocol to the RFCs; its versions are those of ssl.enabled.protocols (KIP-573).
"""

from __future__ import annotations

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.checks.security.tls_session import client_hello, open_session
from kwire.conform.expectation import expect, expect_equal
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, Need, Skipped, documentation, kafka, rfc
from kwire.net.negotiation import api_versions_request

SECTION = CheckSection("security/tls", "TLS")

_OLD = rfc(8996, "Deprecating TLS 1.0 and TLS 1.1")
_TLS = rfc(8446, "5. Record Protocol")
_FAREWELL = rfc(8446, "6.1. Closure Alerts")
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


@SECTION.check(1, kafka("SslTransportLayer.handshake"), needs=Need.TLS)
async def _(server: Server) -> None:
    """A request without TLS is not answered at a port with TLS."""
    connection = await server.plain_connection()
    data = connection.frame(api_versions_request(), 0)
    await _expect_refused(server, data, "an alert or an end")


def _old(name: str, version: bytes) -> Check:
    @scenario(f"{name} is refused.", _OLD, needs=Need.TLS)
    async def run(server: Server) -> None:
        await _expect_refused(server, client_hello(version), "an alert or an end")

    return run


SECTION[2] = _old("TLS 1.0", TLS_10)
SECTION[3] = _old("TLS 1.1", TLS_11)


@SECTION.check(4, documentation("ssl.enabled.protocols"), needs=Need.TLS)
async def _(server: Server) -> None:
    """TLS 1.2 or 1.3 is spoken."""
    session = await open_session(server)
    expect_equal("version", await session.handshake(), "TLSv1.2", "TLSv1.3")


@SECTION.check(5, _TLS, needs=Need.TLS)
async def _(server: Server) -> None:
    """A request in many records is answered."""
    session = await open_session(server)
    await session.handshake()
    await session.connection.send(session.write_versions_request(record=1))
    expect(await session.answered(), "an answer", "an end")


@SECTION.check(6, _FAREWELL, needs=Need.TLS)
async def _(server: Server) -> None:
    """The client's close_notify ends the connection."""
    session = await open_session(server)
    await session.handshake()
    await session.connection.send(session.write_farewell())
    await session.expect_ended()


@SECTION.check(7, _TLS, needs=Need.TLS)
async def _(server: Server) -> None:
    """A record that was altered on its way ends the connection."""
    session = await open_session(server)
    await session.handshake()
    record = bytearray(session.write_versions_request())
    record[-1] ^= 1
    await session.connection.send(bytes(record))
    await session.expect_ended()


@SECTION.check(8, _TLS, needs=Need.TLS)
async def _(server: Server) -> None:
    """A record that is larger than the limit ends the connection."""
    session = await open_session(server)
    await session.handshake()
    await session.connection.send(b"\x17\x03\x03\xff\xff" + bytes(0xFFFF))
    await session.expect_ended()


@SECTION.check(9, documentation("ssl.client.auth"), needs=Need.TLS)
async def _(server: Server) -> None:
    """A client without the certificate that is asked for is disconnected."""
    session = await open_session(server, with_certificate=False)
    try:
        await session.handshake()
    except Deviation:  # TLS 1.2 says so within the handshake, 1.3 behind it
        await session.expect_ended()
        return
    await session.connection.send(session.write_versions_request())
    if await session.answered():
        raise Skipped("the listener asks for no certificate")


@SECTION.check(10, _TLS, needs=Need.TLS)
async def _(server: Server) -> None:
    """HTTP in place of a handshake ends the connection."""
    await _expect_refused(server, HTTP, "an alert or an end")
