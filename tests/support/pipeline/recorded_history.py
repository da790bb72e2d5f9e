"""A night in the life of a real quorum, recorded: what the tests of the pipeline read.

Kafka 4.3.1: controllers 3000 to 3002, brokers 1 and 2, a proxy with its recorder in front of each.
1. Topics are created, messages produced and consumed.
2. The leader of the quorum is killed; another one leads; it comes back.
3. Controller 3003 joins, becomes a voter, and is removed again.
4. Broker 2 restarts, so that it leaves in-sync sets and comes back.
5. Small requests, until there are as many frames as are asked for.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, Producer

from kwire.admin import AdminClient, QuorumInfo, RaftVoterEndpoint
from kwire.batches import Record, build_batch
from kwire.capture import CaptureFiles
from kwire.codec.declaration import Request
from kwire.errors import BrokerError, KwireError
from kwire.logdir.names import META_PROPERTIES, METADATA_FOLDER
from kwire.messages import a00_produce as produce
from kwire.messages import a01_fetch as fetch
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.net.connection import Connection
from kwire.net.negotiation import api_versions_request
from kwire.net.quorum_request import quorum_request
from kwire.proxy import Address, Event, Flow, Listener, Proxy
from kwire.proxy.capture.recorder import Recorder
from real_kafka import Address as RealAddress
from real_kafka import Cluster, Launcher, Layout, RunningNode, free_port
from tests.support.eventually import eventually

BATCH = 100
MESSAGES = 200
VOTER_IDS = (3000, 3001, 3002)
JOINED_ID = 3003
TOPICS = ("orders", "payments")
PATIENCE = 120.0
"""Seconds for a condition to come true, on a busy machine."""

QUICK = {
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "4000",
    "controller.quorum.election.timeout.ms": "1000",
    "controller.quorum.fetch.timeout.ms": "2000",
    "default.replication.factor": "2",
    "group.initial.rebalance.delay.ms": "0",
    "num.partitions": "3",
}


@dataclass(frozen=True, slots=True)
class ClusterAction:
    """An action on the cluster and its node; began, ended: Unix seconds."""

    what: str
    node_id: int
    began: float
    ended: float


@dataclass(slots=True)
class History:
    """captures: a folder of captures. log: a copy of the metadata log's folder of node 3000.

    leaders: node ids in the order in which they were seen to lead. directory_ids: by node id.
    dumped: DumpLogSegments of the log, segments and snapshots, by file name. frames: in the
    captures, not fewer than `least`.
    """

    captures: Path
    log: Path
    least: int
    deeds: list[ClusterAction] = field(default_factory=list)
    leaders: list[int] = field(default_factory=list)
    directory_ids: dict[int, str] = field(default_factory=dict)
    dumped: dict[str, list[str]] = field(default_factory=dict)
    frames: int = 0

    def did(self, what: str) -> ClusterAction:
        """The only deed of this kind."""
        (found,) = (deed for deed in self.deeds if deed.what == what)
        return found


def make_history(kafka: Launcher, folder: Path, least: int) -> History:
    """Let it happen; half a minute, most of it the starts of Java processes.

    least: the frames that it has at least.
    """
    history = History(folder / "captures", folder / "node-3000" / METADATA_FOLDER, least)
    history.captures.mkdir()
    ports = {broker: free_port() for broker in (1, 2)}
    advertised = {
        broker: {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}"}
        for broker, port in ports.items()
    }
    layout = Layout(
        controllers=VOTER_IDS, brokers=(1, 2), properties=QUICK, node_properties=advertised
    )
    cluster = Cluster(kafka, layout)
    try:
        asyncio.run(_Scenario(cluster, history, ports).play())
        # The others make up a quorum still: the last leader would wait for one before it stops.
        node = cluster.controllers[VOTER_IDS[0]]
        node.stop()
        data = Path(node.folder, "data")
        shutil.copytree(data / METADATA_FOLDER, history.log)
        shutil.copy(data / META_PROPERTIES, history.log.parent)
        _dump(cluster, history)
    finally:
        cluster.close()
    return history


class _Scenario:
    def __init__(self, cluster: Cluster, history: History, ports: dict[int, int]) -> None:
        self.cluster = cluster
        self.history = history
        self.ports = ports

    async def play(self) -> None:
        files = CaptureFiles.numbered(self.history.captures, "night", now=0.0, size=8 << 20)
        async with AsyncExitStack() as stack:
            recorder = stack.enter_context(Recorder(files, limit=1 << 30))
            self.proxy = await stack.enter_async_context(Proxy(sinks=[recorder, self.count]))
            await self.listen()
            await asyncio.to_thread(self.cluster.start)
            self.admin = await stack.enter_async_context(
                AdminClient(bootstrap_controllers=self.voters(), timeout=PATIENCE)
            )
            self.history.leaders.append((await self.admin.describe_metadata_quorum()).leader_id)
            await self.create_topics()
            await asyncio.to_thread(_produce_and_consume, f"127.0.0.1:{self.ports[1]}")
            await self.kill_the_leader()
            await self.change_voters()
            await self.restart_broker(2)
            await self.fill_up()
            for broker in self.cluster.brokers.values():
                await asyncio.to_thread(broker.stop)

    def count(self, event: Event) -> None:
        if isinstance(event, Flow):
            self.history.frames += 1 + (event.answered is not None)

    async def listen(self) -> None:
        for node in self.cluster.controllers.values():
            await self.stand_before(node)
        for node_id, node in self.cluster.brokers.items():
            address = node.broker_address
            upstream = Address(address.host, address.port)
            here = Address("127.0.0.1", self.ports[node_id])
            await self.proxy.listen(Listener(node_id=node_id, upstream=upstream, listen=here))

    def voters(self) -> list[str]:
        """Return the voters' addresses at the proxy: nodes tell theirs once they registered."""
        found = self.proxy.addresses.items()
        return [str(address) for listener, address in found if listener.node_id in VOTER_IDS]

    async def stand_before(self, node: RunningNode) -> RealAddress:
        address = node.controller_address
        listener = Listener(node_id=node.node_id, upstream=Address(address.host, address.port))
        found = await self.proxy.listen(listener)
        here = RealAddress(found.host, found.port)
        node.advertise(here)
        return here

    async def deed(self, what: str, node_id: int, doing: Awaitable[object]) -> None:
        began = time.time()
        await doing
        self.history.deeds.append(ClusterAction(what, node_id, began, time.time()))

    async def create_topics(self) -> None:
        """Partition 1 is led by broker 2, the others by broker 1."""
        replicas = enumerate([(1, 2), (2, 1), (1, 2)])
        assignments = [
            CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
            for index, ids in replicas
        ]
        topics = [
            CreatableTopic(
                name=name, num_partitions=-1, replication_factor=-1, assignments=assignments
            )
            for name in TOPICS
        ]
        async with await self.connect(1) as connection:
            answer = await connection.send(CreateTopicsRequest(topics=topics, timeout_ms=60_000))
        assert isinstance(answer, CreateTopicsResponse)
        assert [topic.error_code for topic in answer.topics] == [0, 0], answer

    async def kill_the_leader(self) -> None:
        leader = self.history.leaders[0]
        node = self.cluster.nodes[leader]
        await self.deed("killed", leader, asyncio.to_thread(node.kill))
        quorum = await self.quorum_when(lambda quorum: quorum.leader_id not in (-1, leader))
        self.history.leaders.append(quorum.leader_id)
        await self.deed("returned", leader, asyncio.to_thread(node.start))

    async def change_voters(self) -> None:
        node = self.cluster.add_node(JOINED_ID)
        here = await self.stand_before(node)
        await asyncio.to_thread(node.start)
        await self.quorum_when(
            lambda quorum: JOINED_ID in {observer.replica_id for observer in quorum.observers}
        )
        directory = node.directory_id
        endpoint = RaftVoterEndpoint(name="CONTROLLER", host=here.host, port=here.port)
        await self.deed(
            "added",
            JOINED_ID,
            _accepted(
                lambda: self.admin.add_raft_voter(JOINED_ID, directory, [endpoint]),
                "DUPLICATE_VOTER",
            ),
        )
        await self.quorum_when(
            lambda quorum: JOINED_ID in {voter.replica_id for voter in quorum.voters}
        )
        await self.deed(
            "removed",
            JOINED_ID,
            _accepted(
                lambda: self.admin.remove_raft_voter(JOINED_ID, directory), "VOTER_NOT_FOUND"
            ),
        )
        self.history.directory_ids = {
            node_id: node.directory_id for node_id, node in self.cluster.controllers.items()
        }

    async def restart_broker(self, node_id: int) -> None:
        node = self.cluster.nodes[node_id]
        await self.deed("restarted", node_id, asyncio.to_thread(node.restart))

    async def quorum_when(self, holds: Callable[[QuorumInfo], bool]) -> QuorumInfo:
        """Ask the leader, which may change meanwhile, until its description holds; return it."""

        async def ask() -> QuorumInfo | None:
            try:
                quorum = await self.admin.describe_metadata_quorum(timeout=PATIENCE)
            except KwireError:
                return None
            return quorum if holds(quorum) else None

        found = await eventually(ask, timeout=PATIENCE, pause=0.1)
        assert found
        return found

    async def fill_up(self) -> None:
        """Small requests of several kinds to broker 1 and the leader, pipelined."""
        leader = (await self.quorum_when(lambda quorum: quorum.leader_id >= 0)).leader_id
        async with AsyncExitStack() as stack:
            broker = await stack.enter_async_context(await self.connect(1))
            controller = await stack.enter_async_context(await self.connect(leader))
            while True:
                await asyncio.gather(
                    *(broker.send(*one) for one in _to_broker() for _ in range(BATCH)),
                    *(controller.send(*one) for one in _to_controller() for _ in range(BATCH)),
                )
                if self.history.frames >= self.history.least:
                    return

    async def connect(self, node_id: int) -> Connection:
        """To a node, through the proxy; retried, since a node may be starting."""
        addresses = self.proxy.addresses.items()
        (here,) = (address for one, address in addresses if one.node_id == node_id)
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    return await Connection.open(
                        here.host, here.port, client_id=f"filler-{node_id}", request_timeout=60
                    )
                except KwireError:
                    await asyncio.sleep(0.2)


