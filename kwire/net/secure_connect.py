"""Opens connections to a cluster's nodes, all with the same security."""

from __future__ import annotations

from ssl import SSLContext

from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.security import Security
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts


class SecureConnect:
    """Connects to nodes with TLS and SASL as `security` says. Raises BadTls for unusable files.

    timeouts: an opening may take the time of an operation, TCP and each answer their own.
    """

    def __init__(
        self,
        security: Security,
        client_id: str = "kwire",
        *,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
    ) -> None:
        self.security = security
        self.timeouts = timeouts
        self._client_id = client_id
        self._context: SSLContext | None = security.tls.context() if security.tls else None

    async def __call__(self, address: Address, within: float | None = None) -> Connection:
        """Open a connection; `within`: seconds for all of it.

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
            connect_timeout=self.timeouts.operation if within is None else within,
            setup_timeout=self.timeouts.connect_seconds,
            request_timeout=self.timeouts.request_seconds,
        )
