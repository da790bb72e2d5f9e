"""Opens connections to a cluster's nodes, all with the same security."""

from __future__ import annotations

from ssl import SSLContext

from kwire.net.address import Address
from kwire.net.connection import REQUEST_TIMEOUT, Connection
from kwire.net.security import Security

CONNECT_TIMEOUT = 2.0
"""Seconds; a standing node must not use up the time in which another one is found."""


class SecureConnect:
    """Connects to nodes with TLS and SASL as `security` says. Raises BadTls for unusable files.

    connect_timeout: seconds for TCP, TLS and login together. request_timeout: seconds for each
    answer.
    """

    def __init__(
        self,
        security: Security,
        client_id: str = "kwire",
        *,
        connect_timeout: float = CONNECT_TIMEOUT,
        request_timeout: float = REQUEST_TIMEOUT,
    ) -> None:
        self.security = security
        self.connect_timeout = connect_timeout
        self.request_timeout = request_timeout
        self._client_id = client_id
        self._context: SSLContext | None = security.tls.context() if security.tls else None

    async def __call__(self, address: Address, within: float | None = None) -> Connection:
        """Open a connection; `within`: seconds instead of connect_timeout.

        Raises what `Connection.open` raises.
        """
        tls = self.security.tls
        return await Connection.open(
            address.host,
            address.port,
            client_id=self._client_id,
            ssl=self._context,
            server_hostname=tls.name if tls else None,
            sasl=self.security.sasl,
            connect_timeout=self.connect_timeout if within is None else within,
            request_timeout=self.request_timeout,
        )
