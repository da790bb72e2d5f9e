"""The nodes of a real cluster, and the error for a client that asks the wrong kind of node."""

import pytest

from kwire.admin import AdminClient, MismatchedEndpointType
from kwire.errors import UnsupportedEndpointType
from kwire.net.address import Address
from real_kafka import Cluster
from tests.support.eventually import TOO_LONG


async def test_controllers_are_listed_at_the_addresses_they_advertise(quorum: Cluster) -> None:
    async with AdminClient(bootstrap_controllers=quorum.bootstrap_controllers, timeout=60) as admin:
        cluster = await admin.describe_cluster()
        leader = (await admin.describe_metadata_quorum()).leader_id
    assert cluster.cluster_id == quorum.cluster_id
    assert cluster.controller_id == leader
    assert cluster.controller == cluster.nodes[leader]
    assert {n: str(node.address) for n, node in cluster.nodes.items()} == {
        n: str(node.controller_address) for n, node in quorum.controllers.items()
    }
    assert cluster.authorized_operations is None


async def test_brokers_are_listed_with_what_was_asked_for(quorum: Cluster) -> None:
    async with AdminClient(bootstrap_servers=quorum.bootstrap_servers, timeout=60) as admin:
        cluster = await admin.describe_cluster(
            include_fenced_brokers=True, include_authorized_operations=True
        )
    told = quorum.tool(
        "org.apache.kafka.tools.ClusterTool",
        "list-endpoints",
        "--bootstrap-server",
        quorum.bootstrap_servers,
        "--include-fenced-brokers",
    )
    rows = [line.split() for line in told.stdout.splitlines()[1:] if line.strip()]
    assert [
        [
            str(node.node_id),
            node.host,
            str(node.port),
            node.rack or "null",
            "fenced" if node.is_fenced else "unfenced",
        ]
        for node in cluster.nodes.values()
    ] == [row[:5] for row in rows]
    assert cluster.authorized_operations


async def test_fenced_brokers_are_not_to_be_had_from_controllers(quorum: Cluster) -> None:
    async with AdminClient(bootstrap_controllers=quorum.bootstrap_controllers, timeout=60) as admin:
        with pytest.raises(UnsupportedEndpointType):
            await admin.describe_cluster(include_fenced_brokers=True)


@pytest.mark.parametrize("operation", ["describe_cluster", "describe_metadata_quorum"])
async def test_a_node_of_the_wrong_kind_is_named_at_once(quorum: Cluster, operation: str) -> None:
    broker, controller = quorum.bootstrap_servers, quorum.controllers[3000].controller_address
    async with AdminClient(bootstrap_controllers=broker, timeout=TOO_LONG) as admin:
        with pytest.raises(MismatchedEndpointType) as caught:
            await getattr(admin, operation)()
    assert str(caught.value) == (
        f"MISMATCHED_ENDPOINT_TYPE: {broker} is a broker, not a controller:"
        " give it as `bootstrap_servers` instead"
    )
    async with AdminClient(bootstrap_servers=str(controller), timeout=TOO_LONG) as admin:
        with pytest.raises(MismatchedEndpointType, match=f"{controller} is a controller, not a br"):
            await getattr(admin, operation)()


def test_a_nodes_address_keeps_ipv6_readable() -> None:
    assert str(Address("::1", 9093)) == "[::1]:9093"
