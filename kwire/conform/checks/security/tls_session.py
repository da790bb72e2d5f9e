"""TLS over a connection whose bytes can be seen and altered between the library and the wire."""

from __future__ import annotations

import ssl
from contextlib import suppress
from dataclasses import replace

from kwire.conform.connection import CheckedConnection
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation
from kwire.net.negotiation import api_versions_request
from kwire.net.tls import ClientTls


class TlsSession:
    """A client's end of TLS. Made by `open_session`, which leaves the handshake to the check."""

    def __init__(self, connection: CheckedConnection, tls: ClientTls, host: str) -> None:
        self.connection = connection
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = tls.context().wrap_bio(
            self._incoming, self._outgoing, server_hostname=tls.name or host
        )

    async def handshake(self) -> str:
        """Carry out the handshake; return the version of TLS. Raises Deviation."""
        while True:
            try:
                self._object.do_handshake()
            except ssl.SSLWantReadError:
                await self.flush()
                await self._take("a handshake of TLS")
            except ssl.SSLError as error:
                raise Deviation("a handshake of TLS", error.reason or str(error)) from None
            else:
                await self.flush()
                return self._object.version() or ""

    def write(self, data: bytes) -> bytes:
        """Return data as records that are not sent yet."""
        self._object.write(data)
        return self._outgoing.read()

    def write_versions_request(self, record: int | None = None) -> bytes:
        """Return an ApiVersions request as records. record: bytes in each; None for one record."""
        frame = self.connection.frame(api_versions_request(), 0)
        step = record or len(frame)
        return b"".join(self.write(frame[i : i + step]) for i in range(0, len(frame), step))

    def write_farewell(self) -> bytes:
        """Return the alert close_notify."""
        with suppress(ssl.SSLWantReadError):  # the server's own, which is not waited for
            self._object.unwrap()
        return self._outgoing.read()

    async def flush(self) -> None:
        """Send what the library has to send."""
        if data := self._outgoing.read():
            await self.connection.send(data)

    async def answered(self) -> bool:
        """True if data comes, False if the server ends the connection. Deviation for silence."""
        while True:
            try:
                return bool(self._object.read(1))
            except ssl.SSLWantReadError:
                data = await self.connection.receive_bytes()
                if data is None and self.connection.state.ended:
                    return False
                if data is None:
                    raise Deviation("an answer or an end", "silence") from None
                self._incoming.write(data)
            except ssl.SSLError:
                await self.expect_ended()
                return False

    async def expect_ended(self) -> None:
        """Demand that the server ends the connection, whatever it says before."""
        while await self.connection.receive_bytes() is not None:
            pass
        if not self.connection.state.ended:
            raise Deviation("the connection ended", f"it is {self.connection.state.value}")

    async def _take(self, expected: str) -> None:
        data = await self.connection.receive_bytes()
        if data is None:
            raise Deviation(expected, f"the connection is {self.connection.state.value}")
        self._incoming.write(data)


async def open_session(server: Server, *, with_certificate: bool = True) -> TlsSession:
    """Connect, and prepare TLS as the user's properties have it."""
    tls = server.target.security.tls
    assert tls is not None, "the check needs TLS"
    if not with_certificate:
        tls = replace(tls, certificate=None, key=None, keystore=None)
    return TlsSession(await server.plain_connection(), tls, server.target.address.host)


def client_hello(version: bytes) -> bytes:
    """Return the first message of a client that speaks one version of TLS, from 1.0 to 1.2.

    It is written by hand: today's libraries refuse to speak the old ones.
    """
    suites = bytes.fromhex("c02bc02fc00ac014c009c0130035002f")
    groups = bytes.fromhex("000a0008000600170018001d000b00020100")
    signatures = bytes.fromhex("000d000e000c040305030401050108040201")
    extensions = groups + signatures
    body = version + bytes(range(32)) + b"\0" + _sized(suites) + b"\x01\0" + _sized(extensions)
    message = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + _sized(message)


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data
