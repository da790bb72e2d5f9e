"""A look at the quorum before its metadata log is read: who cannot read it is told at once."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.admin.client import AdminClient
from kwire.admin.errors import MismatchedEndpointType
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, UnsupportedEndpointType
from kwire.net.security import PLAINTEXT, Security
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts


async def find_quorum(
    bootstrap_controllers: str | Iterable[str],
    *,
    client_id: str,
    security: Security = PLAINTEXT,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
) -> str | None:
    """Return the cluster id once a controller leads; None if the controllers do not tell it.

    An observer would go on asking in vain until its time is up; a client mostly knows sooner.
    Raises NoReachableLeader, ConnectionFailed, UnsupportedEndpointType for brokers, InvalidValue
    for addresses.
    """
    client = AdminClient(
        bootstrap_controllers=bootstrap_controllers,
        client_id=client_id,
        security=security,
        timeout=timeouts.operation,
        request_timeout=timeouts.request,
        connect_timeout=timeouts.connect,
    )
    async with client:
        try:
            await client.describe_metadata_quorum()
            return await client.cluster_id()
        except MismatchedEndpointType as error:
            addresses = (
                bootstrap_controllers
                if isinstance(bootstrap_controllers, str)
                else ",".join(bootstrap_controllers)
            )
            raise UnsupportedEndpointType(
                f"{addresses} are brokers, which do not give the metadata log: give the addresses"
                " of controllers"
            ) from error
        except BrokerError as error:
            # Describing the quorum takes DESCRIBE on the cluster, reading its log does not.
            if error.code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
                raise
            return None
