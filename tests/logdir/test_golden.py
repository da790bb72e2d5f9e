"""The directory of a real Kafka 4.3.1 controller: read, written again byte for byte, dumped."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kwire.batches import read_batches
from kwire.logdir.bootstrap import read_bootstrap, write_bootstrap
from kwire.logdir.dump import Dump
from kwire.logdir.leader_epochs import parse_partition_metadata, partition_metadata
from kwire.logdir.log import LogConfig, MetadataLog
from kwire.logdir.meta_properties import read_meta_properties
from kwire.logdir.names import METADATA_FOLDER, OffsetAndEpoch, snapshot_name
from kwire.logdir.quorum_state import read_quorum_state
from kwire.logdir.snapshots import build_snapshot, load_snapshot
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from tests.support.paths import FIXTURES

GOLDEN = FIXTURES / "logdirs" / "kafka-4.3.1"
METADATA = GOLDEN / METADATA_FOLDER
SNAPSHOT = OffsetAndEpoch(offset=178, epoch=1)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(METADATA, tmp_path / METADATA_FOLDER))


def test_opening_and_closing_a_log_of_kafka_changes_none_of_its_files(copy: Path) -> None:
    with MetadataLog.open(copy) as log:
        assert (log.start_offset, log.end_offset, log.last_fetched_epoch) == (0, 202, 1)
        assert log.snapshots == (OffsetAndEpoch(offset=0, epoch=0), SNAPSHOT)
        assert log.torn is None
    after, before = contents(copy), contents(METADATA)
    added = {"00000000000000000116.index", "00000000000000000116.timeindex"}
    assert after.keys() - before.keys() == added
    assert {name: after[name] for name in before} == before


def test_the_same_batches_make_the_same_segments_indexes_and_epochs(
    tmp_path: Path, copy: Path
) -> None:
    config = LogConfig(segment_bytes=8192)
    with (
        MetadataLog.open(copy) as theirs,
        MetadataLog.open(tmp_path / "own", config=config) as ours,
    ):
        for batch in theirs.batches(0):
            ours.append(batch.data)
        ours.flush()
    before = contents(METADATA)
    for name, data in contents(tmp_path / "own").items():
        if not name.startswith("00000000000000000116.") or name.endswith(".log"):
            assert data == before[name], name


def test_the_small_files_are_written_as_kafka_writes_them() -> None:
    meta, state = read_meta_properties(GOLDEN), read_quorum_state(METADATA)
    assert meta is not None
    assert state is not None
    written = datetime(2026, 11, 21, 10, 28, 56, tzinfo=UTC)
    assert meta.text(written).encode() == (GOLDEN / "meta.properties").read_bytes()
    assert state.encode() == (METADATA / "quorum-state").read_bytes()
    assert (state.version, state.data.leader_id, state.data.leader_epoch) == (1, 1, 1)
    partition = METADATA / "partition.metadata"
    assert partition_metadata() == partition.read_bytes()
    assert parse_partition_metadata(partition.read_bytes(), partition) == METADATA_TOPIC_ID


def test_a_snapshot_is_built_again_but_for_the_times_of_its_batches() -> None:
    path = METADATA / snapshot_name(SNAPSHOT)
    theirs = load_snapshot(METADATA, SNAPSHOT)
    assert (theirs.kraft_version, len(theirs.records)) == (1, 8)
    assert theirs.voters is not None
    times = [batch.max_timestamp for batch in read_batches(path.read_bytes())]
    ours = b"".join(
        build_snapshot(
            theirs.records,
            epoch=SNAPSHOT.epoch,
            now=times[0],
            last_contained_log_timestamp=theirs.last_contained_log_timestamp,
            kraft_version=theirs.kraft_version,
            voters=theirs.voters,
        )
    )
    assert timeless(ours) == timeless(path.read_bytes())
    assert len(ours) == path.stat().st_size


def timeless(data: bytes) -> list[tuple[object, ...]]:
    return [
        (
            batch.base_offset,
            batch.is_control,
            [(record.key, record.value) for record in batch.records()],
        )
        for batch in read_batches(data)
    ]


def test_the_bootstrap_checkpoint_is_written_as_kafka_writes_it(tmp_path: Path) -> None:
    records = read_bootstrap(GOLDEN)
    assert records is not None
    write_bootstrap(tmp_path, records, now=1795256936225)
    written = (tmp_path / "bootstrap.checkpoint").read_bytes()
    assert timeless(written) == timeless((GOLDEN / "bootstrap.checkpoint").read_bytes())


def test_a_dump_is_word_for_word_that_of_dump_log_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    folder = Path(METADATA_FOLDER)
    names = ["00000000000000000000-0000000000.checkpoint", snapshot_name(SNAPSHOT)]
    names += [f"00000000000000000000.{suffix}" for suffix in ("log", "index", "timeindex")]
    dump = Dump()
    lines = list(dump.lines(Path("bootstrap.checkpoint")))
    for name in names:
        lines += dump.lines(folder / name)
    assert lines == (GOLDEN / "dump.txt").read_text().splitlines()
    assert dump.problems == []


def test_control_records_are_empty_lines_where_record_metadata_is_skipped() -> None:
    lines = list(Dump(skip_record_metadata=True).lines(METADATA / "00000000000000000000.log"))
    assert lines[3:6] == ["", "", ""]
    assert lines[7].startswith('| payload: {"type":"BEGIN_TRANSACTION_RECORD","version":0')


def test_a_dump_of_a_node_s_folder_tells_what_is_missing_there(copy: Path) -> None:
    (copy / "quorum-state").unlink()
    dump = Dump()
    list(dump.lines(copy))
    (problem,) = dump.problems
    assert problem.startswith(f"{copy}/quorum-state, byte 0: is not there, but the log has epoch 1")
    (copy / "partition.metadata").unlink()
    copied = Dump()
    list(copied.lines(copy))
    assert copied.problems == []


def test_a_folder_is_dumped_file_by_file_and_problems_are_told_apart(copy: Path) -> None:
    segment = copy / "00000000000000000116.log"
    data = bytearray(segment.read_bytes())
    data[70] ^= 1
    segment.write_bytes(bytes(data[:-5]))
    dump = Dump()
    lines = list(dump.lines(copy))
    assert '{"leaderId":1,"leaderEpoch":1' in "".join(lines)
    assert "epoch: 1 startOffset: 0" in lines
    assert "Found 67 invalid bytes at the end of 00000000000000000116.log" in lines
    assert [problem.split(":")[0] for problem in dump.problems] == [
        f"{segment}, byte 0",
        f"{segment}, byte 6120",
    ]
