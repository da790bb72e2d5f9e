"""KIP-841 as Kafka's brokers play it: which ISR a leader proposes, and what a refusal does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from kwire.controller.server.node import ControllerNode
from kwire.error_codes import ErrorCode
from kwire.image.partition import PartitionRegistration
from kwire.messages.a35_describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from kwire.messages.a56_alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    ResponsePartitionData,
    ResponseTopicData,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.net.connection import Connection
from kwire.proxy import Address, Answer, Call, Filter, Filters, Listener, Proxy
from kwire.testing.quorum import Quorum
from real_kafka import Launcher, RunningNode
from tests.support.controller.live.broker_traffic import (
    create,
    produce,
    until_broker,
    until_partitions,
)
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.eventually import eventually

TOPIC = "numbers"
NODE, LEADER, FOLLOWER = 3000, 1, 2
SESSION = {"broker.session.timeout.ms": "6000"}
FETCHES = 3.0
"""Seconds in which a follower fetches six times (replica.fetch.wait.max.ms)."""

pytestmark = pytest.mark.nightly


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrProposal:
    """An ISR that a leader proposes: broker epochs by broker id, and the epoch that it changes."""

    isr: dict[int, int]
    partition_epoch: int


class IsrInterference(Filter):
    """Keeps the ISRs that leaders propose, refuses them, and keeps heartbeats to itself.

    is_refusing: True to answer INELIGIBLE_REPLICA. muted: a broker whose heartbeats are answered
    as if it were not fenced, and do not reach the controller.
    """

    def __init__(self) -> None:
        self.proposals: list[IsrProposal] = []
        self.is_refusing = False
        self.muted: int | None = None

    def on_alter_partition_request(
        self, request: AlterPartitionRequest, call: Call
    ) -> Answer | None:
        self.proposals += [
            IsrProposal(
                isr={
                    state.broker_id: state.broker_epoch for state in partition.new_isr_with_epochs
                },
                partition_epoch=partition.partition_epoch,
            )
            for topic in request.topics
            for partition in topic.partitions
        ]
        if not self.is_refusing:
            return None
        refused = [
            ResponseTopicData(
                topic_id=topic.topic_id,
                partitions=[
                    ResponsePartitionData(
                        partition_index=partition.partition_index,
                        error_code=ErrorCode.INELIGIBLE_REPLICA,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return Answer(AlterPartitionResponse(topics=refused))

    def on_broker_heartbeat_request(
        self, request: BrokerHeartbeatRequest, call: Call
    ) -> Answer | None:
        if request.broker_id != self.muted:
            return None
        return Answer(BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False))


@pytest.fixture
def interference() -> IsrInterference:
    return IsrInterference()


@pytest.fixture
async def quorum(interference: IsrInterference) -> AsyncIterator[Quorum]:
    """One controller, which brokers know by the proxy's address only."""
    quorum = Quorum(1, properties=SESSION)
    listener = Listener(node_id=NODE, upstream=Address(*quorum.addresses[NODE]))
    async with Proxy([], filters=Filters([interference])) as proxy:
        address = await proxy.listen(listener)
        quorum.advertise(NODE, address.host, address.port)
        async with quorum:
            yield quorum


@pytest.fixture
async def brokers(
    kafka: Launcher, quorum: Quorum, version: str
) -> AsyncIterator[dict[int, RunningNode]]:
    java = JavaNodes(kafka, quorum, version)
    host, port = quorum.members[NODE].advertised
    known = {"controller.quorum.bootstrap.servers": f"{host}:{port}"}
    nodes = {id: java.make(id, "broker", known) for id in (LEADER, FOLLOWER)}
    try:
        await asyncio.gather(*(asyncio.to_thread(node.start) for node in nodes.values()))
        for id in nodes:
            await until_broker(quorum, id, active=True)
        yield nodes
    finally:
        await asyncio.to_thread(java.close)


def partition_of(controller: ControllerNode) -> PartitionRegistration:
    """Return the topic's partition in a controller's image."""
    topic = controller.metadata.image.topics.topic(TOPIC)
    assert topic is not None
    return topic.partitions[0]


async def stored_bytes(broker: RunningNode) -> int:
    """Return how many bytes of the topic a broker has on its disk."""
    at = broker.broker_address
    async with await Connection.open(at.host, at.port) as connection:
        answer = await connection.send(DescribeLogDirsRequest(topics=None))
    assert isinstance(answer, DescribeLogDirsResponse)
    return sum(
        partition.partition_size
        for directory in answer.results
        for topic in directory.topics
        if topic.name == TOPIC
        for partition in topic.partitions
    )


@pytest.mark.parametrize("version", ["4.3.1", "4.4.0"])
async def test_a_leader_proposes_active_replicas_only_and_reverts_what_is_refused(
    quorum: Quorum, brokers: dict[int, RunningNode], interference: IsrInterference
) -> None:
    """The leader acts as the KIP has it:

    1. A replica that has everything, but whose broker is fenced, is in no ISR that is proposed.
    2. When it is unfenced it is proposed, with its broker epoch.
    3. If that is refused with INELIGIBLE_REPLICA, the leader returns to the ISR from before: it
       proposes again from the same partition epoch, as soon as the replica fetches again.
    4. Once it is not refused, the replica is in the ISR.
    """
    both = ",".join(str(node.broker_address) for node in brokers.values())
    await asyncio.to_thread(create, both, TOPIC, 1, 2)
    leader = await quorum.active_controller()
    leading = partition_of(leader).leader
    following = next(id for id in brokers if id != leading)
    # 1.
    interference.muted = following
    await until_broker(quorum, following, active=False)
    await until_partitions(quorum, TOPIC, lambda partition: partition.isr == (leading,))
    await asyncio.to_thread(produce, both, TOPIC, 30)
    size = await stored_bytes(brokers[leading])
    assert size > 0
    await eventually(lambda: stored_bytes(brokers[following]), lambda copied: copied == size)
    interference.proposals.clear()
    await asyncio.sleep(FETCHES)
    assert interference.proposals == []
    # 2., 3.
    interference.is_refusing = True
    interference.muted = None
    await eventually(lambda: len(interference.proposals) >= 3)
    registered = leader.metadata.image.cluster.brokers
    epoch = partition_of(leader).partition_epoch
    proposal = IsrProposal(isr={id: registered[id].epoch for id in brokers}, partition_epoch=epoch)
    assert interference.proposals == [proposal] * len(interference.proposals)
    assert ErrorCode.INELIGIBLE_REPLICA.name in brokers[leading].log()
    # 4.
    interference.is_refusing = False
    await until_partitions(quorum, TOPIC, lambda partition: set(partition.isr) == set(brokers))
    assert interference.proposals[-1] == proposal
