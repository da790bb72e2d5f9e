"""The metadata quorum of real Kafka, held against what Kafka's own tool says of it."""

import asyncio
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import pytest

from kwire.admin import AdminClient, NoReachableLeader, QuorumInfo, ReplicaState
from kwire.errors import AnswerLost
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.proxy import Event, Flow, Listener, Proxy
from kwire.text.ids import uuid_text
from real_kafka import Address as KafkaAddress
from real_kafka import Cluster, Layout
from tests.support.admin.voter_changes import client
from tests.support.eventually import TOO_LONG

T = TypeVar("T")

OwnCluster = Callable[[Layout], Cluster]

QUORUM_COMMAND = "org.apache.kafka.tools.MetadataQuorumCommand"


def java(cluster: Cluster, *arguments: str) -> str:
    """Return the output of Kafka's own tool, asked at the controllers."""
    bootstrap = ["--bootstrap-controller", cluster.bootstrap_controllers]
    told = cluster.tool(QUORUM_COMMAND, *bootstrap, *arguments)
    assert told.returncode == 0, told.stderr
    return told.stdout


def status(cluster: Cluster) -> dict[str, Any]:
    """`describe --status` by name, with voters and observers as they are in the JSON."""
    lines = re.findall(r"^(\w+):\s+(.*)$", java(cluster, "describe", "--status"), re.MULTILINE)
    told: dict[str, Any] = dict(lines)
    for name in ("CurrentVoters", "CurrentObservers"):
        told[name] = sorted(json.loads(told[name]), key=lambda one: int(one["id"]))
    return told


def as_java(quorum: QuorumInfo, replicas: tuple[ReplicaState, ...]) -> list[dict[str, Any]]:
    """Replicas in the tool's JSON."""
    rows = []
    for replica in sorted(replicas, key=lambda one: one.replica_id):
        row: dict[str, Any] = {"id": replica.replica_id}
        if replica.replica_directory_id is not None:
            row["directoryId"] = uuid_text(replica.replica_directory_id)
        if (node := quorum.nodes.get(replica.replica_id)) is not None:
            row["endpoints"] = [str(endpoint) for endpoint in node.endpoints]
        rows.append(row)
    return rows


def replication(cluster: Cluster) -> dict[int, list[str]]:
    """`describe --replication`: the columns of each row, by node id."""
    lines = java(cluster, "describe", "--replication").splitlines()
    rows = [[cell.strip() for cell in line.split("\t")] for line in lines if line.strip()]
    assert rows[0][:4] == ["NodeId", "DirectoryId", "LogEndOffset", "Lag"]
    return {int(row[0]): row[1:] for row in rows[1:]}


async def around(admin: AdminClient, ask: Callable[[], T]) -> tuple[QuorumInfo, T, QuorumInfo]:
    """Return the output of Kafka's tool, and the quorum before and after, of one leader.

    Just after their start voters still tell the leader all their endpoints, one after the other.
    """
    async with asyncio.timeout(60):
        while True:
            before = await admin.describe_metadata_quorum()
            told = ask()
            after = await admin.describe_metadata_quorum()
            if (before.leader_epoch, before.nodes) == (after.leader_epoch, after.nodes):
                return before, told, after


@pytest.mark.parametrize("bootstrap", ["bootstrap_controllers", "bootstrap_servers"])
@pytest.mark.both_launchers
async def test_the_status_is_that_of_kafkas_own_tool(quorum: Cluster, bootstrap: str) -> None:
    async with AdminClient(**{bootstrap: getattr(quorum, bootstrap)}, timeout=60) as admin:
        cluster_id = (await admin.describe_cluster()).cluster_id
        before, told, after = await around(admin, partial(status, quorum))
    assert cluster_id == told["ClusterId"]
    assert str(before.leader_id) == told["LeaderId"]
    assert str(before.leader_epoch) == told["LeaderEpoch"]
    assert before.high_watermark <= int(told["HighWatermark"]) <= after.high_watermark
    assert as_java(before, before.voters) == told["CurrentVoters"]
    assert as_java(before, before.observers) == told["CurrentObservers"]


async def test_the_replication_is_that_of_kafkas_own_tool(quorum: Cluster) -> None:
    async with AdminClient(bootstrap_controllers=quorum.bootstrap_controllers, timeout=60) as admin:
        before, rows, after = await around(admin, partial(replication, quorum))
    told_later = {one.replica_id: one for one in (*after.voters, *after.observers)}
    assert {one.replica_id for one in (*before.voters, *before.observers)} == set(rows)
    for replica in (*before.voters, *before.observers):
        directory_id, end, _, fetched, caught_up, *_ = rows[replica.replica_id]
        later = told_later[replica.replica_id]
        assert replica.replica_directory_id is not None
        assert uuid_text(replica.replica_directory_id) == directory_id
        assert replica.log_end_offset <= int(end) <= later.log_end_offset
        assert (replica.last_fetch_timestamp or 0) <= int(fetched)
        assert int(fetched) <= (later.last_fetch_timestamp or 0)
        assert (replica.last_caught_up_timestamp or 0) <= int(caught_up)
    assert rows[before.leader_id][5] == "Leader"


