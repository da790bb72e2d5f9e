"""Opens the proxy's own connections to nodes, with the security of its configuration."""

from __future__ import annotations

from collections.abc import Callable
from ssl import SSLContext

from kwire.errors import ConnectionFailed
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.security import Security

CONNECT_TIMEOUT = 2.0
"""Seconds; a standing node must not use up the time in which a new leader is found."""


class NodeConnector:
    """Connects to nodes with the proxy's own security.

    read_security: reads it from its files, at the start and by `renew`. refusal: returns why the
    proxy must not connect to an address, "" if it may: the metadata log names leaders and brokers,
    and whoever is there gets what the proxy authenticates with. Raises BadTls, InvalidValue.
    """

    def __init__(
        self, read_security: Callable[[], Security], refusal: Callable[[Address], str]
    ) -> None:
        self._read_security = read_security
        self._refusal = refusal
        self._security, self._context = self._read()

    @property
    def with_sasl(self) -> bool:
        """True if connections authenticate by SASL, so that nodes want it of clients as well."""
        return self._security.sasl is not None

    async def __call__(self, address: Address, within: float = CONNECT_TIMEOUT) -> Connection:
        """Open a connection within so many seconds.

        Raises what `Connection.open` raises, and ConnectionFailed for an address not allowed.
        """
        if reason := self._refusal(address):
            raise ConnectionFailed(f"the proxy does not connect to a node at {address}: {reason}")
        tls = self._security.tls
        return await Connection.open(
            address.host,
            address.port,
            client_id="kwire-proxy",
            ssl=self._context,
            server_hostname=None if tls is None else tls.name,
            sasl=self._security.sasl,
            connect_timeout=within,
        )

    def renew(self) -> Callable[[], None]:
        """Read the files again for later connections; return a function that undoes it."""
        before = self._security, self._context
        self._security, self._context = self._read()

        def undo() -> None:
            self._security, self._context = before

        return undo

    def _read(self) -> tuple[Security, SSLContext | None]:
        security = self._read_security()
        return security, None if security.tls is None else security.tls.context()
