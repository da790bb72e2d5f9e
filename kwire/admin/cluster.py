"""The cluster, its brokers and controllers (DescribeCluster: KIP-700, KIP-919)."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.admin import registry
from kwire.admin.cluster_description import ClusterDescription
from kwire.admin.driver import Driver
from kwire.admin.errors import refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.errors import KwireError
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from kwire.messages.a94_unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)


def _unregistered(
    response: UnregisterBrokerResponse | UnregisterControllerResponse,
    call: OperationCall[int, None],
) -> Iterator[tuple[int, KwireError | None]]:
    yield call.keys[0], refusal(response.error_code, response.error_message)


UNREGISTER_BROKER: Operation[int, None, None] = Operation(
    row=registry.UNREGISTER_BROKER,
    build=lambda call: [((key,), UnregisterBrokerRequest(broker_id=key)) for key in call.keys],
    parse=_unregistered,
)
UNREGISTER_CONTROLLER: Operation[int, None, None] = Operation(
    row=registry.UNREGISTER_CONTROLLER,
    build=lambda call: [
        ((key,), UnregisterControllerRequest(controller_id=key)) for key in call.keys
    ],
    parse=_unregistered,
)


async def describe_cluster(
    driver: Driver,
    *,
    include_fenced_brokers: bool = False,
    include_authorized_operations: bool = False,
    timeout: float | None = None,
) -> ClusterDescription:
    """Return the cluster's id and nodes: brokers, or controllers if those are the bootstrap.

    The first node that answers is asked; its view may lag behind the active controller's. Where
    controllers may not tell it, as to a principal without ALTER on the cluster, the leader
    describes its voters instead: the cluster id is None then.

    Raises UnsupportedEndpointType for `include_fenced_brokers` with controllers as bootstrap,
    MismatchedEndpointType if a node of the other kind answers, NoReachableLeader if controllers
    that have just started find no leader, ConnectionFailed if no node answers; the controllers'
    own reason, UnsupportedVersion before KIP-919, if their leader tells no endpoints, either.
    """
    return await driver.router.describe_cluster(
        DescribeClusterRequest(
            include_fenced_brokers=include_fenced_brokers,
            include_cluster_authorized_operations=include_authorized_operations,
        ),
        timeout,
    )


async def unregister_broker(
    driver: Driver, broker_id: int, *, timeout: float | None = None
) -> None:
    """Have the controller forget a broker (KIP-631).

    Kafka also forgets a broker that runs, which then cannot go on: look whether it is fenced
    first (`describe_cluster(include_fenced_brokers=True)`).

    Raises BrokerError BROKER_ID_NOT_REGISTERED (102), which after a lost answer means done.
    """
    await _forget(driver, UNREGISTER_BROKER, broker_id, timeout)


async def unregister_controller(
    driver: Driver, controller_id: int, *, timeout: float | None = None
) -> None:
    """Have the active controller forget a controller that is gone (KIP-1312, Kafka 4.4).

    Raises BrokerError CONTROLLER_ID_NOT_REGISTERED (136), which after a lost answer means
    done; UnsupportedVersion where the nodes are older.
    """
    await _forget(driver, UNREGISTER_CONTROLLER, controller_id, timeout)


async def _forget(
    driver: Driver, operation: Operation[int, None, None], node_id: int, timeout: float | None
) -> None:
    await driver.ask(operation, node_id, None, timeout=timeout)
