"""A real Kafka node and kwire take turns on one directory."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.codec.declaration import MetadataRecord
from kwire.errors import InvalidValue
from kwire.logdir.dump import Dump
from kwire.logdir.format import FormatOptions, plan, write
from kwire.logdir.lock import DirectoryLock
from kwire.logdir.log import LogConfig, MetadataLog
from kwire.logdir.names import METADATA_FOLDER, OffsetAndEpoch
from kwire.logdir.quorum_state import QuorumState, read_quorum_state, write_quorum_state
from kwire.logdir.server_properties import storage_properties
from kwire.logdir.snapshots import build_snapshot, load_snapshot
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.no_op import NoOpRecord
from kwire.messages.records.register_controller import RegisterControllerRecord
from kwire.messages.records.topic import TopicRecord
from kwire.text.ids import parse_uuid
from kwire.text.properties import parse_properties
from real_kafka import Cluster, Layout, RunningNode
from tests.support.eventually import eventually_blocking

OwnCluster = Callable[[Layout], Cluster]

NOT_IN_A_SNAPSHOT = (
    NoOpRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    AbortTransactionRecord,
)
TOPIC = TopicRecord(name="made-by-kwire", topic_id=parse_uuid("JEXY6aqzQY-32P5TStzaFg"))
SMALL = LogConfig(segment_bytes=4096)
PATIENCE = 120.0


def format_by_kwire(cluster: Cluster, node: RunningNode) -> None:
    properties = storage_properties(parse_properties(node.server_properties))
    options = FormatOptions(cluster_id=cluster.cluster_id, standalone=True)
    write(plan(properties, options), datetime.now(UTC))


def wait_until_registered(node: RunningNode) -> None:
    """Wait until the log has the node's RegisterControllerRecord, after its first answers."""
    persisted = "Our registration has been persisted"
    eventually_blocking(node.log, lambda log: persisted in log, timeout=PATIENCE)


def metadata(log: MetadataLog) -> list[VersionedRecord]:
    """The records of the log, as far as they belong into a snapshot."""
    return [
        read
        for batch in log.batches(0)
        if not batch.is_control
        for record in batch.records()
        if not isinstance(
            (read := read_metadata_record(record.value or b"")).record, NOT_IN_A_SNAPSHOT
        )
    ]


def append(log: MetadataLog, record: MetadataRecord, times: int) -> None:
    value = VersionedRecord(record=record, version=0).encode()
    for _ in range(times):
        log.append(
            build_batch(
                [Record(value=value, timestamp=1_800_000_000_000)],
                base_offset=log.end_offset,
                partition_leader_epoch=log.last_fetched_epoch,
            )
        )


def dumped(cluster: Cluster, folder: Path) -> list[str]:
    """Return what DumpLogSegments prints of every segment, index and snapshot of a folder."""
    suffixes = (".log", ".checkpoint", ".index", ".timeindex")
    files = sorted(str(path) for path in folder.iterdir() if path.suffix in suffixes)
    flags = ["--cluster-metadata-decoder", "--files", ",".join(files)]
    tool = cluster.tool("org.apache.kafka.tools.DumpLogSegments", *flags)
    assert tool.returncode == 0, tool.stderr
    return tool.stdout.splitlines()


def test_kafka_and_kwire_take_turns_on_one_directory(own_cluster: OwnCluster) -> None:
    cluster = own_cluster(Layout(controllers=(1,)))
    node = cluster.nodes[1]
    folder = Path(node.folder, "data", METADATA_FOLDER)

    # 1. Kafka boots from what kwire formatted.
    format_by_kwire(cluster, node)
    cluster.start()
    wait_until_registered(node)
    node.stop()

    # 2. kwire writes on in Kafka's log: more segments, a snapshot, a log that begins at it.
    state = read_quorum_state(folder)
    assert state is not None
    with MetadataLog.open(folder, config=SMALL) as log:
        assert log.torn is None
        assert log.last_fetched_epoch == state.data.leader_epoch
        first_epoch, voters = log.last_fetched_epoch, load_snapshot(folder, log.snapshots[0]).voters
        append(log, TOPIC, 1)
        append(log, NoOpRecord(), 100)
        log.flush()
        latest = OffsetAndEpoch(offset=log.end_offset, epoch=log.last_fetched_epoch)
        file = log.begin_snapshot(latest)
        for batch in build_snapshot(
            metadata(log), epoch=latest.epoch, now=0, kraft_version=1, voters=voters
        ):
            file.append(batch)
        file.freeze()
        log.add_snapshot(latest)
        append(log, NoOpRecord(), 100)
        assert log.delete_before(latest)
        start, written = log.start_offset, log.end_offset
    ours = Dump()
    paths = sorted(folder.iterdir())
    suffixes = (".log", ".checkpoint", ".index", ".timeindex")
    lines = [line for path in paths if path.suffix in suffixes for line in ours.lines(path)]
    assert ours.problems == []
    assert dumped(cluster, folder) == lines

    # 3. Kafka boots from that, elects itself anew and writes behind it.
    write_quorum_state(folder, QuorumState(data=state.data, version=1))
    node.start()
    node.wait_until_served()
    node.stop()
    with MetadataLog.open(folder) as log:
        assert log.end_offset > written
        assert log.last_fetched_epoch > first_epoch
        assert log.snapshots[-1].offset >= start
        records = [entry.record for entry in load_snapshot(folder, log.snapshots[-1]).records]
        assert TOPIC in records
        assert any(isinstance(record, RegisterControllerRecord) for record in records)


def test_a_log_that_kafka_left_in_a_kill_is_recovered(own_cluster: OwnCluster) -> None:
    cluster = own_cluster(Layout(controllers=(1,)))
    node = cluster.nodes[1]
    cluster.start()
    node.wait_until_served()
    with pytest.raises(InvalidValue, match="another process uses"):
        DirectoryLock(Path(node.folder, "data"))
    node.kill()
    DirectoryLock(Path(node.folder, "data")).close()
    folder = Path(node.folder, "data", METADATA_FOLDER)
    (segment,) = folder.glob("*.log")
    segment.write_bytes(segment.read_bytes()[:-7])
    with MetadataLog.open(folder) as log:
        assert log.torn is not None
        assert log.torn.file == segment
        end = log.end_offset
    node.start()
    node.wait_until_served()
    node.stop()
    with MetadataLog.open(folder) as log:
        assert log.end_offset > end
