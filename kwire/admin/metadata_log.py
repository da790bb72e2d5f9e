"""The cluster's metadata as the controllers' log has it, for what no controller answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kwire.admin.deadline import Deadline
from kwire.admin.routing import OperationRouter
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, ConnectionFailed, UnsupportedVersion
from kwire.net.address import Address
from kwire.net.awaited import METADATA_LOG, Awaited
from kwire.net.connection import Connection
from kwire.net.secure_connect import SecureConnect

if TYPE_CHECKING:
    from kwire.image import MetadataImage


async def read_metadata_log(
    router: OperationRouter, connect: SecureConnect, deadline: Deadline, awaited: Awaited
) -> MetadataImage:
    """Return the cluster's metadata, read from the controllers' log as an observer.

    Raises ConnectionFailed if no controller gives it in time, BrokerError if they refuse.
    """
    from kwire.observer import LiveImage  # only where there are no brokers to ask

    addresses, cluster_id = await _controllers(router, deadline)

    async def open_connection(address: Address) -> Connection:
        return await connect(address, deadline.attempt)

    live = LiveImage(
        addresses,
        cluster_id=cluster_id,
        open=open_connection,
        patience=connect.timeouts.request_seconds,
    )
    with awaited.asking(METADATA_LOG):
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


async def _controllers(
    router: OperationRouter, deadline: Deadline
) -> tuple[list[Address], str | None]:
    """Return the addresses of the controllers, the leader's first, and the cluster id if told.

    Describing the cluster takes Kafka 3.7 and ALTER on it, the quorum DESCRIBE, its log neither.
    """
    try:
        cluster = await router.cluster(deadline)
    except UnsupportedVersion:
        return list(router.bootstrap_addresses), None
    except BrokerError as error:
        if error.code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            raise
        return list(router.bootstrap_addresses), None
    # The one that leads comes first: another may be silent. A controller that has just begun to
    # lead knows of no registration yet, not even its own.
    nodes = sorted(cluster.nodes.values(), key=lambda node: node != cluster.controller)
    addresses = [node.address for node in nodes]
    return list(dict.fromkeys((*addresses, *router.bootstrap_addresses))), cluster.cluster_id
