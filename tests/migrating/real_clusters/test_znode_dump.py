"""A dump of a ZooKeeper's znodes, and the golden ones of a real migration."""

import json
from pathlib import Path

import pytest

from kwire.batches import read_batches
from kwire.batches.metadata_records import read_metadata_record
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.topic import TopicRecord
from migrating.real_clusters.znode_dump import dump_znodes, read_dump, write_dump
from migrating.real_clusters.zookeeper_session import zookeeper_session
from real_kafka import Launcher
from real_kafka.zookeeper import ZooKeeperServer
from tests.support.paths import FIXTURES

GOLDEN = FIXTURES / "migrating" / "recordings" / "kafka-3.9.1"


def test_a_dump_of_a_real_zookeeper_is_read_as_it_was_written(
    kafka: Launcher, tmp_path: Path
) -> None:
    with ZooKeeperServer() as server, zookeeper_session(server.connect) as client:
        client.create("/text", "ü\n".encode())
        client.create("/text/below", b"\xff\x00", ephemeral=True)
        client.set("/text", b"more")
        znodes = dump_znodes(server.connect)
        owner = client.client_id[0]
    write_dump(znodes, tmp_path / "dump.jsonl")
    assert read_dump(tmp_path / "dump.jsonl") == znodes
    assert [(z.path, z.data, z.version, z.children_version) for z in znodes[1:]] == [
        ("/text", b"more", 1, 1),
        ("/text/below", b"\xff\x00", 0, 0),
    ]
    assert [(znode.path, znode.ephemeral_owner) for znode in znodes] == [
        ("/", 0),
        ("/text", 0),
        ("/text/below", owner),
    ]


@pytest.mark.parametrize("name", ["before", "claim", "dual-write", "dual-write-later", "reverted"])
def test_a_golden_dump_is_whole(name: str) -> None:
    znodes = {znode.path for znode in read_dump(GOLDEN / f"znodes-{name}.jsonl")}
    parents = {path.rpartition("/")[0] or "/" for path in znodes}
    assert parents <= znodes
    assert ("/migration" in znodes) == (name not in ("before", "reverted"))


def test_the_golden_log_has_the_partitions_of_the_golden_znodes() -> None:
    dump = {znode.path: znode.data for znode in read_dump(GOLDEN / "znodes-dual-write-later.jsonl")}
    topics = {
        json.loads(dump[f"/brokers/topics/{path.split('/')[3]}"])["topic_id"]: path.split("/")[3]
        for path in dump
        if path.startswith("/brokers/topics/")
    }
    znodes = {
        (path.split("/")[3], int(path.split("/")[5])): tuple(json.loads(data)["isr"])
        for path, data in dump.items()
        if path.endswith("/state")
    }
    [segment] = (GOLDEN / "__cluster_metadata-0").glob("*.log")
    records = [
        read_metadata_record(record.value or b"").record
        for batch in read_batches(segment.read_bytes())
        if not batch.is_control
        for record in batch.records()
    ]
    names = {record.topic_id: record.name for record in records if isinstance(record, TopicRecord)}
    assert sorted(names.values()) == sorted(topics.values())
    assert {
        (names[record.topic_id], record.partition_id): record.isr
        for record in records
        if isinstance(record, PartitionRecord)
    } == znodes
