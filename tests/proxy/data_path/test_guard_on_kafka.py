"""Real Kafka behind a guarded listener: its answer proves it, and clients still log in."""

import asyncio

from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.sasl import Credentials
from kwire.net.tls import ClientTls
from kwire.proxy import Event, Listener, NoticeKind, Proxy
from kwire.proxy.data_path.listener import ListenerGuard
from tests.support.proxy.notices import notice_texts
from tests.support.proxy.secure_cluster import ALICE_LOGIN, SecureCluster

TIMEOUT = 60.0


async def test_clients_log_in_at_a_node_that_was_proven_before(secure: SecureCluster) -> None:
    """On the same connection: Kafka takes one valid ApiVersions before SASL, the client's."""
    with_certificate = ClientTls(
        authorities=secure.authority.path,
        certificate=secure.pem.certificate,
        key=secure.pem.key,
        check_name=False,
    )
    for name, sasl, tls in (
        ("PLAINTEXT", None, None),
        ("DIRECT_SASL", ALICE_LOGIN, None),
        ("DIRECT_TLS", None, with_certificate),
        ("CONTROLLER_SASL", ALICE_LOGIN, None),
    ):
        kind = EndpointType.CONTROLLER if name.startswith("CONTROLLER") else EndpointType.BROKER
        node = Address("127.0.0.1", secure.behind[name])
        assert await nodes_seen(node, kind, sasl, tls) == 1, name


async def nodes_seen(
    node: Address, kind: EndpointType, sasl: Credentials | None, tls: ClientTls | None
) -> int:
    """Ask through a guarded listener."""
    events: list[Event] = []
    guard = ListenerGuard(believed=sasl is None)
    listener = Listener(node_id=1, upstream=node, upstream_tls=tls, guard=guard)
    async with asyncio.timeout(TIMEOUT), Proxy([listener], sinks=[events.append]) as proxy:
        at = proxy.addresses[listener]
        # SASL passes before a node has named the address, as a leader may need it.
        async with await Connection.open(at.host, at.port, sasl=sasl) as connection:
            guard.believed = True
            response = await connection.send(DescribeClusterRequest(endpoint_type=kind))
    assert isinstance(response, DescribeClusterResponse)
    assert notice_texts(events, NoticeKind.REFUSED) == []
    return len(response.brokers)
