"""The base of AdminClient: the bootstrap, the connections and the driver of its operations."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Self

from kwire.admin.bootstrap import Bootstrap
from kwire.admin.driver import Driver
from kwire.admin.routing import OperationRouter
from kwire.net.awaited import Awaited
from kwire.net.pool import ConnectionPool
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, Security
from kwire.net.timeouts import OPERATION, Timeouts


class ClusterClient:
    """A client of one cluster; connects when first asked, closed by `async with` or `close`.

    bootstrap_servers, bootstrap_controllers: `host:port,host:port` or a list of these; exactly one
    of the two, else InvalidValue. The choice says to which kind of node operations are sent.
    security: TLS and SASL towards every node.
    timeout: seconds an operation may take; its own `timeout` overrides it.
    request_timeout: seconds for one answer, by default half of the operation's. connect_timeout:
    seconds for a TCP connection, by default a sixth of `timeout`.
    read_only: refuse every operation that changes the cluster (ReadOnly), before it is sent.
    allow_unlisted: send controllers what they serve although KIP-919 does not list it.
    """

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str] | None = None,
        bootstrap_controllers: str | Iterable[str] | None = None,
        *,
        client_id: str = "kwire-admin",
        security: Security = PLAINTEXT,
        timeout: float = OPERATION,
        request_timeout: float | None = None,
        connect_timeout: float | None = None,
        read_only: bool = False,
        allow_unlisted: bool = False,
    ) -> None:
        bootstrap = Bootstrap.of(bootstrap_servers, bootstrap_controllers)
        timeouts = Timeouts(operation=timeout, connect=connect_timeout, request=request_timeout)
        connect = SecureConnect(security, client_id, timeouts=timeouts)
        self._connections = ConnectionPool(connect, connect_timeout=inf)
        self.driver = Driver(
            OperationRouter(bootstrap, self._connections, timeouts),
            self._connections,
            connect,
            read_only=read_only,
            allow_unlisted=allow_unlisted,
        )

    @property
    def awaited(self) -> Awaited:
        """The nodes that were asked and have not answered yet."""
        return self._connections.awaited

    async def close(self) -> None:
        """Close every connection."""
        await self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
