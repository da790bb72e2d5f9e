"""docs/emergencies.md, from top to bottom, on a cluster of Kafka's whose disks are taken away."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kwire.net.address import Address
from real_kafka import Cluster, Launcher, Layout, RunningNode, free_port
from tests.support.page_run import PageRun
from tests.support.paths import ROOT

PAGE = (ROOT / "docs/emergencies.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
DIRECTORY = "/var/lib/kafka/metadata"
IDS = (1, 2, 3)


@dataclass
class Site:
    """The page's machines: controllers c1 to c3 and broker b1. here: where its commands are typed.

    moved: the new addresses new1 to new3.
    """

    cluster: Cluster
    here: Path
    moved: dict[int, Address] = field(
        default_factory=lambda: {
            node_id: Address("127.0.0.1", free_port()) for node_id in (1, 2, 3)
        }
    )

    def node(self, node_id: int | str) -> RunningNode:
        return self.cluster.nodes[int(node_id)]

    def data(self, node_id: int | str) -> Path:
        return Path(self.node(node_id).folder) / "data"

    def lose_the_majority(self) -> None:
        for node in self.cluster.controllers.values():
            node.kill()
        for node_id in (2, 3):
            shutil.rmtree(self.data(node_id))
        self.node(1).start()

    def move(self) -> None:
        """Give each controller another address; none finds the others from its next start on."""
        servers = ",".join(map(str, self.moved.values()))
        for node in self.cluster.nodes.values():
            node.configure({"controller.quorum.bootstrap.servers": servers})
        for node_id, node in self.cluster.controllers.items():
            node.kill()
            node.move(self.moved[node_id])

    def run(self, heading: str) -> list[str]:
        """Return what goes otherwise than a section says."""
        run = PageRun(folder=self.here, replaced=self.replaced(), acts=self.acts())
        return run.problems(SECTIONS[heading])

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
        cluster = self.cluster
        nodes = cluster.controllers.items()
        return {
            **{f"c{node_id}:9093": str(node.controller_address) for node_id, node in nodes},
            **{f"new{node_id}:9093": str(address) for node_id, address in self.moved.items()},
            "b1:9092": cluster.bootstrap_servers,
            **{
                f"/etc/kafka/server-{node_id}.properties": f"{node.folder}/server.properties"
                for node_id, node in nodes
            },
            DIRECTORY: str(self.data(1)),
            r"(-t|--cluster-id) [\w-]{22}": rf"\1 {cluster.cluster_id}",
        }


@pytest.fixture(scope="module")
def site(kafka: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    layout = Layout(controllers=IDS, brokers=(11,))
    with Cluster(kafka, layout) as cluster:
        yield Site(cluster, tmp_path_factory.mktemp("here"))


@pytest.mark.real
def test_the_page_brings_a_quorum_back(site: Site) -> None:
    site.lose_the_majority()
    assert site.run("Look first") == []
    assert site.run("The majority is gone") == []
    site.move()
    assert site.run("The addresses have changed") == []
