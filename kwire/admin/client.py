"""AdminClient: asks brokers, or controllers directly (KIP-919), as Java's Admin does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from kwire.admin.add_raft_voter import AddRaftVoterOperation
from kwire.admin.bootstrap import Bootstrap
from kwire.admin.describe_cluster import DescribeClusterOperation
from kwire.admin.describe_features import DescribeFeaturesOperation
from kwire.admin.describe_quorum import DescribeQuorumOperation
from kwire.admin.remove_raft_voter import RemoveRaftVoterOperation
from kwire.admin.routing import OperationRouter
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.pool import ConnectionPool

if TYPE_CHECKING:
    from ssl import SSLContext

TIMEOUT = 10.0
"""Seconds an operation may take, all attempts together. Java's default is 60."""

REQUEST_TIMEOUT = 5.0
CONNECT_TIMEOUT = 2.0


class AdminClient(
    DescribeClusterOperation,
    DescribeQuorumOperation,
    AddRaftVoterOperation,
    RemoveRaftVoterOperation,
    DescribeFeaturesOperation,
):
    """A client of one cluster; connects when first asked, closed by `async with` or `close`.

    async with AdminClient(bootstrap_controllers="127.0.0.1:9093") as admin:
        quorum = await admin.describe_metadata_quorum()

    bootstrap_servers, bootstrap_controllers: `host:port,host:port` or a list of these; exactly one
    of the two, else InvalidValue. The choice says to which kind of node operations are sent.
    ssl: TLS towards every node.
    timeout: seconds an operation may take; its own `timeout` overrides it.
    request_timeout, connect_timeout: seconds for one attempt at one node.
    """

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str] | None = None,
        bootstrap_controllers: str | Iterable[str] | None = None,
        *,
        client_id: str = "kwire-admin",
        ssl: SSLContext | None = None,
        timeout: float = TIMEOUT,
        request_timeout: float = REQUEST_TIMEOUT,
        connect_timeout: float = CONNECT_TIMEOUT,
    ) -> None:
        bootstrap = Bootstrap.of(bootstrap_servers, bootstrap_controllers)

        async def connect(address: Address, within: float) -> Connection:
            return await Connection.open(
                address.host,
                address.port,
                client_id=client_id,
                ssl=ssl,
                connect_timeout=within,
                request_timeout=request_timeout,
            )

        self._connections = ConnectionPool(connect, connect_timeout=connect_timeout)
        super().__init__(
            OperationRouter(
                bootstrap, self._connections, timeout=timeout, request_timeout=request_timeout
            )
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
