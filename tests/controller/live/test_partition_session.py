"""Requests about partitions get the answers, and write the records, of Kafka's controller."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from uuid import UUID

import pytest
from msgspec.structs import replace

from kwire.batches import read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.error_codes import ErrorCode
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from real_kafka import Layout
from tests.support.controller.live.admin_session import Session
from tests.support.controller.live.answer_differences import ABSENT, PRESENT, differences, flat
from tests.support.controller.live.java_nodes import segment
from tests.support.controller.live.session import every_api
from tests.support.controller.live.session.partitions import (
    BROKERS,
    ISR,
    MOVED,
    script,
    topic_id,
)
from tests.support.real_kafka.own_cluster import OwnCluster

QUIET = {"broker.session.timeout.ms": "600000"}

LISTED = {
    "an ISR in an unknown recovery state: error_code": (0, ErrorCode.UNKNOWN_SERVER_ERROR),
    "an ISR in an unknown recovery state: topics[]": (PRESENT, ABSENT),
}
"""Every difference by step and path, ours first; docs/engineers/controller.md has the reasons."""


async def run(address: tuple[str, int], node_id: int, cluster_id: str) -> Session:
    """Send the whole script to the only controller of a quorum, which has no authorizer."""
    connection = await Connection.open(*address)
    session = Session(
        leader_id=node_id,
        cluster_id=cluster_id,
        leader=connection,
        follower=connection,
        addresses={node_id: address},
    )
    try:
        await session.learn_features()
        for broker_id in BROKERS:
            await session.register(broker_id)
        # Steps are made when those before them are answered.
        for step in chain(every_api.of_acls("without an authorizer"), script(session)):
            await session.take(step)
    finally:
        await session.leader.close()
        await session.follower.close()
    return session


def changes(data: Path, session: Session) -> list[VersionedRecord]:
    """Return the records about partitions in a log, with the same topic ids for every session."""
    names = {topic_id(session, MOVED): UUID(int=1), topic_id(session, ISR): UUID(int=2)}
    return [
        replace(written, record=record.replace(topic_id=names[record.topic_id]))
        for written in _records(data)
        if isinstance(record := written.record, PartitionRecord | PartitionChangeRecord)
    ]


def _records(data: Path) -> Iterator[VersionedRecord]:
    for batch in read_batches(segment(data).read_bytes()):
        if not batch.is_control:
            for record in batch.records():
                yield read_metadata_record(record.value or b"")


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)])
async def test_partitions_change_as_in_kafka_but_for_the_listed_differences(
    own_cluster: OwnCluster, version: str
) -> None:
    async with Quorum(1, properties=QUIET) as quorum:
        ((node_id, address),) = quorum.addresses.items()
        await quorum.wait_for_leader()
        ours = await run(address, node_id, str(quorum.cluster_id))
        our_records = changes(quorum.members[node_id].folder, ours)
    cluster = own_cluster(Layout(controllers=(3000,), version=version, properties=QUIET))
    await asyncio.to_thread(cluster.start)
    ((node_id, node),) = cluster.controllers.items()
    at = (node.controller_address.host, node.controller_address.port)
    theirs = await run(at, node_id, cluster.cluster_id)
    their_records = changes(Path(node.folder) / "data", theirs)
    assert ours.answers.keys() == theirs.answers.keys()
    differing = {}
    for step, answer in ours.answers.items():
        their_answer = theirs.answers[step]
        pair = [
            {"": one} if isinstance(one, str) else flat(one, session.leader_id)
            for one, session in ((answer, ours), (their_answer, theirs))
        ]
        for path, values in differences(*pair).items():
            # test_admin_session.py compares configurations.
            if ".configs[" not in path:
                differing[f"{step}: {path}"] = values
    assert differing == LISTED
    assert len(our_records) > 25
    assert our_records == their_records
