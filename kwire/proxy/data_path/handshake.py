"""The TLS handshake of a client, after which its connection is relayed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ssl import SSLContext
from typing import cast

from kwire.net.address import Address
from kwire.net.tls import handshake_failure


class Handshake(asyncio.Protocol):
    """Takes a client's socket until TLS stands.

    timeout: seconds for it. then: makes the protocol that takes over, of the bytes that came with
    the end of the handshake. failed: takes the client, and what is wrong with it. ended: done when
    this has nothing to do any more.
    """

    def __init__(
        self,
        context: SSLContext,
        timeout: float,
        then: Callable[[bytes], asyncio.Protocol],
        failed: Callable[[Address, str], None],
    ) -> None:
        self._context = context
        self._timeout = timeout
        self._then = then
        self._failed = failed
        self._transport: asyncio.Transport | None = None
        self._early = bytearray()
        self._lost = False
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake; read nothing before TLS does."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.pause_reading()
        self._task = asyncio.get_running_loop().create_task(self._shake(self._transport))
        self._task.add_done_callback(lambda _: self.ended.set_result(None))

    def data_received(self, data: bytes) -> None:
        """Keep what came with the end of the handshake, before start_tls returned."""
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note that the client is gone."""
        self._lost = True

    def abort(self) -> None:
        """Close the socket; that is no failure of the client's."""
        self._failed = _nobody
        if self._transport is not None:
            self._transport.abort()

    async def _shake(self, transport: asyncio.Transport) -> None:
        host, port = (transport.get_extra_info("peername") or ("?", 0))[:2]
        try:
            # On a socket that nobody has read: asyncio's own TLS servers tell nobody of a
            # handshake that fails (decision 17).
            over_tls = await asyncio.get_running_loop().start_tls(
                transport,
                self,
                self._context,
                server_side=True,
                ssl_handshake_timeout=self._timeout,
            )
        except OSError as error:
            transport.abort()
            self._failed(Address(host, port), handshake_failure(error))
            return
        # The client left while its handshake was ending: there is no connection to relay.
        if over_tls is None or self._lost:
            return
        protocol = self._then(bytes(self._early))
        over_tls.set_protocol(protocol)
        protocol.connection_made(over_tls)


def _nobody(client: Address, reason: str) -> None:
    """Ignore the failure of a handshake that the proxy itself cut."""