async def described(cluster: Cluster) -> None:
    """Ask controllers and brokers, and compare with Kafka's own tool."""
    for bootstrap in ("bootstrap_controllers", "bootstrap_servers"):
        async with AdminClient(**{bootstrap: getattr(cluster, bootstrap)}, timeout=60) as admin:
            quorum, told, _ = await around(admin, partial(status, cluster))
            assert (await admin.describe_cluster()).cluster_id == told["ClusterId"]
        assert as_java(quorum, quorum.voters) == told["CurrentVoters"]


async def test_kafka_3_9_1_is_described_in_the_versions_it_offers(kafka391: Cluster) -> None:
    await described(kafka391)


async def test_kafka_4_4_0_is_described_in_the_versions_it_offers(kafka440: Cluster) -> None:
    await described(kafka440)


async def test_kafka_4_4_0_is_asked_for_its_apis_once_in_version_5(kafka440: Cluster) -> None:
    node = kafka440.nodes[1]
    for address in (node.controller_address, node.broker_address):
        upstream = Address(address.host, address.port)
        flows: list[Event] = []
        async with Proxy([Listener(node_id=1, upstream=upstream)], sinks=[flows.append]) as proxy:
            (at,) = proxy.addresses.values()
            async with await Connection.open(at.host, at.port):
                pass
        asked = [(flow.key, flow.version) for flow in flows if isinstance(flow, Flow)]
        assert asked == [(18, 5)]


async def test_a_dead_leader_is_replaced_and_a_lost_majority_is_told_at_once(
    own_cluster: OwnCluster,
) -> None:
    with own_cluster(Layout.quorum()) as cluster:
        async with client(cluster) as admin:
            first = await admin.describe_metadata_quorum()
            cluster.controllers[first.leader_id].kill()
            second = await admin.describe_metadata_quorum()
            assert second.leader_id != first.leader_id
            assert second.leader_epoch > first.leader_epoch
            assert (await admin.describe_metadata_quorum()).leader_id == second.leader_id

            dead = cluster.controllers[second.leader_id]
            dead.kill()
            await expect_no_leader_at_once(admin, second.leader_id, dead.controller_address)
        async with client(cluster) as admin:  # one that never knew better
            await expect_no_leader_at_once(admin, second.leader_id, dead.controller_address)
            assert (await admin.describe_cluster()).cluster_id == cluster.cluster_id
        async with client(cluster, "bootstrap_servers") as admin:
            with pytest.raises(AnswerLost, match="brokers forward to the active controller"):
                await admin.describe_metadata_quorum(timeout=3)


async def expect_no_leader_at_once(admin: AdminClient, last: int, address: KafkaAddress) -> None:
    with pytest.raises(NoReachableLeader) as caught:
        await admin.describe_metadata_quorum(timeout=TOO_LONG)
    assert str(caught.value).startswith(f"no reachable leader; last known {last} at {address} (")


def replica(replica_id: int, log_end_offset: int, caught_up: int | None) -> ReplicaState:
    return ReplicaState(
        replica_id=replica_id,
        replica_directory_id=None,
        log_end_offset=log_end_offset,
        last_fetch_timestamp=None,
        last_caught_up_timestamp=caught_up,
    )


def info(leader_id: int, *voters: ReplicaState) -> QuorumInfo:
    return QuorumInfo(
        leader_id=leader_id, leader_epoch=2, high_watermark=96, voters=voters, observers=()
    )


def test_lag_is_counted_from_the_leader_to_the_voter_that_is_furthest_behind() -> None:
    quorum = info(2, replica(1, 90, 700), replica(2, 100, 1000), replica(3, 95, 900))
    assert (quorum.max_follower_lag, quorum.max_follower_lag_time_ms) == (10, 300)
    assert quorum.lag(quorum.voters[2]) == 5


def test_a_leader_alone_does_not_lag() -> None:
    quorum = info(1, replica(1, 31, 5))
    assert (quorum.max_follower_lag, quorum.max_follower_lag_time_ms) == (0, 0)


def test_lag_is_unknown_where_the_leader_is_no_voter_or_times_are_missing() -> None:
    removed = info(9, replica(1, 90, 700))
    assert (removed.leader, removed.max_follower_lag) == (None, None)
    assert removed.max_follower_lag_time_ms is None
    assert info(2, replica(1, 90, None), replica(2, 100, 5)).max_follower_lag_time_ms is None
