"""The whole line at once: voters change through the proxy while clients work through it."""

import asyncio
from contextlib import AsyncExitStack
from threading import Event

from kwire.admin import AdminClient, RaftVoterEndpoint
from kwire.proxy import Address, DecodedFlow, Flow, Listener, Proxy, Ring, summarize
from kwire.text.ids import parse_uuid, uuid_text
from real_kafka import Cluster, Layout, free_port
from real_kafka.metadata_quorum import add_controller, current_voters, remove_controller
from tests.support.admin.voter_changes import accepted
from tests.support.real_kafka.own_cluster import OwnCluster

PATIENCE = 60
TOPIC = "orders"
JOINING = 3003


def produce(bootstrap: str, enough: Event, acknowledged: list[bytes]) -> None:
    """Send numbered messages until told that it is enough; notes what was acknowledged."""
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    while not enough.is_set():
        value = f"message {len(acknowledged)}".encode()
        producer.send(TOPIC, value).get(timeout=PATIENCE)
        acknowledged.append(value)
        enough.wait(0.01)
    producer.close()


def consume(bootstrap: str, ended: Event, acknowledged: list[bytes]) -> list[bytes]:
    """Read the topic from its beginning: all that was acknowledged when its producer `ended`."""
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        TOPIC,
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        group_id="readers",
        consumer_timeout_ms=2_000,
    )
    received: list[bytes] = []
    quiet = 0
    while not ended.is_set() or (len(received) < len(acknowledged) and quiet < PATIENCE):
        quiet += 2 if ended.is_set() else 0
        received += [message.value for message in consumer]
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
    async with asyncio.timeout(PATIENCE):
        while True:
            registered = (await client.describe_cluster()).nodes
            if JOINING in registered:
                break
            await asyncio.sleep(0.1)
    joining = registered[JOINING]

    endpoint = RaftVoterEndpoint(name="CONTROLLER", host=joining.host, port=joining.port)
    await accepted(lambda: client.add_raft_voter(JOINING, directory_id, [endpoint]))
    assert await voters(client) == await asyncio.to_thread(current_voters, cluster)
    assert (await voters(client)).keys() == before.keys() | {JOINING}
    await accepted(lambda: client.remove_raft_voter(JOINING, directory_id))
    assert await voters(client) == await asyncio.to_thread(current_voters, cluster) == before

    await asyncio.to_thread(add_controller, node)
    assert (await voters(client))[JOINING] == node.directory_id
    await asyncio.to_thread(remove_controller, cluster, JOINING, node.directory_id)
    assert await voters(client) == before


async def test_voters_change_while_clients_work_through_the_proxy(
    own_cluster: OwnCluster,
) -> None:
    ring, enough, ended, broker_port = Ring(), Event(), Event(), free_port()
    sent: list[bytes] = []
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
        producing = asyncio.create_task(asyncio.to_thread(produce, servers, enough, sent))
        consuming = asyncio.create_task(asyncio.to_thread(consume, servers, ended, sent))
        client = await stack.enter_async_context(
            AdminClient(bootstrap_controllers=controllers, timeout=PATIENCE)
        )
        try:
            await change_voters(cluster, client)
        finally:
            enough.set()
            try:
                await producing
            finally:
                ended.set()
            received = await consuming
        await asyncio.to_thread(cluster.close)
    assert len(sent) > 10
    assert received == sent

    said = [summarize(DecodedFlow(event)) for event in ring if isinstance(event, Flow)]
    assert [line for line in said if line.startswith(f"add voter {JOINING}@")]
    assert [line for line in said if line.startswith(f"remove voter {JOINING}@")]
