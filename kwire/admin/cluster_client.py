"""The base of AdminClient and of its themes: the bootstrap, the connections and the driver.

Each theme is a client of its own: a command that only lists groups opens `Groups`, and loads no
message of any other theme.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from kwire.admin.bootstrap import Bootstrap
from kwire.admin.driver import Driver
from kwire.admin.routing import OperationRouter
from kwire.errors import ConnectionFailed
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.pool import ConnectionPool
from kwire.net.secure_connect import CONNECT_TIMEOUT as CONNECT_TIMEOUT
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, Security

if TYPE_CHECKING:
    from kwire.image import MetadataImage

TIMEOUT = 10.0
"""Seconds an operation may take, all attempts together. Java's default is 60."""

REQUEST_TIMEOUT = 5.0


class ClusterClient:
    """A client of one cluster; connects when first asked, closed by `async with` or `close`.

    bootstrap_servers, bootstrap_controllers: `host:port,host:port` or a list of these; exactly one
    of the two, else InvalidValue. The choice says to which kind of node operations are sent.
    security: TLS and SASL towards every node.
    timeout: seconds an operation may take; its own `timeout` overrides it.
    request_timeout, connect_timeout: seconds for one attempt at one node.
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
        timeout: float = TIMEOUT,
        request_timeout: float = REQUEST_TIMEOUT,
        connect_timeout: float = CONNECT_TIMEOUT,
        read_only: bool = False,
        allow_unlisted: bool = False,
    ) -> None:
        bootstrap = Bootstrap.of(bootstrap_servers, bootstrap_controllers)
        self._connect = SecureConnect(security, client_id, request_timeout=request_timeout)
        self._connections = ConnectionPool(self._connect, connect_timeout=connect_timeout)
        router = OperationRouter(
            bootstrap, self._connections, timeout=timeout, request_timeout=request_timeout
        )
        self._driver = Driver(
            router,
            self._connections,
            request_timeout=request_timeout,
            read_only=read_only,
            allow_unlisted=allow_unlisted,
        )

    async def _observe(self, timeout: float | None) -> MetadataImage:
        """Return the cluster's metadata, read from the controllers' log as an observer.

        Raises ConnectionFailed if no controller gives it in time, BrokerError if they refuse.
        """
        from kwire.observer import LiveImage  # only where there are no brokers to ask

        deadline = self._driver.deadline(timeout)
        cluster = await self._driver.router.cluster(deadline)

        async def open_connection(address: Address) -> Connection:
            return await self._connect(address, min(CONNECT_TIMEOUT, deadline.remaining))

        controllers = [node.address for node in cluster.nodes.values()]
        live = LiveImage(controllers, cluster_id=cluster.cluster_id, open=open_connection)
        async with live:
            try:
                async with asyncio.timeout(deadline.remaining):
                    return await live.ready()
            except TimeoutError:
                reason = live.trouble or "no controller leads"
                raise ConnectionFailed(
                    f"the metadata log cannot be read ({reason}): see kwire quorum check"
                ) from None

    async def close(self) -> None:
        """Close every connection."""
        await self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
