"""Static voters, two of kwire's and one of Kafka's, become dynamic while they run (KIP-853)."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.node import ControllerNode
from kwire.error_codes import ErrorCode
from kwire.logdir.format import FormatOptions, plan, write
from kwire.messages.a57_update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kwire.messages.metadata_versions import KRAFT_VERSION
from kwire.net.connection import Connection
from kwire.testing.local_kafka.node import KafkaNode, KafkaVoter, KnownQuorum, random_uuid
from real_kafka import Address, Launcher, RunningNode, free_port
from tests.support.controller.live.java_nodes import (
    log_bytes,
    until_active,
    until_caught_up,
    until_voters,
)

OURS, JAVA, JOINING = (3000, 3001), 3200, 3100


class StaticQuorum:
    """The endpoints of static voters, in every node's configuration; their directories are not."""

    def __init__(self, kafka: Launcher, folder: Path) -> None:
        self._folder = folder
        self.site = kafka.site("4.3.1", lambda text: None)
        listeners = self.site.listeners(JAVA, ("controller",))
        ours = {id: Address("127.0.0.1", free_port()) for id in OURS}
        addresses = {**ours, JAVA: listeners[0].advertised}
        voters = tuple(
            KafkaVoter(node_id=id, directory_id="", address=at) for id, at in addresses.items()
        )
        self.quorum = KnownQuorum(cluster_id=random_uuid(), voters=voters, static=True)
        machine = self.site.machine(JAVA)
        node = KafkaNode(
            node_id=JAVA,
            roles=("controller",),
            listeners=listeners,
            quorum=self.quorum,
            folder=machine.folder,
        )
        self.java = RunningNode(node, machine, lambda text: None)

    def voter(self, id: int) -> ControllerNode:
        """A controller of kwire's that votes from the start."""
        (at,) = (voter.address for voter in self.quorum.voters if voter.node_id == id)
        return self._node(
            id,
            at,
            self.quorum.properties(),
            FormatOptions(cluster_id=self.quorum.cluster_id),
        )

    def joining(self) -> ControllerNode:
        """A controller of kwire's that wants to vote."""
        found = {
            "controller.quorum.bootstrap.servers": self.quorum.bootstrap_servers,
            "controller.quorum.auto.join.enable": "true",
        }
        options = FormatOptions(cluster_id=self.quorum.cluster_id, no_initial_controllers=True)
        return self._node(JOINING, Address("127.0.0.1", free_port()), found, options)

    def _node(
        self, id: int, at: Address, found: dict[str, str], options: FormatOptions
    ) -> ControllerNode:
        config = NodeConfig.of(
            {
                "process.roles": "controller",
                "node.id": str(id),
                "log.dirs": str(self.data(id)),
                "listeners": f"CONTROLLER://{at}",
                "controller.listener.names": "CONTROLLER",
                **found,
            }
        )
        write(plan(config.storage, options), datetime.now(UTC))
        return ControllerNode(config, metered=True)

    def data(self, id: int) -> Path:
        """Return the folder of a node's log."""
        return Path(self.java.folder) / "data" if id == JAVA else self._folder / f"node-{id}"

    def quorum_state(self, id: int) -> int:
        """The version that a node's quorum-state is written at."""
        file = self.data(id) / "__cluster_metadata-0" / "quorum-state"
        version: int = json.loads(file.read_text())["data_version"]
        return version


@pytest.fixture
def static(kafka: Launcher, tmp_path: Path) -> Iterator[StaticQuorum]:
    quorum = StaticQuorum(kafka, tmp_path)
    yield quorum
    quorum.site.close()


async def upgrade(leader: ControllerNode) -> int:
    """Ask for kraft.version 1; the error code."""
    update = FeatureUpdateKey(feature=KRAFT_VERSION, max_version_level=1)
    listener = leader.config.listeners[0]
    async with await Connection.open("127.0.0.1", listener.port) as connection:
        answer = await connection.send(UpdateFeaturesRequest(feature_updates=[update]))
    assert isinstance(answer, UpdateFeaturesResponse)
    return answer.error_code


def asked(node: ControllerNode, api: str) -> float:
    """Return the number of requests of an API that a controller has answered."""
    assert node.requests is not None
    return sum(
        sample.value
        for metric in node.requests.collect()
        for sample in metric.samples
        if sample.name.endswith("requests_total") and sample.labels["request"] == api
    )


async def test_static_voters_become_dynamic_and_an_observer_joins_only_then(
    static: StaticQuorum,
) -> None:
    async with contextlib.AsyncExitStack() as running:
        ours = [await running.enter_async_context(static.voter(id)) for id in OURS]
        leader = await until_active(*ours)
        joining = await running.enter_async_context(static.joining())
        assert await upgrade(leader) == ErrorCode.INVALID_UPDATE_VERSION, "Kafka's is not there"

        await asyncio.to_thread(static.java.start)
        await until_caught_up(leader, JAVA)
        await until_caught_up(leader, JOINING)
        assert (joining.raft.kraft_version, asked(leader, "AddRaftVoter")) == (0, 0)
        async with asyncio.timeout(60):
            while await upgrade(leader) != ErrorCode.NONE:
                assert leader.raft.role == "leader"
                await asyncio.sleep(0.2)  # until Kafka's voter has told its directory

        await until_voters(leader, {*OURS, JAVA, JOINING})
        keys = {key.id: key.directory_id for key in leader.raft.voters.keys}
        assert None not in keys.values()
        assert asked(leader, "AddRaftVoter") >= 1
        end = leader.raft.high_watermark or 0
        for id in (*OURS, JAVA, JOINING):
            await until_caught_up(leader, id)
        assert len({log_bytes(static.data(id), end) for id in (*OURS, JAVA, JOINING)}) == 1

        await leader.kill()
        (other,) = (node for node in ours if node is not leader)
        async with asyncio.timeout(60):
            await other.metadata.until(
                lambda: other.raft.epoch > leader.raft.epoch and other.raft.leader_id is not None
            )
            while True:
                if static.quorum_state(JAVA) == 1:
                    break
                await asyncio.sleep(0.1)
        assert static.quorum_state(other.node_id) == 1
        assert static.java.alive
