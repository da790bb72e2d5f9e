"""docs/emergencies.md, section by section, on a cluster of Kafka's whose disks are taken away."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from kwire.net.address import Address
from real_kafka import Cluster, Launcher, Layout, RunningNode, free_port
from real_kafka.metadata_quorum import describe_status
from tests.support.admin.ghost_registration import register_ghost
from tests.support.eventually import eventually_blocking
from tests.support.page_run import PageRun
from tests.support.paths import ROOT
from tests.support.real_kafka.tcp_relay import Relay

PAGE = (ROOT / "docs/emergencies.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
DIRECTORY = "/var/lib/kafka/metadata"
YESTERDAY = """\
kwire topics create orders invoices --partitions 3 --bootstrap-server b1:9092
kwire export --bootstrap-controller c1:9093 > nightly.yaml
kwire configs set topic orders retention.ms=60000 --bootstrap-server b1:9092
kwire topics delete invoices --yes --bootstrap-server b1:9092
"""
"""The night before the section about changes."""
NOT_RUN = {"--recording": "needs a proxy before the change: tests/cli/test_log_history.py has it"}


@dataclass
class Site:
    """The page's machines: controllers c1 to c3 and broker b1. here: where its commands are typed.

    relays: hold the addresses of c1 to c3, until these change.
    """

    cluster: Cluster
    here: Path
    relays: ExitStack
    addresses: dict[int, Address]

    def node(self, node_id: int | str) -> RunningNode:
        return self.cluster.nodes[int(node_id)]

    def data(self, node_id: int | str) -> Path:
        return Path(self.node(node_id).folder) / "data"

    def lose_the_majority(self) -> None:
        """Kill all, and delete what controllers 2 and 3 have, of which one leads as on the page.

        Controller 1 has not voted in the last epoch: after such a vote it may forget the leader.
        """
        self.node(1).stop()
        first = self.node(self._leader())
        first.restart()
        first.wait_until_served()
        self.node(1).start()
        self.node(1).wait_until_served()
        leader = self._leader()
        # What is committed after the first kill is in the log of 1, too: no broker is ahead of it.
        self.node({"2": 3, "3": 2}[leader]).kill()
        before = self._high_watermark()
        eventually_blocking(self._high_watermark, lambda now: now > before)
        for node in self.cluster.controllers.values():
            node.kill()
        for node_id in (2, 3):
            shutil.rmtree(self.data(node_id))
        self.node(1).start()

    def _leader(self) -> str:
        return describe_status(self.cluster)["LeaderId"]

    def _high_watermark(self) -> int:
        return int(describe_status(self.cluster)["HighWatermark"])

    def move(self) -> None:
        """Take the controllers' addresses away; those of their own listeners are the new ones."""
        self.relays.close()
        servers = self.cluster.bootstrap_controllers
        for node in self.cluster.nodes.values():
            node.configure({"controller.quorum.bootstrap.servers": servers})
        for node in self.cluster.controllers.values():
            node.kill()
            node.advertise(node.controller_address)

    def leave_a_ghost(self) -> None:
        """Register controller 4, of Kafka 3.9, which is gone; lower a feature that it lacks."""
        at = self.node(1).controller_address
        old = {"kraft.version": (0, 1), "metadata.version": (1, 21)}
        asyncio.run(register_ghost((at.host, at.port), 4, old, free_port()))

    def run(self, heading: str, before: str = "") -> list[str]:
        """Return what goes otherwise than a section says."""
        run = PageRun(
            folder=self.here, replaced=self.replaced(), acts=self.acts(), left_out=NOT_RUN
        )
        return run.problems(SECTIONS[heading], before)

    def acts(self) -> dict[str, Callable[..., object]]:
        """Return the commands that are not kwire's, and what is done in their place."""
        here, service = self.here, " kafka  # on c(\\d)"
        return {
            f"systemctl start{service}": lambda id: self.node(id).start(),
            f"systemctl stop{service}": lambda id: self.node(id).stop(),
            f"rsync -a c(\\d):{DIRECTORY}/ (\\w+)": lambda id, name: shutil.copytree(
                self.data(id), here / name
            ),
            f"rsync -a (\\w+)/ c(\\d):{DIRECTORY}": lambda name, id: shutil.copytree(
                here / name, self.data(id), dirs_exist_ok=True
            ),
        }

    def replaced(self) -> dict[str, str]:
        """Return the page's addresses, folders, files and cluster id, and what stands for them."""
        nodes = self.cluster.controllers.items()
        folder = Path(self.node(1).folder)
        return {
            **{rf"\bc{node_id}:9093": str(address) for node_id, address in self.addresses.items()},
            **{f"new{node_id}:9093": str(node.controller_address) for node_id, node in nodes},
            "b1:9092": self.cluster.bootstrap_servers,
            r"/etc/kafka/c(\d)\.properties": rf"{folder.parent}/node-\1/server.properties",
            "/var/log/kafka/server.log": f"{folder}/node.log",
            DIRECTORY: f"{folder}/data",
            r"(-t|--cluster-id) [\w-]{22}": rf"\1 {self.cluster.cluster_id}",
        }


@pytest.fixture(scope="module")
def site(kafka: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    cluster = Cluster(kafka, Layout(controllers=(1, 2, 3), brokers=(11,)))
    with ExitStack() as relays:
        addresses = {}
        for node_id, node in cluster.controllers.items():
            addresses[node_id] = relays.enter_context(Relay(node.controller_address)).address
            node.advertise(addresses[node_id])
        with cluster:
            yield Site(cluster, tmp_path_factory.mktemp("here"), relays, addresses)


@pytest.mark.real
def test_the_page_brings_a_quorum_back(site: Site) -> None:
    site.lose_the_majority()
    assert site.run("Look first") == []
    assert site.run("The majority is gone") == []
    assert site.run("The quorum is stuck") == []
    site.leave_a_ghost()
    lowered = "kwire features downgrade share.version=0 --yes --bootstrap-controller c1:9093"
    assert site.run("A controller that is gone blocks an upgrade", lowered) == []
    assert site.run("Something was changed", YESTERDAY) == []
    site.move()
    assert site.run("The addresses have changed") == []
