"""One session of an operator with real Kafka, from formatting on, with nothing but `kwire`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwire.admin.reassignment.journal import VARIABLE
from real_kafka import Cluster, Layout, RunningNode
from tests.support.cli.command import Command, Run
from tests.support.cli.quorum_tool import changed
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.real_kafka.producer_beside import ProducerBeside, consumed

LAYOUT = Layout(
    controllers=(3000, 3001, 3002),
    brokers=(1, 2, 3),
    version="4.4.0",
    properties={"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"},
)
PARTITIONS = 6
PATIENCE = 120.0
HARMLESS = ("ok", "info")


class Operator:
    """Operates a cluster by commands; knows the addresses of the controllers that run."""

    def __init__(self, kwire: Command, cluster: Cluster) -> None:
        self._kwire = kwire
        self._cluster = cluster

    def __call__(self, *arguments: str) -> Run:
        """Run a command that must work."""
        run = self._kwire(*arguments)
        assert run.code == 0, run.out + run.err
        return run

    def change_voters(self, *arguments: str) -> Run:
        """Add or remove a controller; again where another change was pending."""
        run = changed(self._kwire, *arguments)
        assert run.code == 0, run.err
        return run

    def refused(self, *arguments: str) -> str:
        """Run a command that must be refused; return the sentence."""
        run = self._kwire(*arguments)
        assert run.code == 1, run.out
        return run.error

    @property
    def controllers(self) -> tuple[str, str]:
        """The option for the controllers that run."""
        running = [node for node in self._cluster.controllers.values() if node.alive]
        return "--bootstrap-controller", ",".join(str(node.address) for node in running)

    @property
    def brokers(self) -> tuple[str, str]:
        """The option for the brokers that run."""
        running = [node for node in self._cluster.brokers.values() if node.alive]
        return "--bootstrap-server", ",".join(str(node.address) for node in running)

    def format(self, node: RunningNode, *voters: str) -> None:
        """Format a node's directory before its first start."""
        file = Path(node.folder, "server.properties")
        file.write_text(node.server_properties)
        self(
            *("storage", "format", "-c", str(file), "-t", self._cluster.cluster_id),
            *("--release-version", "4.4"),
            *voters,
        )

    def finds(self, *ids: str) -> dict[str, str]:
        """Run the doctor until exactly these are no good news; return all sentences by id."""
        exact = set(ids)
        run = eventually_blocking(
            lambda: self._kwire("doctor", *self.controllers, "--json"),
            lambda run: bad(run) == exact,
            timeout=PATIENCE,
            pause=0.5,
        )
        findings = run.json["findings"]
        assert run.code == any(finding["verdict"] == "problem" for finding in findings)
        return {finding["id"]: finding["sentence"] for finding in findings}

    def may_restart(self, node_id: int) -> None:
        """Wait until the check says that a majority keeps up without this controller."""
        check = ("quorum", "check", "--without", str(node_id))
        eventually_blocking(
            lambda: self._kwire(*check, *self.controllers), lambda run: run.code == 0
        )

    @property
    def leader(self) -> int:
        """The id of the leader."""
        status = self("quorum", "status", *self.brokers, "--json").json
        assert isinstance(status["leaderId"], int)
        return status["leaderId"]

    @property
    def voters(self) -> set[int]:
        """The ids of the voters."""
        status = self("quorum", "status", *self.brokers, "--json").json
        return {voter["id"] for voter in status["currentVoters"]}


def bad(run: Run) -> set[str]:
    """Return the ids of findings that are no good news."""
    return {finding["id"] for finding in run.json["findings"] if finding["verdict"] not in HARMLESS}


@pytest.fixture
def cluster(own_cluster: OwnCluster) -> Cluster:
    """Addresses and properties; nothing is formatted, and nothing runs."""
    return own_cluster(LAYOUT)


