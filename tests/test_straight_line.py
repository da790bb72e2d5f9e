"""The whole line at once: voters change through the proxy while clients work through it."""

import asyncio
from contextlib import AsyncExitStack
from threading import Event

from kafka import KafkaConsumer, KafkaProducer

from admin import AdminClient, RaftVoterEndpoint
from kwire.ids import parse_uuid, uuid_text
from proxy import Address, DecodedFlow, Flow, Listener, Proxy, Ring, summarize
from real_kafka import Cluster, Layout, free_port
from real_kafka.metadata_quorum import add_controller, current_voters, remove_controller
from tests.conftest import OwnCluster

TOPIC = "orders"
JOINING = 3003


def produce(bootstrap: str, enough: Event) -> list[bytes]:
    """Send numbered messages until told that it is enough; returns what was acknowledged."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    acknowledged: list[bytes] = []
    while not enough.is_set():
        value = f"message {len(acknowledged)}".encode()
        producer.send(TOPIC, value).get(timeout=30)
        acknowledged.append(value)
        enough.wait(0.01)
    producer.close()
    return acknowledged


def consume(bootstrap: str, enough: Event) -> list[bytes]:
    """Read the topic from its beginning until nothing has come for a while after `enough`."""
    consumer = KafkaConsumer(
        TOPIC,
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        group_id="readers",
        consumer_timeout_ms=2_000,
    )
    received: list[bytes] = []
    while True:
        last = enough.is_set()
        received += [message.value for message in consumer]
        if last:
            break
    consumer.close()
    return received


async def behind_the_proxy(proxy: Proxy, cluster: Cluster, broker_port: int) -> str:
    """Every node gets a listener that it advertises; returns the controllers' bootstrap list."""
    addresses = []
    for node_id, node in cluster.controllers.items():
        address = await proxy.listen(Listener(node_id=node_id, upstream=node.controller_address))
        node.advertise(address)
        addresses.append(str(address))
    upstream, listen = cluster.brokers[1].broker_address, Address("127.0.0.1", broker_port)
    await proxy.listen(Listener(node_id=1, upstream=upstream, listen=listen))
    return ",".join(addresses)


async def voters(client: AdminClient) -> dict[int, str]:
    quorum = await client.describe_metadata_quorum()
    return {
        voter.replica_id: uuid_text(voter.replica_directory_id)
        for voter in quorum.voters
        if voter.replica_directory_id is not None
    }


async def change_voters(cluster: Cluster, client: AdminClient) -> None:
    """Add and remove a voter, once with kwire and once with Kafka's tool; both must agree."""
    node = cluster.controllers[JOINING]
    before = await voters(client)
    directory_id = parse_uuid(node.directory_id)
    joining = (await client.describe_cluster()).nodes[JOINING]

    endpoint = RaftVoterEndpoint(name="CONTROLLER", host=joining.host, port=joining.port)
    await client.add_raft_voter(JOINING, directory_id, [endpoint])
    assert await voters(client) == await asyncio.to_thread(current_voters, cluster)
    assert (await voters(client)).keys() == before.keys() | {JOINING}
    await client.remove_raft_voter(JOINING, directory_id)
    assert await voters(client) == await asyncio.to_thread(current_voters, cluster) == before

    await asyncio.to_thread(add_controller, node)
    assert (await voters(client))[JOINING] == node.directory_id
    await asyncio.to_thread(remove_controller, cluster, JOINING, node.directory_id)
    assert await voters(client) == before


async def test_voters_change_while_clients_work_through_the_proxy(
    own_cluster: OwnCluster,
) -> None:
    ring, enough, broker_port = Ring(), Event(), free_port()
    address = f"PLAINTEXT://127.0.0.1:{broker_port}"
    layout = Layout(
        controllers=(3000, 3001, 3002),
        brokers=(1,),
        node_properties={1: {"advertised.listeners": address}},
    )
    cluster = own_cluster(layout)
    cluster.add_node(JOINING)
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(Proxy(sinks=[ring]))
        controllers = await behind_the_proxy(proxy, cluster, broker_port)
        await asyncio.to_thread(cluster.start)
        servers = f"127.0.0.1:{broker_port}"
        producing = asyncio.create_task(asyncio.to_thread(produce, servers, enough))
        consuming = asyncio.create_task(asyncio.to_thread(consume, servers, enough))
        client = await stack.enter_async_context(
            AdminClient(bootstrap_controllers=controllers, timeout=60)
        )
        try:
            await change_voters(cluster, client)
        finally:
            enough.set()
            sent, received = await producing, await consuming
        await asyncio.to_thread(cluster.close)
    assert len(sent) > 100
    assert received == sent

    said = [summarize(DecodedFlow(event)) for event in ring if isinstance(event, Flow)]
    assert [line for line in said if line.startswith(f"add voter {JOINING}@")]
    assert [line for line in said if line.startswith(f"remove voter {JOINING}@")]
