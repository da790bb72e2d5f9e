"""Brokers that run with ZooKeeper are told of metadata, whatever becomes of them in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from random import Random
from uuid import UUID

import pytest

from kwire.codec.declaration import MetadataRecord, Request
from kwire.error_codes import ErrorCode
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.changes import MetadataChanges
from kwire.messages.a04_leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from kwire.messages.a05_stop_replica import StopReplicaRequest, StopReplicaResponse
from kwire.messages.a06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.register_broker import BrokerEndpoint, RegisterBrokerRecord
from kwire.messages.records.topic import TopicRecord
from kwire.migration.node import broker_channel
from kwire.migration.node.broker_channels import BrokerChannels
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.security import PLAINTEXT
from scripted_node import HANG_UP, SILENCE, Raw, Script, ScriptedNode
from virtual_nodes.loop import VirtualLoop
from virtual_nodes.virtual_network import NetworkLoop, VirtualNetwork

NODE, ZK_EPOCH, RAFT_EPOCH = 3000, 5, 3
FULL = ["UpdateMetadata 0", "LeaderAndIsr 2", "UpdateMetadata 2"]
NEW_TOPIC = ["LeaderAndIsr 1", "UpdateMetadata 1"]

SCRIPTS: dict[type[Request], Script] = {
    LeaderAndIsrRequest: lambda frame: LeaderAndIsrResponse(),
    UpdateMetadataRequest: lambda frame: UpdateMetadataResponse(),
    StopReplicaRequest: lambda frame: StopReplicaResponse(),
}


def broker(id: int, epoch: int = 50, *, fenced: bool = False) -> RegisterBrokerRecord:
    """Return a broker that runs with ZooKeeper; its port is its id."""
    endpoint = BrokerEndpoint(name="INSIDE", host="127.0.0.1", port=id, security_protocol=0)
    return RegisterBrokerRecord(
        broker_id=id, broker_epoch=epoch, is_migrating_zk_broker=True, fenced=fenced,
        incarnation_id=UUID(int=id), end_points=[endpoint],
    )  # fmt: skip


def topic(number: int, replicas: tuple[int, ...]) -> list[MetadataRecord]:
    id = UUID(int=70 + number)
    partition = PartitionRecord(
        topic_id=id, partition_id=0, replicas=replicas, isr=replicas, leader=replicas[0]
    )
    return [TopicRecord(name=f"t{number}", topic_id=id), partition]


def image(*records: MetadataRecord) -> MetadataImage:
    level = FeatureLevelRecord(name="metadata.version", feature_level=21)
    return apply_all(EMPTY, [level, *records])


class Cluster:
    """Scripted brokers, and the channels of a controller to them, with the image that it sends."""

    def __init__(self) -> None:
        self.failures: list[Exception] = []
        self.channels = BrokerChannels.secured(NODE, "INSIDE", PLAINTEXT, self.failures.append)
        self.brokers: dict[int, ScriptedNode] = {}
        self.image = EMPTY

    async def add(self, id: int) -> ScriptedNode:
        node = self.brokers[id] = ScriptedNode(SCRIPTS)
        node.port = id
        await node.start()
        return node

    def send(self, whole: MetadataImage) -> None:
        self.image = whole
        self.channels.send_full(whole, RAFT_EPOCH, ZK_EPOCH)

    def change(self, *records: MetadataRecord) -> None:
        after = apply_all(self.image, records)
        changes = MetadataChanges.of(self.image, after, records)
        self.image = after
        self.channels.send_changes(changes, RAFT_EPOCH, ZK_EPOCH)

    def requests(self, id: int) -> list[str]:
        """Return the names and types of the requests that a broker has got."""
        bodies = [frame.body for frame in self.brokers[id].asked]
        return [
            f"{type(body).__name__.removesuffix('Request')} {getattr(body, 'type', '-')}"
            for body in bodies
            if type(body) in SCRIPTS
        ]

    async def stop(self) -> None:
        await self.channels.close()
        for node in self.brokers.values():
            await node.stop()


Scenario = Callable[[Cluster, NetworkLoop], Awaitable[None]]


def play(scenario: Scenario) -> None:
    """Run a scenario in virtual time, where seconds cost nothing."""
    network = VirtualNetwork(Random(1))
    loop = NetworkLoop(Random(2), 0.0, network)

    async def run() -> None:
        cluster = Cluster()
        try:
            await scenario(cluster, loop)
        finally:
            await cluster.stop()

    try:
        loop.run_until_complete(run())
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def test_requests_reach_each_broker_in_their_order() -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        await cluster.add(1)
        await cluster.add(2)
        cluster.send(image(broker(1), broker(2), *topic(0, (1,))))
        cluster.change(*topic(1, (2, 1)))
        await asyncio.sleep(1)

        assert cluster.requests(1) == [*FULL, *NEW_TOPIC]
        assert cluster.requests(2) == [FULL[0], FULL[2], *NEW_TOPIC]
        assert cluster.channels.waiting == {1: 0, 2: 0}
        assert {frame.header.client_id for frame in cluster.brokers[1].asked} == {"3000"}
        (lead, *_) = cluster.brokers[1].requests(LeaderAndIsrRequest)
        assert isinstance(lead, LeaderAndIsrRequest)
        assert (lead.controller_id, lead.controller_epoch, lead.broker_epoch) == (3000, 5, 50)

    play(scenario)


def test_a_channel_that_ends_by_an_unexpected_error_is_told() -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        async def connect(address: Address) -> Connection:
            raise ZeroDivisionError

        cluster.channels = BrokerChannels(NODE, "INSIDE", connect, cluster.failures.append)
        await cluster.add(1)
        cluster.send(image(broker(1)))
        await asyncio.sleep(1)
        assert [type(error) for error in cluster.failures] == [ZeroDivisionError]

    play(scenario)


def test_a_request_is_in_flight_until_it_is_answered() -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        node = await cluster.add(1)
        node.scripts[UpdateMetadataRequest] = lambda frame: SILENCE
        cluster.send(image(broker(1), *topic(0, (1,))))
        cluster.change(*topic(1, (1,)))
        await asyncio.sleep(29)
        assert cluster.requests(1) == FULL[:1]

        # It stands still: after 30 s the connection is given up and the request repeated.
        await asyncio.sleep(2)
        assert cluster.requests(1) == [FULL[0], FULL[0]]
        node.scripts = dict(SCRIPTS)
        await asyncio.sleep(31)
        assert cluster.requests(1) == [FULL[0], FULL[0], *FULL, *NEW_TOPIC]

    play(scenario)


@pytest.mark.parametrize(
    "answer",
    [
        HANG_UP,
        Raw(data=b"\0\0\0\x40\0\0", hang_up=True),
        Raw(data=b"\x7f\xff\xff\xff????"),
    ],
    ids=["closes the connection", "dies in mid-frame", "is no Kafka"],
)
def test_what_a_broker_has_not_answered_it_gets_again(answer: Raw) -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        node = await cluster.add(1)
        node.scripts[LeaderAndIsrRequest] = lambda frame: answer
        cluster.send(image(broker(1), *topic(0, (1,))))
        await asyncio.sleep(0.35)
        node.scripts = dict(SCRIPTS)
        await asyncio.sleep(1)

        sent = cluster.requests(1)
        assert sent[0] == FULL[0]
        assert sent[-1] == FULL[2]
        assert 2 < sent.count(FULL[1]) < 6
        assert set(sent) == set(FULL)

    play(scenario)


def test_a_broker_that_is_down_gets_everything_when_it_is_back() -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        node = await cluster.add(1)
        await node.stop()
        cluster.send(image(broker(1), *topic(0, (1,))))
        await asyncio.sleep(60)
        cluster.change(*topic(1, (1,)))
        await node.start()
        await asyncio.sleep(1)

        assert cluster.requests(1) == [*FULL, *NEW_TOPIC]

    play(scenario)


def test_one_broker_does_not_hold_up_another() -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        standing = await cluster.add(1)
        standing.scripts[UpdateMetadataRequest] = lambda frame: SILENCE
        await cluster.add(2)
        cluster.send(image(broker(1), broker(2), *topic(0, (2,))))
        await asyncio.sleep(1)

        assert (cluster.requests(1), cluster.requests(2)) == (FULL[:1], FULL)

    play(scenario)


def test_a_fenced_broker_loses_its_queue_and_gets_all_under_its_new_epoch() -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        node = await cluster.add(1)
        await node.stop()
        cluster.send(image(broker(1), *topic(0, (1,))))
        cluster.change(*topic(1, (1,)))
        await asyncio.sleep(1)
        cluster.change(BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=50, fenced=1))
        assert cluster.channels.waiting == {}
        await node.start()
        await asyncio.sleep(5)
        assert cluster.requests(1) == []

        cluster.change(broker(1, epoch=90, fenced=True))
        cluster.change(BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=90, fenced=-1))
        await asyncio.sleep(1)
        assert cluster.requests(1) == ["UpdateMetadata 0", "LeaderAndIsr 1", "UpdateMetadata 1"]
        (lead,) = node.requests(LeaderAndIsrRequest)
        assert isinstance(lead, LeaderAndIsrRequest)
        assert lead.broker_epoch == 90
        assert [topic.topic_name for topic in lead.topic_states] == ["t0", "t1"]

    play(scenario)


def test_a_broker_that_stands_still_costs_no_more_than_one_image(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(broker_channel, "MANY_STEPS", 10)

    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        node = await cluster.add(1)
        node.scripts[UpdateMetadataRequest] = lambda frame: SILENCE
        cluster.send(image(broker(1)))
        await asyncio.sleep(1)
        for number in range(25):
            cluster.change(*topic(number, (1,)))
            assert cluster.channels.waiting[1] <= 10
        node.scripts = dict(SCRIPTS)
        node.asked.clear()
        await asyncio.sleep(31)

        # The request that stood; all topics at once; the changes after them.
        sent = cluster.requests(1)
        assert sent == [FULL[0], *FULL, *(sent.count(NEW_TOPIC[0]) * NEW_TOPIC)]
        whole = node.requests(LeaderAndIsrRequest)[0]
        assert isinstance(whole, LeaderAndIsrRequest)
        last = node.requests(LeaderAndIsrRequest)[-1]
        assert isinstance(last, LeaderAndIsrRequest)
        assert len(whole.topic_states) + sent.count(NEW_TOPIC[0]) == 25
        assert last.topic_states[0].topic_name == "t24"

    play(scenario)
    assert caplog.text.count("has not taken 11 changes: it will get all metadata anew") == 1


def test_errors_of_a_broker_are_logged_and_the_next_request_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        node = await cluster.add(1)
        node.scripts[UpdateMetadataRequest] = lambda frame: UpdateMetadataResponse(
            error_code=ErrorCode.STALE_CONTROLLER_EPOCH
        )
        failed = LeaderAndIsrPartitionError(
            partition_index=0, error_code=ErrorCode.KAFKA_STORAGE_ERROR
        )
        node.scripts[LeaderAndIsrRequest] = lambda frame: LeaderAndIsrResponse(
            topics=[LeaderAndIsrTopicError(topic_id=UUID(int=70), partition_errors=[failed])]
        )
        cluster.send(image(broker(1), *topic(0, (1,))))
        await asyncio.sleep(1)
        assert cluster.requests(1) == FULL

    play(scenario)
    assert [line for line in caplog.messages if "answers" in line] == [
        "controller 3000: broker 1 at 127.0.0.1:1 answers UpdateMetadataRequest by"
        " STALE_CONTROLLER_EPOCH",
        "controller 3000: broker 1 at 127.0.0.1:1 answers LeaderAndIsrRequest by"
        " KAFKA_STORAGE_ERROR for AAAAAAAAAAAAAAAAAAAARg-0",
        "controller 3000: broker 1 at 127.0.0.1:1 answers UpdateMetadataRequest by"
        " STALE_CONTROLLER_EPOCH",
    ]


def test_an_outage_is_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        node = await cluster.add(1)
        await node.stop()
        cluster.send(image(broker(1)))
        await asyncio.sleep(30)
        await node.start()
        await asyncio.sleep(1)

    caplog.set_level(logging.INFO)
    play(scenario)
    assert [line.partition(":")[2] for line in caplog.messages if "told" in line] == [
        " broker 1 at 127.0.0.1:1 is told",
        " broker 1 at 127.0.0.1:1 is not told of metadata until it can be reached: 127.0.0.1:1"
        " refused the connection: nothing listens there; start the node, or check the address",
        " broker 1 is told again",
        " broker 1 is not told any more",
    ]


def test_a_controller_that_leads_no_more_stops_in_the_middle() -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        node = await cluster.add(1)
        node.scripts[LeaderAndIsrRequest] = lambda frame: SILENCE
        cluster.send(image(broker(1), *topic(0, (1,))))
        await asyncio.sleep(1)
        cluster.channels.forget()
        node.scripts = dict(SCRIPTS)
        await asyncio.sleep(60)
        assert cluster.requests(1) == FULL[:2]
        assert not node.serving

        # It leads again, and knows of no broker that is told already.
        cluster.send(cluster.image)
        await asyncio.sleep(1)
        assert cluster.requests(1) == [*FULL[:2], *FULL]

    play(scenario)


def test_a_broker_without_the_listener_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        cluster.send(image(broker(1).replace(end_points=[])))
        cluster.change(*topic(0, (1,)))
        assert cluster.channels.waiting == {}

    play(scenario)
    assert caplog.text.count("broker 1 has no listener INSIDE and is not told") == 1


def test_many_partitions_are_written_down_in_a_thread_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(cluster: Cluster, loop: VirtualLoop) -> None:
        await cluster.add(1)
        await cluster.add(2)
        topics = [record for number in range(300) for record in topic(number, (1, 2))]
        cluster.send(image(broker(1), broker(2), *topics))
        await asyncio.sleep(2)
        assert (cluster.requests(1), cluster.requests(2)) == (FULL, FULL)

    threads: list[object] = []
    original = VirtualLoop.run_in_executor

    def counted(self: VirtualLoop, executor: object, func: Callable[..., object], *args: object):  # type: ignore[no-untyped-def]
        threads.append(func)
        return original(self, executor, func, *args)

    monkeypatch.setattr(VirtualLoop, "run_in_executor", counted)
    play(scenario)
    assert len(threads) == 1