@pytest.fixture
def operator(
    kwire: Command, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Operator:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return Operator(kwire, cluster)


@pytest.mark.nightly
def test_a_cluster_is_operated_by_kwire_alone(operator: Operator, cluster: Cluster) -> None:
    """While a producer runs; doctor names the fault of each step, and no record is lost."""
    _boot(operator, cluster)
    with ProducerBeside(cluster.bootstrap_servers, "orders", PARTITIONS) as beside:
        _grow_to_five(operator, cluster)
        _a_voter_dies_and_comes_back(operator, cluster)
        _shrink_to_three_without_the_leader(operator, cluster)
        _a_broker_dies_and_comes_back(operator, cluster)
        _drain_a_broker(operator, cluster)
        operator.finds()
    assert operator("doctor", *operator.brokers, "--json").json["warnings"] == 0
    assert beside.failures == []
    assert beside.acknowledged <= consumed(operator.brokers[1], "orders", len(beside.acknowledged))


def _boot(operator: Operator, cluster: Cluster) -> None:
    """Format all nodes, start them, create a topic."""
    cluster.cluster_id = operator("storage", "random-uuid").out.strip()
    directories = {n: operator("storage", "random-uuid").out.strip() for n in LAYOUT.controllers}
    voters = (f"{n}@{cluster.nodes[n].address}:{id}" for n, id in directories.items())
    first = ("--initial-controllers", ",".join(voters))
    for node in cluster.nodes.values():
        operator.format(node, *(first if node.node_id in directories else ()))
    cluster.start()
    assert {n: cluster.nodes[n].directory_id for n in directories} == directories
    operator(
        *("topics", "create", "orders", "-p", str(PARTITIONS), "-r", "2"),
        *("-c", "min.insync.replicas=2", *operator.brokers),
    )
    found = operator.finds()
    assert "3 of 3 voters caught up" in found["quorum/ok"]
    assert found["brokers/ok"] == "3 brokers, none fenced"


def _grow_to_five(operator: Operator, cluster: Cluster) -> None:
    """Start two controllers and have them vote, by a controller and by a broker."""
    for node_id in (3003, 3004):
        node = cluster.add_node(node_id)
        operator.format(node, "--no-initial-controllers")
        node.start()
    operator.finds("voters/observer-could-vote")
    operator.change_voters("add-controller", "3003", *operator.controllers)
    found = operator.finds("voters/observer-could-vote")
    assert found["voters/observer-could-vote"].startswith("controller 3004 follows the leader")
    assert "quorum/even-voters" in found
    operator.change_voters("add-controller", "3004", *operator.brokers)
    assert "5 of 5 voters caught up" in operator.finds()["quorum/ok"]
    assert operator.voters == {3000, 3001, 3002, 3003, 3004}


def _a_voter_dies_and_comes_back(operator: Operator, cluster: Cluster) -> None:
    node = cluster.nodes[3004]
    node.kill()
    found = operator.finds("quorum/voter-silent", "endpoints/nobody-answers")
    assert found["quorum/voter-silent"].startswith("voter 3004 ")
    operator.may_restart(operator.leader)
    node.start()
    operator.finds()


def _shrink_to_three_without_the_leader(operator: Operator, cluster: Cluster) -> None:
    """Remove the leader, which runs, and one of the first voters, which is dead."""
    leader = operator.leader
    dead = next(n for n in LAYOUT.controllers if n != leader)
    run = operator.change_voters("remove-controller", str(leader), "--yes", *operator.controllers)
    assert f"controller {leader} leads: it resigns, and another voter is elected" in run.err
    found = operator.finds("voters/observer-could-vote")
    assert found["voters/observer-could-vote"].startswith(f"controller {leader} follows")
    assert operator.leader != leader
    forget = ("quorum", "forget", "--yes")
    sentence = operator.refused(*forget, str(leader), *operator.controllers)
    assert f"controller {leader} fetched from the leader" in sentence
    sentence = operator.refused(*forget, "3003", *operator.brokers)
    assert "controller 3003 is a voter" in sentence
    cluster.nodes[dead].kill()
    operator.finds(
        "voters/observer-could-vote",
        *("quorum/voter-silent", "quorum/no-spare", "endpoints/nobody-answers"),
    )
    operator.change_voters("remove-controller", str(dead), "--yes", *operator.controllers)
    operator.finds("voters/observer-could-vote", "registrations/stale")
    cluster.nodes[leader].stop()
    operator.finds("registrations/stale")
    operator(*forget, str(leader), str(dead), *operator.controllers)
    assert "3 of 3 voters caught up" in operator.finds()["quorum/ok"]
    assert operator.voters == {3000, 3001, 3002, 3003, 3004} - {leader, dead}


def _a_broker_dies_and_comes_back(operator: Operator, cluster: Cluster) -> None:
    """Nobody can produce to partitions that have it as replica until it is back."""
    cluster.nodes[3].kill()
    found = operator.finds(
        "brokers/fenced", "partitions/under-replicated", "partitions/under-min-isr"
    )
    assert found["brokers/fenced"].startswith("broker 3 is fenced")
    sentence = operator.refused("brokers", "unregister", "3", "--yes", *operator.controllers)
    assert sentence.startswith("broker 3 is a replica of ")
    cluster.nodes[3].start()
    operator.finds()


def _drain_a_broker(operator: Operator, cluster: Cluster) -> None:
    """Move all replicas off broker 3, stop it, and have the cluster forget it."""
    reassign = ("partitions", "reassign")
    plan = (*reassign, "plan", "--drain", "3", "--out", "plan.json")
    operator(*plan, *operator.brokers)
    operator(
        *(*reassign, "apply", "plan.json", "--throttle", "5000000", "--yes"), *operator.brokers
    )
    operator.finds()
    unregister = ("brokers", "unregister", "3", "--yes")
    assert "is not fenced" in operator.refused(*unregister, *operator.controllers)
    cluster.nodes[3].stop()
    found = operator.finds("brokers/fenced")
    assert "; 0 partitions list it" in found["brokers/fenced"]
    operator(*unregister, *operator.controllers)
    assert operator.finds()["brokers/ok"] == "2 brokers, none fenced"
