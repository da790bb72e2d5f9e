"""A controller that waits for ZooKeeper's metadata, migrates, and has migrated answers as Kafka's.

A real controller of 3.9.1 with a real ZooKeeper, in which nothing but one broker's id stands; the
same requests go to kwire's (KIP-866).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from kwire.batches import read_batches
from kwire.batches.metadata_records import read_metadata_record
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.node import ControllerNode
from kwire.error_codes import ErrorCode
from kwire.errors import AnswerLost
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a62_broker_registration import BrokerRegistrationResponse
from kwire.messages.a67_allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.migration.node.extension import MigrationExtension
from kwire.migration.node.writer import MigrationWriter
from kwire.net.connection import Connection
from kwire.net.negotiation import VersionRange
from kwire.testing.local_kafka.launcher import Site
from real_kafka.choice import Launcher
from real_kafka.zookeeper import ZooKeeperServer
from tests.support.controller.live.admin_session import Step, leader_of
from tests.support.controller.live.answer_differences import differences, flat
from tests.support.controller.live.java_nodes import segment
from tests.support.controller.live.static_controller import ID, StaticJava, StaticKwire
from tests.support.migration.migration_script import (
    changes,
    heartbeat,
    registration,
    registrations,
)

pytestmark = pytest.mark.nightly

VERSION, RELEASE = "3.9.1", "3.9"
GATE = "The controller is in pre-migration mode."
ENABLE = "zookeeper.metadata.migration.enable"
PATIENCE = 120.0
"""Seconds for a migration: the driver looks for its brokers less and less often."""

VERSIONS = ApiVersionsRequest(client_software_name="kwire", client_software_version="1")

ANY_TIME = {"NoOp", "RegisterController"}
"""Written when it suits the controller: in a pause, or when it has registered itself."""


@dataclass(slots=True, kw_only=True)
class Answers:
    """The answers of one controller: fields by state and request; the requests that met the gate.

    ready: the tag ZkMigrationReady of its ApiVersions, by state.
    """

    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    ready: dict[str, bool] = field(default_factory=dict)

    async def ask(self, address: tuple[str, int], state: str, steps: Iterable[Step]) -> None:
        """Send requests to the leader in one state; a closed connection is an answer, too."""
        await leader_of({ID: address})
        connection = await Connection.open(*address)
        try:
            offered = await connection.send(VERSIONS, 3)
            assert isinstance(offered, ApiVersionsResponse)
            self.ready[state] = offered.zk_migration_ready
            for step in steps:
                name = f"{state}: {step.name}"
                if connection.closed:
                    connection = await Connection.open(*address)
                try:
                    answer = await connection.send(step.request, step.version, timeout=60)
                except AnswerLost:
                    self.fields[name] = {"answer": "none"}
                    continue
                self.fields[name] = flat(answer, ID)
                if GATE in repr(answer):
                    self.gated.add(name)
        finally:
            await connection.close()


async def supported(address: tuple[str, int]) -> dict[int, VersionRange]:
    """Return the versions of each API that a controller answers."""
    await leader_of({ID: address})
    async with await Connection.open(*address) as connection:
        answer = await connection.send(VERSIONS, 3)
    assert isinstance(answer, ApiVersionsResponse)
    ranges = {
        api.api_key: VersionRange(api.min_version, api.max_version) for api in answer.api_keys
    }
    return defaultdict(lambda: VersionRange(0, -1), ranges)


def script(cluster_id: str, versions: Mapping[int, VersionRange]) -> list[Step]:
    """Return the requests of one state, in versions that are there."""
    return [
        step
        for step in (*changes(), *registrations(cluster_id))
        if step.version is None or step.version in versions[type(step.request).key or 0]
    ]


async def be_broker(address: tuple[str, int], cluster_id: str) -> None:
    """Register as the broker with ZooKeeper, and be unfenced."""
    await leader_of({ID: address})
    async with await Connection.open(*address) as connection:
        answer = await connection.send(registration(cluster_id), timeout=60)
        assert isinstance(answer, BrokerRegistrationResponse)
        assert answer.error_code == ErrorCode.NONE
        await connection.send(heartbeat(answer.broker_epoch), timeout=60)


async def until_migrated(address: tuple[str, int]) -> None:
    """Wait until the gate is open."""
    async with asyncio.timeout(PATIENCE), await Connection.open(*address) as connection:
        while True:
            answer = await connection.send(AllocateProducerIdsRequest(broker_id=99))
            assert isinstance(answer, AllocateProducerIdsResponse)
            if answer.error_code != ErrorCode.NOT_CONTROLLER:
                return
            await asyncio.sleep(0.1)


def records(data: Path) -> list[tuple[str, int, int | None]]:
    """Return the type, version and state of every record of a log."""
    found = []
    for batch in read_batches(segment(data).read_bytes()):
        for record in batch.records() if not batch.is_control else ():
            metadata = read_metadata_record(record.value or b"")
            kind = type(metadata.record).__name__.removesuffix("Record")
            state = None
            if isinstance(metadata.record, ZkMigrationStateRecord):
                state = metadata.record.zk_migration_state
            if kind not in ANY_TIME:
                found.append((kind, metadata.version, state))
    return found


def settings(connect: str) -> dict[str, str]:
    return {"broker.session.timeout.ms": "3600000", ENABLE: "true", "zookeeper.connect": connect}


@pytest.fixture
def site(kafka: Launcher) -> Iterator[Site]:
    site = kafka.site(VERSION, lambda text: None)
    yield site
    site.close()


Ranges = Mapping[int, VersionRange]


async def play_java(java: StaticJava, zookeeper: ZooKeeperServer) -> tuple[Answers, Ranges]:
    """Have Kafka's controller wait, migrate, finalise, and start with the setting once more."""
    (voter,) = java.quorum.voters
    address, cluster_id = (voter.address.host, voter.address.port), java.quorum.cluster_id
    found = Answers()
    await asyncio.to_thread(java.node.start)
    versions = await supported(address)
    steps = script(cluster_id, versions)
    await be_broker(address, cluster_id)
    await found.ask(address, "before", steps)
    await asyncio.to_thread(appear, zookeeper.connect)
    await until_migrated(address)
    await found.ask(address, "in", steps)
    for state, enabled in (("after", ""), ("after, with the setting", "true")):
        await asyncio.to_thread(java.node.stop)
        java.node.configure({ENABLE: enabled})
        await asyncio.to_thread(java.node.start)
        await found.ask(address, state, steps)
    return found, versions


