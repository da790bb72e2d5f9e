"""Opens connections to a cluster's nodes, all with the same security."""

from __future__ import annotations

from ssl import SSLContext

from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.security import Security

CONNECT_TIMEOUT = 2.0
"""Seconds; a standing node must not use up the time in which another one is found."""


class SecureConnect:
    """Connects to nodes with TLS and SASL as `security` says. Raises BadTls for unusable files."""

    def __init__(self, security: Security, client_id: str) -> None:
        self._security = security
        self._client_id = client_id
        self._context: SSLContext | None = security.tls.context() if security.tls else None

    async def __call__(self, address: Address) -> Connection:
        """Open a connection. Raises what `Connection.open` raises."""
        tls = self._security.tls
        return await Connection.open(
            address.host,
            address.port,
            client_id=self._client_id,
            ssl=self._context,
            server_hostname=tls.name if tls else None,
            sasl=self._security.sasl,
            connect_timeout=CONNECT_TIMEOUT,
        )
