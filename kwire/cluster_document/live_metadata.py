"""The metadata of a running cluster, read from its controllers as an observer (KIP-919)."""

from __future__ import annotations

import asyncio

from kwire.admin.bootstrap import Bootstrap
from kwire.admin.find_quorum import find_quorum
from kwire.errors import ConnectionFailed
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, Security
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts
from kwire.observer import LiveImage
from kwire.observer.stored_metadata import StoredMetadata

CLIENT_ID = "kwire-export"


async def live_metadata(
    bootstrap_controllers: str,
    *,
    security: Security = PLAINTEXT,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
) -> StoredMetadata:
    """Return the metadata of a cluster, all of it committed.

    1. Ask for the quorum, since that says within a second if no controller leads.
    2. Read the log from the leader, to its high watermark.

    Each of the two has the time of an operation. Raises NoReachableLeader, ConnectionFailed,
    BrokerError if the principal may not read the log (CLUSTER_ACTION on the cluster),
    UnsupportedEndpointType for brokers, InvalidValue for addresses.
    """
    # 1.
    cluster_id = await find_quorum(
        bootstrap_controllers, client_id=CLIENT_ID, security=security, timeouts=timeouts
    )
    # 2.
    addresses = Bootstrap.of(None, bootstrap_controllers).addresses
    connect = SecureConnect(security, CLIENT_ID, timeouts=timeouts)
    live = LiveImage(addresses, open=connect, patience=timeouts.request_seconds)
    try:
        async with asyncio.timeout(timeouts.operation), live:
            image = await live.ready()
    except TimeoutError:
        trouble = f": {live.trouble}" if live.trouble else ""
        raise ConnectionFailed(
            f"{bootstrap_controllers}: the metadata log was not read within"
            f" {timeouts.operation:g} s{trouble}; the leader is slow, or hangs:"
            " give it more `timeout`"
        ) from None
    return StoredMetadata(
        image=image,
        offset=live.offset,
        kraft_version=live.observer.kraft_version,
        cluster_id=cluster_id,
    )
