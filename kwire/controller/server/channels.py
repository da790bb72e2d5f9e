"""Requests from this controller to others: one connection an address, opened on demand."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from kwire.codec.declaration import Request, Response
from kwire.controller.raft import RaftEvent, RequestFailed, ResponseReceived, Send
from kwire.controller.server.foreign_clusters import ForeignClusters
from kwire.error_codes import ErrorCode
from kwire.errors import EncodeError, KwireError, UnsupportedVersion
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.pool import ConnectionPool
from kwire.net.sasl import Credentials
from kwire.net.tasks import cancel_and_wait

log = logging.getLogger(__name__)


class Channels:
    """The client side of one controller.

    A controller answers the requests of one connection one after the other: a request that waits
    for a commit must not share Channels with the fetches that make the commit.
    """

    def __init__(
        self,
        *,
        client_id: str,
        request_timeout_ms: int,
        tls: ssl.SSLContext | None = None,
        sasl: Credentials | None = None,
        foreign: ForeignClusters | None = None,
    ) -> None:
        self._client_id = client_id
        self._timeout = request_timeout_ms / 1000
        self._tls = tls
        self._sasl = sasl
        self._foreign = foreign
        self._connections = ConnectionPool(self._connect, connect_timeout=self._timeout)
        self._tasks: set[asyncio.Task[None]] = set()

    def use_tls(self, tls: ssl.SSLContext) -> None:
        """Take another context for new connections."""
        self._tls = tls

    def send(self, effect: Send, feed: Callable[[RaftEvent], None]) -> None:
        """Send the request of an effect; feed its response, or its failure, back to the replica."""
        self.spawn(self._send(effect, feed))

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in a task, which `close` cancels."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, effect: Send, feed: Callable[[RaftEvent], None]) -> None:
        to = effect.destination
        event: RaftEvent
        try:
            response = await self.ask(to.host, to.port, effect.request)
            event = ResponseReceived(correlation=effect.correlation, response=response)
            if self._foreign and self._foreign.is_first_refusal(response, to.host, to.port):
                self.spawn(self._warn_of_cluster(self._foreign, to.host, to.port))
        # The error codes are those of Java's KafkaNetworkChannel.
        except (UnsupportedVersion, EncodeError) as error:
            log.info("node %d at %s:%d: %s", to.id, to.host, to.port, error)
            code = ErrorCode.UNSUPPORTED_VERSION
            event = RequestFailed(correlation=effect.correlation, error=code)
        except KwireError as error:
            log.debug("node %d at %s:%d: %s", to.id, to.host, to.port, error)
            code = ErrorCode.BROKER_NOT_AVAILABLE
            event = RequestFailed(correlation=effect.correlation, error=code)
        feed(event)

    async def _warn_of_cluster(self, foreign: ForeignClusters, host: str, port: int) -> None:
        """Ask a node that refused this cluster's id for its own."""
        cluster_id = None
        with suppress(KwireError):
            request = DescribeClusterRequest(endpoint_type=EndpointType.CONTROLLER)
            response = await self.ask(host, port, request)
            if isinstance(response, DescribeClusterResponse):
                cluster_id = response.cluster_id
        foreign.warn_of_refusal(host, port, cluster_id)

    async def ask(self, host: str, port: int, request: Request) -> Response:
        """Send a request and return the response; KwireError if there is none.

        A connection that failed is dropped, and the next request opens another one.
        """
        connection = await self._connections.connection(Address(host, port))
        try:
            return await connection.send(request)
        except (UnsupportedVersion, EncodeError):  # nothing was sent: the connection is in order
            raise
        except KwireError:
            await self._connections.drop(connection)
            raise

    async def _connect(self, address: Address, within: float) -> Connection:
        return await Connection.open(
            address.host,
            address.port,
            client_id=self._client_id,
            ssl=self._tls,
            sasl=self._sasl,
            connect_timeout=within,
            request_timeout=self._timeout,
        )

    async def close(self) -> None:
        """Cancel all requests and close all connections."""
        await cancel_and_wait(self._tasks)
        await self._connections.close()
