"""A lone controller of static voters, formatted at any metadata.version: kwire's or Kafka's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from kwire.controller.server.config.node_config import NodeConfig
from kwire.logdir.format import FormatOptions, plan, write
from kwire.net.address import Address
from kwire.testing.local_kafka.address import free_port
from kwire.testing.local_kafka.launcher import Site
from kwire.testing.local_kafka.node import KafkaNode, KafkaVoter, KnownQuorum, random_uuid
from kwire.testing.local_kafka.running import RunningNode

ID = 3000


def known_quorum(at: Address) -> KnownQuorum:
    """Return a new cluster whose only voter, by everybody's configuration, is at an address."""
    voter = KafkaVoter(node_id=ID, directory_id="", address=at)
    return KnownQuorum(cluster_id=random_uuid(), voters=(voter,), static=True)


def formatted(quorum: KnownQuorum, data: Path, release: str, more: Mapping[str, str]) -> NodeConfig:
    """Format the directory of the voter for a release; return the configuration of its node."""
    (voter,) = quorum.voters
    properties = {
        "process.roles": "controller",
        "node.id": str(ID),
        "log.dirs": str(data),
        "listeners": f"CONTROLLER://{voter.address}",
        "controller.listener.names": "CONTROLLER",
        **quorum.properties(),
        **more,
    }
    config = NodeConfig.of(properties)
    options = FormatOptions(cluster_id=quorum.cluster_id, release_version=release)
    write(plan(config.storage, options), datetime.now(UTC))
    return config


class StaticKwire:
    """A controller of kwire's that is to be run as `ControllerNode(config)`."""

    def __init__(self, folder: Path, release: str, properties: Mapping[str, str]) -> None:
        self.quorum = known_quorum(Address("127.0.0.1", free_port()))
        self.data = folder / "kwire"
        self.config = formatted(self.quorum, self.data, release, properties)


class StaticJava:
    """A controller of Kafka's; start its `node`."""

    def __init__(self, site: Site, release: str, properties: Mapping[str, str]) -> None:
        machine = site.machine(ID)
        listeners = site.listeners(ID, ("controller",))
        self.quorum = known_quorum(listeners[0].advertised)
        node = KafkaNode(
            node_id=ID,
            roles=("controller",),
            listeners=listeners,
            quorum=self.quorum,
            folder=machine.folder,
            properties=properties,
        )
        self.data = Path(machine.folder) / "data"
        formatted(self.quorum, self.data, release, properties)
        self.node = RunningNode(node, machine, lambda text: None)
