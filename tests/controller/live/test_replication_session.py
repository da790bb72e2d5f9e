"""Requests of replicas get the answers of Kafka's controllers, but for the listed differences."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT, snapshot_id
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from real_kafka import Layout
from tests.support.controller.live.admin_session import (
    Session,
    Step,
    leader_of,
    metadata_quorum,
)
from tests.support.controller.live.answer_differences import ABSENT, PRESENT, differences, flat
from tests.support.controller.live.session.replication import ReplicatedLog, fatal, script
from tests.support.eventually import eventually
from tests.support.real_kafka.own_cluster import OwnCluster

SNAPSHOTS = {
    "metadata.log.max.record.bytes.between.snapshots": "600",
    "broker.session.timeout.ms": "600000",
}
BROKERS = range(1, 9)
"""Their registrations make the log long enough for a snapshot."""

SERVES = "Fetch of by the leader's id: responses[].partitions[0]"
DIVERGES = "Fetch of an offset of no epoch: responses[].partitions[0]"
POSITION = ("end_offset", "epoch")
REFUSED = (
    "a low epoch, v0",
    "a low epoch, v1",
    "another topic, v0",
    "another topic, v1",
    "a greater epoch",
    "partition 1",
    "an unknown one",
    "the bootstrap checkpoint",
    "a negative one",
    "a negative position",
    "its end",
    "a position behind it",
)
"""Requests for snapshots whose refusal Kafka's controllers cannot write."""

MANY = ("partitions 0 and 1", "partitions 1 and 0", "two topics")
"""Requests for several partitions, of which a controller of 4.3.1 answers the one that it has."""

Address = tuple[str, int]
Differences = dict[str, tuple[Any, Any]]


def listed(version: str) -> Differences:
    """Return every difference by step and path, ours first; controller.md has the reasons."""
    found: Differences = {
        f"{SERVES}.error_code": (ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NONE),
        f"{SERVES}.high_watermark": (-1, "a number"),
        **_only_theirs(f"{SERVES}.snapshot_id"),
        **_only_theirs(f"{DIVERGES}.diverging_epoch"),
        **{path: pair[::-1] for path, pair in _only_theirs(f"{DIVERGES}.snapshot_id").items()},
    }
    for name in REFUSED:
        step = f"FetchSnapshot of {name}"
        topic = "other" if "topic" in name else "__cluster_metadata"
        found[f"{step}: error_code"] = (ErrorCode.NONE, ErrorCode.UNKNOWN_SERVER_ERROR)
        found[f"{step}: topics[{topic}]"] = (PRESENT, ABSENT)
        if not name.endswith("v0"):
            found[f"{step}: node_endpoints[the leader]"] = (PRESENT, ABSENT)
    for name in MANY if version == "4.3.1" else ():
        step = f"FetchSnapshot of {name}"
        found[f"{step}: error_code"] = (ErrorCode.INVALID_REQUEST, ErrorCode.NONE)
        found[f"{step}: topics[__cluster_metadata]"] = (ABSENT, PRESENT)
        found[f"{step}: node_endpoints[the leader]"] = (ABSENT, PRESENT)
    return found


def _only_theirs(path: str) -> Differences:
    """Return the differences if we have null where they have a position."""
    fields = {f"{path}.{name}": (ABSENT, PRESENT) for name in POSITION}
    return {path: (PRESENT, ABSENT), **fields}


async def run(
    address: Address, node_id: int, cluster_id: str, data: Path
) -> tuple[dict[str, Any], ReplicatedLog]:
    """Send the whole script to the only controller of a quorum; return its answers by step."""
    await leader_of({node_id: address})
    async with await Connection.open(*address) as connection:
        session = Session(
            leader_id=node_id, cluster_id=cluster_id, leader=connection, follower=connection
        )
        await session.learn_features()
        for broker_id in BROKERS:
            await session.register(broker_id)
        quorum = await connection.send(metadata_quorum())
    assert isinstance(quorum, DescribeQuorumResponse)
    path = await eventually(lambda: snapshot_in(data))
    assert path is not None
    snapshot = snapshot_id(path.name)
    assert snapshot is not None
    log = ReplicatedLog(
        cluster_id=cluster_id,
        leader_id=node_id,
        epoch=quorum.topics[0].partitions[0].leader_epoch,
        snapshot=snapshot,
        size=path.stat().st_size,
    )
    return {step.name: await answer(address, step, log) for step in script(log)}, log


def snapshot_in(data: Path) -> Path | None:
    """Return the first snapshot that was written while the controller ran."""
    found = sorted((data / "__cluster_metadata-0").glob("*.checkpoint"))
    return next((path for path in found if snapshot_id(path.name) != BOOTSTRAP_SNAPSHOT), None)


async def answer(address: Address, step: Step, log: ReplicatedLog) -> dict[str, Any]:
    """Send a request on a connection of its own; return the response's fields by their paths."""
    try:
        async with await Connection.open(*address) as connection:
            response = await connection.send(step.request, step.version, timeout=60)
    except KwireError as error:
        return {"": type(error).__name__}
    fields = flat(response, log.leader_id)
    return {path: plain(path, value, log) for path, value in fields.items()}


def plain(path: str, value: Any, log: ReplicatedLog) -> Any:
    """Replace values of this run by words."""
    match path.rpartition(".")[2]:
        case "host":
            return "a host" if value else "none"
        case "size" if value == log.size:
            return "the size"
        case "position" if value == log.size - 1:
            return "the last byte"
    return value


@pytest.mark.parametrize(
    ("version", "deadly"), [("4.3.1", 0), pytest.param("4.4.0", 1, marks=pytest.mark.releases)]
)
async def test_replicas_are_answered_as_by_kafka_but_for_the_listed_differences(
    own_cluster: OwnCluster, version: str, deadly: int
) -> None:
    """At the end a request that Kafka's controller does not outlive; kwire's does."""
    async with Quorum(1, properties=SNAPSHOTS) as quorum:
        ((node_id, address),) = quorum.addresses.items()
        folder = quorum.members[node_id].folder
        ours, log = await run(address, node_id, str(quorum.cluster_id), folder)
        refused, empty = [await answer(address, step, log) for step in fatal(log)]
        assert refused["error_code"] == ErrorCode.INVALID_REQUEST
        assert [value for path, value in empty.items() if "records" in path] == ["no bytes"]
    cluster = own_cluster(Layout(controllers=(3000,), version=version, properties=SNAPSHOTS))
    await asyncio.to_thread(cluster.start)
    ((node_id, node),) = cluster.controllers.items()
    at = (node.controller_address.host, node.controller_address.port)
    theirs, log = await run(at, node_id, cluster.cluster_id, Path(node.folder) / "data")
    differing = {
        f"{step}: {path}": values
        for step, answered in ours.items()
        for path, values in differences(answered, theirs[step]).items()
    }
    assert differing == listed(version)
    await answer(at, fatal(log)[deadly], log)
    await eventually(lambda: not node.alive)
