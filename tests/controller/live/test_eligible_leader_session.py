"""Eligible leader replicas come and go with the answers and the records of Kafka's controller."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from msgspec.structs import replace

from kwire.batches import read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.image import EMPTY, apply_all
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from real_kafka import Layout
from tests.support.controller.live.admin_session import Session
from tests.support.controller.live.answer_differences import differences, flat
from tests.support.controller.live.java_nodes import segment
from tests.support.controller.live.session.eligible_leaders import EligibleLeaders
from tests.support.real_kafka.own_cluster import OwnCluster

QUIET = {"broker.session.timeout.ms": "600000", "min.insync.replicas": "2"}
LEVELS = {"4.3.1": "4.3-IV0", "4.4.0": "4.4-IV2"}


async def run(address: tuple[str, int], node_id: int, cluster_id: str, data: Path) -> Session:
    """Send the whole script to the only controller of a quorum, whose log is in `data`."""
    async with await Connection.open(*address) as connection:
        session = Session(
            leader_id=node_id, cluster_id=cluster_id, leader=connection, follower=connection
        )
        await session.learn_features()
        await EligibleLeaders(session, lambda: apply_all(EMPTY, records(data))).play()
    return session


def records(data: Path) -> Iterator[VersionedRecord]:
    """Yield all records of a log."""
    for batch in read_batches(segment(data).read_bytes()):
        if not batch.is_control:
            for record in batch.records():
                yield read_metadata_record(record.value or b"")


def histories(data: Path) -> dict[str, list[VersionedRecord]]:
    """Return the records that concern a topic, by its name and without its id.

    They are those about its partitions, and all about configurations and features. In a batch,
    partitions of several topics are in the order of their ids, which are random.
    """
    every = list(records(data))
    topics = apply_all(EMPTY, every).topics.by_id.values()
    names = {topic.id: topic.name for topic in topics}
    found: dict[str, list[VersionedRecord]] = {name: [] for name in names.values()}
    for written in every:
        record = written.record
        if isinstance(record, PartitionRecord | PartitionChangeRecord):
            same = record.replace(topic_id=UUID(int=1))
            found[names[record.topic_id]].append(replace(written, record=same))
        elif isinstance(record, ClearElrRecord | ConfigRecord | FeatureLevelRecord):
            for history in found.values():
                history.append(written)
    return found


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)])
async def test_eligible_leaders_come_and_go_as_in_kafka(
    own_cluster: OwnCluster, version: str
) -> None:
    async with Quorum(1, properties=QUIET, release=LEVELS[version]) as quorum:
        ((node_id, address),) = quorum.addresses.items()
        await quorum.wait_for_leader()
        data = quorum.members[node_id].folder
        ours = await run(address, node_id, quorum.cluster_id, data)
        our_records = histories(data)
    cluster = own_cluster(Layout(controllers=(3000,), version=version, properties=QUIET))
    await asyncio.to_thread(cluster.start)
    node = cluster.controllers[3000]
    at = (node.controller_address.host, node.controller_address.port)
    data = Path(node.folder) / "data"
    theirs = await run(at, 3000, cluster.cluster_id, data)
    their_records = histories(data)

    assert ours.answers.keys() == theirs.answers.keys()
    differing = {
        f"{step}: {path}": values
        for step, answer in ours.answers.items()
        for path, values in differences(
            *(
                {"": one} if isinstance(one, str) else flat(one, session.leader_id)
                for one, session in ((answer, ours), (theirs.answers[step], theirs))
            )
        ).items()
        # test_admin_session.py compares configurations.
        if ".configs[" not in path
    }
    assert differing == {}
    assert our_records == their_records
    written = [one.record for one in our_records["all"]]
    assert {ClearElrRecord, FeatureLevelRecord} <= {type(record) for record in written}
    changes = [record for record in written if isinstance(record, PartitionChangeRecord)]
    assert any(record.eligible_leader_replicas for record in changes)
    assert any(record.last_known_elr for record in changes)
