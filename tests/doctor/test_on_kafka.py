"""Real Kafka brought into the states that operators suffer from, one after the other.

One cluster goes through all of them, since starting another costs more than a step: each step
names what doctor finds, mends it, and the next one begins where nothing is wrong.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from kwire.admin import AdminClient, RaftVoterEndpoint
from kwire.doctor.evidence import Evidence
from kwire.doctor.examine import examine
from kwire.doctor.finding import Finding, FindingVerdict
from kwire.doctor.gather import gather, gather_briefly
from kwire.doctor.quorum_check import takes_part, without
from kwire.net.address import Address
from kwire.testing.local_kafka.node import KafkaVoter, KnownQuorum
from kwire.testing.local_kafka.running import RunningNode
from kwire.text.ids import parse_uuid
from real_kafka import Cluster, Layout, free_port
from real_kafka.metadata_quorum import remove_controller
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.real_kafka.topics import create

LAYOUT = Layout(
    controllers=(3000, 3001, 3002),
    brokers=(1, 2),
    version="4.4.0",
    properties={"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"},
)
NOWHERE = "controller.invalid"
"""A name that no resolver knows (RFC 6761)."""
HARMLESS = (FindingVerdict.OK, FindingVerdict.INFO)


def findings(cluster: Cluster, *more: Address) -> dict[str, Finding]:
    """Return what doctor finds, by id, with one controller as bootstrap and the given ones."""
    first = cluster.controllers[3000].controller_address
    evidence = asyncio.run(gather([first, *more]))
    return {finding.id: finding for finding in examine(evidence)}


def bad(found: dict[str, Finding]) -> set[str]:
    """Return the ids that are no good news."""
    return {id for id, finding in found.items() if finding.verdict not in HARMLESS}


def wait_for(cluster: Cluster, *ids: str, also: tuple[Address, ...] = ()) -> dict[str, Finding]:
    """Ask until exactly these are found, and no other bad ones."""
    return eventually_blocking(
        lambda: findings(cluster, *also), lambda found: bad(found) == set(ids), pause=0.5
    )


@pytest.mark.nightly
def test_doctor_names_the_fault_at_each_step(own_cluster: OwnCluster) -> None:
    with own_cluster(LAYOUT) as cluster:
        create(cluster.bootstrap_servers, "orders")
        healthy = wait_for(cluster)
        assert "3 of 3 voters caught up" in healthy["quorum/ok"].sentence
        assert without(briefly(cluster), 3001).id == "check/safe-to-restart"
        _a_broker_stops(cluster)
        _a_voter_is_misconfigured(cluster)
        _a_controller_joins_by_itself_and_is_removed(cluster)
        _a_disk_is_replaced(cluster)
        _another_quorum_has_the_same_cluster_id(cluster)
        _the_majority_is_gone(cluster)


def _a_broker_stops(cluster: Cluster) -> None:
    """Kill broker 2, which alone has a partition: fenced, and the partition without a leader."""
    cluster.nodes[2].kill()
    found = wait_for(cluster, "brokers/fenced", "partitions/no-leader")
    assert found["brokers/fenced"].sentence.startswith("broker 2 is fenced; ")
    assert "nothing listens there" in found["brokers/fenced"].evidence[0]
    assert "ELR 2" in found["partitions/no-leader"].evidence[0]
    cluster.nodes[2].start()
    wait_for(cluster)


def _a_voter_is_misconfigured(cluster: Cluster) -> None:
    """Have a voter advertise another node, or nobody, and keep static voters in its properties."""
    node = cluster.nodes[3002]
    own, other = node.controller_address, cluster.nodes[3001].controller_address
    voters = ",".join(f"{id}@{c.controller_address}" for id, c in cluster.controllers.items())
    before = dict(line.split("=", 1) for line in node.server_properties.splitlines())
    with restarted(node):
        node.advertise(other)
        node.configure({"controller.quorum.voters": voters})
    found = wait_for(cluster, "endpoints/other-node", "voters/static-left-over")
    assert found["endpoints/other-node"].sentence == (
        f"voter 3002 advertises CONTROLLER://{other}, where controller 3001 answers"
    )
    assert found["voters/static-left-over"].evidence == (f"controller.quorum.voters={voters}",)
    with restarted(node):
        node.configure({"controller.quorum.voters": "", **_two_listeners(own, free_port())})
    found = wait_for(cluster, "endpoints/unresolvable", "endpoints/other-protocol")
    assert f"advertises CONTROLLER://{NOWHERE}" in found["endpoints/unresolvable"].sentence
    assert "whose protocol is SASL_PLAINTEXT; we speak PLAINTEXT" in (
        found["endpoints/other-protocol"].sentence
    )
    with restarted(node):
        node.advertise(own)
        node.configure({name: before.get(name, "") for name in _two_listeners(own, 0)})
    wait_for(cluster)


def _two_listeners(own: Address, port: int) -> dict[str, str]:
    """Return properties that advertise a name of nobody, and add a listener that wants a login."""
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_a="a";'
    return {
        "listeners": f"CONTROLLER://{own},CONTROLLER_LOGIN://127.0.0.1:{port}",
        "advertised.listeners": f"CONTROLLER://{NOWHERE}:{own.port},"
        f"CONTROLLER_LOGIN://127.0.0.1:{port}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,CONTROLLER_LOGIN:SASL_PLAINTEXT",
        "controller.listener.names": "CONTROLLER,CONTROLLER_LOGIN",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller_login.plain.sasl.jaas.config": login,
    }


def _a_controller_joins_by_itself_and_is_removed(cluster: Cluster) -> None:
    auto_join = {"controller.quorum.auto.join.enable": "true"}
    node = cluster.join_controller(3003, auto_join)
    found = eventually_blocking(
        lambda: findings(cluster), lambda found: "voters/auto-join" in found and not bad(found)
    )
    assert found["voters/auto-join"].sentence == "3003 joins again if removed while running"
    assert "quorum/even-voters" in found
    directory_id = node.directory_id
    node.stop()
    wait_for(cluster, "quorum/voter-silent", "endpoints/nobody-answers", "quorum/no-spare")
    remove_controller(cluster, 3003, directory_id)
    found = wait_for(cluster, "registrations/stale")
    stale = found["registrations/stale"]
    assert stale.sentence == "controller 3003 is registered, but neither votes nor fetches"
    with restarted(node):
        node.configure({"controller.quorum.auto.join.enable": "false"})
    wait_for(cluster, "voters/observer-could-vote")
    node.stop()


def _a_disk_is_replaced(cluster: Cluster) -> None:
    """Format a voter anew, which gives it another directory id than the voter set has."""
    node = cluster.nodes[3002]
    old = node.directory_id
    others = [_voter(cluster, id) for id in (3000, 3001)]
    with restarted(node):
        shutil.rmtree(Path(node.folder, "data"))
        # Not among the initial voters it is formatted with --no-initial-controllers.
        node.join(KnownQuorum(cluster_id=cluster.cluster_id, voters=tuple(others)))
    found = wait_for(
        cluster,
        "registrations/stale",
        "voters/two-directories",
        "quorum/voter-silent",
        "quorum/no-spare",
    )
    finding = found["voters/two-directories"]
    assert f"votes with directory id {old} and fetches with {node.directory_id}" in finding.sentence
    assert old in finding.advice
    assert without(briefly(cluster), 3001).id == "check/not-safe-to-restart"
    # As the advice says.
    asyncio.run(_change_disk(cluster, parse_uuid(old), parse_uuid(node.directory_id)))
    wait_for(cluster, "registrations/stale")


async def _change_disk(cluster: Cluster, old: UUID, new: UUID) -> None:
    """Let the directory id `new` of controller 3002 vote in place of `old`."""
    at = cluster.nodes[3002].controller_address
    endpoint = RaftVoterEndpoint(name="CONTROLLER", host=at.host, port=at.port)
    async with AdminClient(bootstrap_controllers=cluster.bootstrap_controllers) as admin:
        await admin.remove_raft_voter(3002, old)
        await admin.add_raft_voter(3002, new, [endpoint])


def _another_quorum_has_the_same_cluster_id(cluster: Cluster) -> None:
    """Format a controller as the only voter of a quorum of its own, under the same cluster id."""
    node = cluster.add_node(3009)
    own = replace(_voter(cluster, 3000), node_id=3009, address=node.controller_address)
    node.join(KnownQuorum(cluster_id=cluster.cluster_id, voters=(own,)))
    node.start()
    found = eventually_blocking(
        lambda: findings(cluster, node.controller_address),
        lambda found: "identity/two-quorums" in found,
    )
    sentence = found["identity/two-quorums"].sentence
    assert "controller 3009 leads epoch 1 with voters 3009" in sentence
    assert "with voters 3000, 3001 and 3002" in sentence
    assert sentence.endswith(": two quorums of one cluster id")
    node.kill()


LEADERLESS = {"quorum/no-leader", "quorum/leader-unreachable"}


def _the_majority_is_gone(cluster: Cluster) -> None:
    """Kill voters until one is left, which answers and follows nobody, or its last leader."""
    assert probed(cluster).id in ("check/leads", "check/follows")
    for id in (3001, 3002):
        cluster.nodes[id].kill()
    found = eventually_blocking(lambda: findings(cluster), lambda found: LEADERLESS & set(found))
    assert "nodes/no-metadata" in found
    # A follower that stands for election goes on naming the leader it had (KIP-996).
    if "quorum/no-leader" in found:
        assert found["quorum/no-leader"].sentence.startswith("nobody leads: 3000 answers, 3001")
    assert probed(cluster).id in ("check/follows-nobody", "check/leader-silent")


def probed(cluster: Cluster) -> Finding:
    """Return what the probe of controller 3000 says."""
    return takes_part(briefly(cluster), 3000)


def briefly(cluster: Cluster) -> Evidence:
    """Return what `kwire quorum check` learns from controller 3000."""
    return asyncio.run(gather_briefly([cluster.controllers[3000].controller_address]))


def _voter(cluster: Cluster, node_id: int) -> KafkaVoter:
    node = cluster.nodes[node_id]
    return KafkaVoter(
        node_id=node_id, directory_id=node.directory_id, address=node.controller_address
    )


@contextmanager
def restarted(node: RunningNode) -> Iterator[None]:
    """Stop a node, change it in between, and start it again."""
    node.stop()
    yield
    node.start()
