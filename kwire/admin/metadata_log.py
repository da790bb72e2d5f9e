"""The cluster's metadata as the controllers' log has it, for what no controller answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kwire.admin.deadline import Deadline
from kwire.admin.driver import Driver
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, ConnectionFailed, UnsupportedVersion
from kwire.net.address import Address
from kwire.net.awaited import METADATA_LOG
from kwire.net.connection import Connection

if TYPE_CHECKING:
    from kwire.image import MetadataImage


async def read_metadata_log(driver: Driver, timeout: float | None) -> MetadataImage:
    """Return the cluster's metadata, read from the controllers' log as an observer.

    Raises ConnectionFailed if no controller gives it in time, BrokerError if they refuse.
    """
    from kwire.observer import LiveImage  # only where there are no brokers to ask

    deadline = driver.deadline(timeout)
    addresses, cluster_id = await _controllers(driver, deadline)

    async def open_connection(address: Address) -> Connection:
        return await driver.connect(address, deadline.attempt)

    live = LiveImage(
        addresses,
        cluster_id=cluster_id,
        open=open_connection,
        patience=driver.connect.timeouts.request_seconds,
    )
    with driver.awaited.asking(METADATA_LOG):
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


async def _controllers(driver: Driver, deadline: Deadline) -> tuple[list[Address], str | None]:
    """Return the addresses of the controllers, the leader's first, and the cluster id if told.

    Describing the cluster takes Kafka 3.7 and ALTER on it, the quorum DESCRIBE, its log neither.
    """
    try:
        cluster = await driver.router.cluster(deadline)
    except UnsupportedVersion:
        return list(driver.router.bootstrap_addresses), None
    except BrokerError as error:
        if error.code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            raise
        return list(driver.router.bootstrap_addresses), None
    # The one that leads comes first: another may be silent.
    nodes = sorted(cluster.nodes.values(), key=lambda node: node != cluster.controller)
    return [node.address for node in nodes], cluster.cluster_id