def appear(connect: str) -> None:
    """Make the znodes of a broker, and of a controller that has been there."""
    client = KazooClient(connect)
    client.start()
    client.create("/controller_epoch", b"1")
    client.create("/brokers/ids/1", b"{}", makepath=True)
    client.stop()
    client.close()


def migrating_node(config: NodeConfig) -> ControllerNode:
    return ControllerNode(config, extension=MigrationExtension.of(config))


async def play_kwire(kwire: StaticKwire, versions: Ranges) -> Answers:
    """Have kwire's controller do the same, with a copy of nothing."""
    (voter,) = kwire.quorum.voters
    address, cluster_id = (voter.address.host, voter.address.port), kwire.quorum.cluster_id
    found, steps = Answers(), script(cluster_id, versions)
    async with migrating_node(kwire.config) as node:
        await be_broker(address, cluster_id)
        await found.ask(address, "before", steps)
        writer = MigrationWriter(node.metadata, node.runtime)
        await writer.begin(node.raft.epoch)
        await writer.complete(node.raft.epoch)
        await found.ask(address, "in", steps)
    finalised = NodeConfig.of({**kwire.config.static, ENABLE: "false"})
    for state, config in (("after", finalised), ("after, with the setting", kwire.config)):
        async with migrating_node(config):
            await found.ask(address, state, steps)
    return found


OWN_TEXT = {"before: AlterClientQuotas with more content"}
"""Java's request gives the sentence of NOT_CONTROLLER, not that of the exception."""


DESCRIBED = {
    **{f"DescribeDelegationToken v{version}, empty": 64 for version in (1, 2, 3)},
    "DescribeUserScramCredentials v0, empty": 0,
}
"""Requests that kwire's controller carries out, and none of Kafka's though KIP-919 lists them."""


def codes(fields: Mapping[str, Any]) -> set[int]:
    """Return the error codes of an answer, without 0."""
    return {value for path, value in fields.items() if path.endswith("error_code") and value}


def unlike(ours: Answers, theirs: Answers) -> dict[str, Any]:
    """Return the differences by request.

    Of UpdateFeatures only the codes count: since 4.0 one stands for all features (KIP-584).
    """
    found: dict[str, Any] = {}
    for name, fields in theirs.fields.items():
        own = ours.fields[name]
        if "UpdateFeatures" in name:
            if codes(own) != codes(fields):
                found[name] = codes(own), codes(fields)
        elif difference := differences(own, fields):
            found[name] = difference
    return found


async def test_answers_and_records_are_those_of_kafkas_controller_in_every_state(
    site: Site, kafka: Launcher, tmp_path: Path
) -> None:
    with ZooKeeperServer() as zookeeper:
        java = StaticJava(site, RELEASE, settings(zookeeper.connect))
        theirs, versions = await play_java(java, zookeeper)
        await asyncio.to_thread(java.node.stop)
    kwire = StaticKwire(tmp_path, RELEASE, settings("127.0.0.1:9"))
    ours = await play_kwire(kwire, versions)

    assert unlike(ours, theirs) == {
        f"{state}: {name}": {"error_code": (code, -1)}
        for state in theirs.ready
        for name, code in DESCRIBED.items()
    }
    assert ours.gated - theirs.gated == OWN_TEXT
    assert theirs.gated <= ours.gated
    assert len(theirs.gated) > 10
    assert ours.ready == theirs.ready
    assert records(kwire.data) == records(java.data)
