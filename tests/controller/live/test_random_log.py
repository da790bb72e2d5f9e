"""Kafka's controller and broker start on what kwire's controller wrote of random requests."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from kwire.batches.metadata_records import read_metadata_record
from kwire.codec.declaration import Request
from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.controller.raft import OffsetAndEpoch
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.node import ControllerNode
from kwire.errors import AnswerLost, ConnectionFailed
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.logdir.format import FormatOptions, plan, write
from kwire.logdir.log import MetadataLog
from kwire.logdir.names import METADATA_FOLDER
from kwire.logdir.snapshots import load_snapshot
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.forwarding import FORWARDABLE
from kwire.net.connection import Connection
from kwire.net.service import ANONYMOUS
from kwire.testing.local_kafka.node import KafkaVoter, KnownQuorum, random_uuid
from kwire.text.properties import parse_properties
from real_kafka import Layout, RunningNode
from tests.support.controller.live.session.envelopes import enveloped
from tests.support.controller.random_requests import SECRET, RandomRequests
from tests.support.controller.same_image import differences
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.seed import SEED

CONTROLLER, BROKER = 3000, 50
REQUESTS, FIRST = 800, 40
"""The first ones bring brokers."""
LATEST: dict[type[Request], int] = {BrokerRegistrationRequest: 4, BrokerHeartbeatRequest: 2}
LAYOUT = Layout(
    controllers=(CONTROLLER,),
    brokers=(BROKER,),
    properties={
        "authorizer.class.name": CLASS_NAME,
        "super.users": "User:ANONYMOUS",
        "delegation.token.secret.key": SECRET,
        "controller.quorum.election.timeout.ms": "200",
        "controller.quorum.fetch.timeout.ms": "500",
        "controller.quorum.request.timeout.ms": "1000",
        "metadata.log.max.record.bytes.between.snapshots": "10000",
    },
)
LOST = (
    "+ VersionedRecord(record=ConfigRecord(resource_type=2,",
    "- VersionedRecord(record=UserScramCredentialRecord(",
)
"""Differences that a node of Kafka's makes if it reads much at once.

ConfigurationsDelta keeps the configuration of a topic that comes and goes within one delta;
ScramDelta loses a credential that follows the removal of the last one.
"""


async def play(node: ControllerNode, cluster_id: str, seed: int) -> None:
    """Have a controller answer random requests, and raft's among them."""
    random = Random(seed)
    requests = RandomRequests(random, cluster_id)
    requests.directory_id = node.log.directory_id
    address = "127.0.0.1", node.config.listeners[0].port
    connection = await Connection.open(*address)
    for number in range(REQUESTS):
        await node.metadata.until(lambda: node.metadata.is_active)
        image = node.metadata.image
        if number < FIRST:
            kind = random.choice((BrokerRegistrationRequest, BrokerHeartbeatRequest))
            request, version = requests.draw(kind, LATEST[kind], image, 0.0), LATEST[kind]
        elif random.random() < 0.1:
            request, version = requests.next_of_raft(image, node.raft.epoch)
        else:
            request, version = requests.next(image)
        # Some come through a broker: they may be about delegation tokens.
        is_forwarded = type(request).key in FORWARDABLE and random.random() < 0.3
        if is_forwarded:
            request, version = enveloped(request, ANONYMOUS, version=version), 0
        if connection.closed:  # as Kafka does for some requests
            connection = await Connection.open(*address)
        with suppress(AnswerLost, ConnectionFailed):
            await connection.send(request, version, timeout=5)
    await connection.close()


def start(node: RunningNode) -> None:
    node.start()
    if node.node_id == CONTROLLER:
        node.wait_until_served()
    else:
        node.wait_until_it_lists(1)


def folder(node: RunningNode) -> Path:
    return Path(node.folder, "data", METADATA_FOLDER)


def snapshot(node: RunningNode) -> tuple[OffsetAndEpoch, MetadataImage]:
    """Return the id and the image of the newest snapshot of a node."""
    found = newest(node)
    content = load_snapshot(folder(node), found)
    return found, apply_all(EMPTY, content.records)


def newest(node: RunningNode) -> OffsetAndEpoch:
    """Return the id of the newest snapshot of a node."""
    names = (path.stem.split("-") for path in folder(node).glob("*.checkpoint"))
    return max(OffsetAndEpoch(offset=int(offset), epoch=int(epoch)) for offset, epoch in names)


def wait_for_snapshot(node: RunningNode, offset: int) -> None:
    """Wait until a node has written a snapshot behind an offset."""
    eventually_blocking(lambda: newest(node), lambda found: found.offset > offset)


def image_at(log_folder: Path, end: int) -> MetadataImage:
    """Return the image that kwire makes of a log up to an offset."""
    with MetadataLog.open(log_folder) as log:
        return apply_all(
            EMPTY,
            [
                read_metadata_record(record.value or b"")
                for batch in log.batches(0)
                if not batch.is_control and batch.last_offset < end
                for record in batch.records()
            ],
        )


@pytest.mark.parametrize(
    "seed",
    [SEED, *(pytest.param(SEED + i, marks=pytest.mark.nightly) for i in range(1, 20))],
)
async def test_kafkas_nodes_start_and_have_the_same_image(
    own_cluster: OwnCluster, seed: int
) -> None:
    cluster = own_cluster(LAYOUT)
    controller, broker = cluster.nodes[CONTROLLER], cluster.nodes[BROKER]
    voter = KafkaVoter(
        node_id=CONTROLLER, directory_id=random_uuid(), address=controller.quorum_address
    )
    for node in cluster.nodes.values():
        node.join(KnownQuorum(cluster_id=cluster.cluster_id, voters=(voter,)))
    config = NodeConfig.of(parse_properties(controller.server_properties))
    options = FormatOptions(cluster_id=cluster.cluster_id, standalone=True)
    write(plan(config.storage, options), datetime.now(UTC))
    async with ControllerNode(config) as ours:
        await play(ours, cluster.cluster_id, seed)
        written = ours.raft.end_offset

    assert newest(controller).offset > 0, "kwire wrote a snapshot"
    for node in (controller, broker):
        node.configure({"metadata.log.max.record.bytes.between.snapshots": "100"})
        await asyncio.to_thread(start, node)
    for node in (broker, controller):
        await asyncio.to_thread(wait_for_snapshot, node, written)
        await asyncio.to_thread(node.stop)
    for node in (broker, controller):
        found, image = snapshot(node)
        told = differences(image_at(folder(controller), found.offset), image)
        assert [line for line in told if not line.startswith(LOST)] == []
