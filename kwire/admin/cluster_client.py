"""The base of AdminClient and of its themes: the bootstrap, the connections and the driver.

Each theme is a client of its own: a command that only lists groups opens `Groups`, and loads no
message of any other theme.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Self

from kwire.admin.bootstrap import Bootstrap
from kwire.admin.deadline import Deadline
from kwire.admin.driver import Driver
from kwire.admin.routing import OperationRouter
from kwire.errors import ConnectionFailed
from kwire.net.address import Address
from kwire.net.awaited import METADATA_LOG, Awaited
from kwire.net.connection import Connection
from kwire.net.pool import ConnectionPool
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, Security
from kwire.net.timeouts import OPERATION, Timeouts

if TYPE_CHECKING:
    from kwire.image import MetadataImage
    from kwire.observer import LiveImage


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
        self._connect = SecureConnect(security, client_id, timeouts=timeouts)
        self._connections = ConnectionPool(self._connect, connect_timeout=inf)
        self._driver = Driver(
            OperationRouter(bootstrap, self._connections, timeouts),
            self._connections,
            read_only=read_only,
            allow_unlisted=allow_unlisted,
        )

    @property
    def awaited(self) -> Awaited:
        """The nodes that were asked and have not answered yet."""
        return self._connections.awaited

    async def _observe(self, timeout: float | None) -> MetadataImage:
        """Return the cluster's metadata, read from the controllers' log as an observer.

        Raises ConnectionFailed if no controller gives it in time, BrokerError if they refuse.
        """
        from kwire.observer import LiveImage  # only where there are no brokers to ask

        deadline = self._driver.deadline(timeout)
        cluster = await self._driver.router.cluster(deadline)

        async def open_connection(address: Address) -> Connection:
            return await self._connect(address, deadline.attempt)

        # The one that leads comes first: another may be silent.
        nodes = sorted(cluster.nodes.values(), key=lambda node: node != cluster.controller)
        live = LiveImage(
            [node.address for node in nodes],
            cluster_id=cluster.cluster_id,
            open=open_connection,
            patience=self._connect.timeouts.request_seconds,
        )
        with self.awaited.asking(METADATA_LOG):
            return await self._read(live, deadline)

    async def _read(self, live: LiveImage, deadline: Deadline) -> MetadataImage:
        async with live:
            try:
                async with asyncio.timeout(deadline.remaining):
                    return await live.ready()
            except TimeoutError:
                trouble = f" ({live.trouble})" if live.trouble else ""
                raise ConnectionFailed(
                    "the metadata log was not read in time: the controllers are slow, or none"
                    f" leads{trouble}; see kwire quorum check, or give it more time"
                ) from None

    async def close(self) -> None:
        """Close every connection."""
        await self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