def _to_broker() -> list[tuple[Request, int]]:
    now = round(time.time() * 1000)  # a broker refuses what is more than an hour ahead
    data = build_batch([Record(value=b"an order of two lines", timestamp=now)])
    partition = produce.PartitionProduceData(index=0, records=data)
    topic = produce.TopicProduceData(name="orders", partition_data=[partition])
    wanted = fetch.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=200)
    return [
        (produce.ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[topic]), 9),
        (MetadataRequest(topics=[MetadataRequestTopic(name="orders")]), 12),
        (
            fetch.FetchRequest(
                max_bytes=1000,
                session_epoch=-1,
                topics=[fetch.FetchTopic(topic="orders", partitions=[wanted])],
            ),
            12,
        ),
    ]


def _to_controller() -> list[tuple[Request, int]]:
    return [(api_versions_request(), 4), (quorum_request(), 2)]


def _produce_and_consume(bootstrap: str) -> None:
    """Produce, and consume in a group of one, with librdkafka: it joins and commits."""
    producer = Producer({"bootstrap.servers": bootstrap, "client.id": "till"})
    for number in range(MESSAGES):
        producer.produce("payments", f"payment {number}")
    assert producer.flush(PATIENCE) == 0
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "client.id": "ledger",
            "group.id": "books",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["payments"])
    count, until = 0, time.monotonic() + PATIENCE
    while count < MESSAGES:
        assert time.monotonic() < until, f"{count} of {MESSAGES} messages were consumed"
        count += len(consumer.consume(MESSAGES, timeout=1.0))
    consumer.commit(asynchronous=False)
    consumer.close()


async def _accepted(change: Callable[[], Awaitable[None]], done: str) -> None:
    """Make a change as soon as it is its turn: voters that started tell their endpoints first.

    done: the error that tells, after a time-out, that the change was made all the same.
    """
    has_timed_out = False
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await change()
            except BrokerError as error:
                if has_timed_out and error.name == done:
                    return
                if error.name != "REQUEST_TIMED_OUT":
                    raise
                has_timed_out = True
                await asyncio.sleep(0.2)


def _dump(cluster: Cluster, history: History) -> None:
    paths = [str(path) for path in history.log.iterdir() if path.suffix in (".log", ".checkpoint")]
    flags = ["--cluster-metadata-decoder", "--files", ",".join(paths)]
    told = cluster.tool("org.apache.kafka.tools.DumpLogSegments", *flags)
    assert told.returncode == 0, told.stderr
    for part in told.stdout.split("Dumping ")[1:]:
        path, *lines = part.splitlines()
        history.dumped[Path(path).name] = lines
    assert len(history.dumped) == len(paths), told.stdout
