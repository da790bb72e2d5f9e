"""Files are found, planned and read slice by slice, wherever fsspec finds them."""

import struct
import tracemalloc
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from kwire.batches import Compression, Limit, Record, build_batch
from kwire.batches.compression import LIMIT_IN_USE
from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord
from kwire.capture import CaptureFile, RecordEncoder
from kwire.errors import FileError
from kwire.logdir.names import METADATA_FOLDER
from kwire.messages.records.topic import TopicRecord
from kwire.pipeline.reading.captured import read_captured
from kwire.pipeline.reading.logged import read_logged
from kwire.pipeline.reading.planning import plan, plan_in_tasks
from kwire.pipeline.reading.storage import CAPTURED, LOGGED, FileKind, NothingToRead, find
from kwire.proxy.capture.pcap_export import write_pcapng
from tests.support.capture.capture_records import record, write
from tests.support.paths import FIXTURES
from tests.support.pipeline.captured_rows import vote
from tests.support.pipeline.damaged_captures import NO_FILES
from tests.support.proxy.capture.packets import base, pcap

LOG = FIXTURES / "logdirs" / "kafka-4.3.1"


def rows(batches: list[pa.RecordBatch]) -> list[dict[str, object]]:
    return [row for batch in batches for row in batch.to_pylist()]


def captured(path: str, split: int = 1 << 20) -> list[dict[str, object]]:
    return rows(
        [row for part in plan(find([path], CAPTURED), split) for row in read_captured(part)]
    )


def logged(path: str, split: int = 1 << 20) -> list[dict[str, object]]:
    return rows([row for part in plan(find([path], LOGGED), split) for row in read_logged(part)])


def test_a_folder_gives_what_is_whole_and_known(tmp_path: Path) -> None:
    for name in ("b.avro", "a.pcapng", ".c.avro.part", ".d.avro", "notes.txt"):
        (tmp_path / name).touch()
    log = tmp_path / METADATA_FOLDER
    log.mkdir()
    names = ["00000000000000000000.log", "00000000000000000007-0000000001.checkpoint"]
    for name in [*names, "quorum-state", "00000000000000000000.index"]:
        (log / name).touch()
    files = find([str(tmp_path)], CAPTURED | LOGGED)
    assert [(file.kind, file.path.removeprefix(f"{tmp_path}/")) for file in files] == [
        (FileKind.SEGMENT, f"{METADATA_FOLDER}/{names[0]}"),
        (FileKind.SNAPSHOT, f"{METADATA_FOLDER}/{names[1]}"),
        (FileKind.PACKETS, "a.pcapng"),
        (FileKind.CAPTURE, "b.avro"),
    ]
    assert find([str(log)], LOGGED) == files[:2]


def test_tasks_unpack_batches_by_the_limit_of_the_command_that_planned_them(tmp_path: Path) -> None:
    log = tmp_path / METADATA_FOLDER
    log.mkdir()
    packed = build_batch([Record(bytes(1_500_000))], compression=Compression.GZIP)
    (log / "00000000000000000000.log").write_bytes(packed)
    token = LIMIT_IN_USE.set(Limit.by_size(1, "--unpack-limit"))
    (part,) = plan(find([str(log)], LOGGED))
    LIMIT_IN_USE.reset(token)
    (row,) = rows(list(read_logged(part)))
    assert "--unpack-limit 2 allows more" in str(row["error"])


@pytest.mark.parametrize("path", ["nowhere", "."])
def test_nothing_to_read_is_told(tmp_path: Path, path: str) -> None:
    with pytest.raises(NothingToRead, match=r"is not there|has nothing to read"):
        find([str(tmp_path / path)], CAPTURED)


def test_a_newer_capture_is_refused_by_name_before_anything_starts(tmp_path: Path) -> None:
    path = tmp_path / "new.avro"
    file = CaptureFile(path, version=9)
    file.write(RecordEncoder().encode(record()))
    file.close()
    with pytest.raises(FileError, match=r"new\.avro.*version 9"):
        plan(find([str(path)], CAPTURED))


def test_many_files_are_opened_by_tasks(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path / f"{number}.avro", [record(event) for event in range(40 * number)], block=9)
    (tmp_path / "garbage.avro").write_bytes(b"garbage" * 900)
    files = find([str(tmp_path)], CAPTURED)
    planned = plan(files, 500)
    assert len(planned) > len(files)
    assert plan_in_tasks(spark, files, 500) == planned


@pytest.mark.parametrize("split", [100, 5000, 1 << 20])
def test_a_capture_is_read_by_ranges_of_bytes(tmp_path: Path, split: int) -> None:
    path = tmp_path / "night.avro"
    write(path, [record(event) for event in range(100)], block=7)
    assert [row["event"] for row in captured(str(path), split)] == list(range(100))


def test_a_torn_capture_is_read_to_its_last_block_and_told_of(tmp_path: Path) -> None:
    path = tmp_path / "torn.avro"
    write(path, [record(event) for event in range(100)], block=10)
    path.write_bytes(path.read_bytes()[:-50])
    *found, damage = captured(str(path))
    assert [row["event"] for row in found] == list(range(90))
    assert damage["notice"] == "DAMAGE"
    assert str(damage["text"]).startswith(f"{path}, byte ")
    assert "the last block is not whole" in str(damage["text"])


@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_capture_is_one_row_that_says_so(tmp_path: Path, name: str) -> None:
    content, reason = NO_FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    (damage,) = captured(str(path), split=100)
    assert (damage["notice"], damage["size"]) == ("DAMAGE", len(content))
    assert str(damage["text"]).startswith(f"{path}, byte 0: {reason}")


def test_an_empty_snapshot_is_a_row_and_an_empty_segment_is_none(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000000.log").touch()
    snapshot = tmp_path / "00000000000000000007-0000000001.checkpoint"
    snapshot.touch()
    (lost,) = logged(str(snapshot))
    assert lost["error"] == f"{snapshot}, byte 0: the snapshot is empty"
    assert logged(str(tmp_path / "00000000000000000000.log")) == []


def test_any_file_system_of_fsspec_will_do(tmp_path: Path) -> None:
    write(tmp_path / "night.avro", [record(event) for event in range(10)])
    memory = fsspec.filesystem("memory")
    memory.pipe("/bucket/night.avro", (tmp_path / "night.avro").read_bytes())
    try:
        found = captured("memory://bucket")
    finally:
        memory.rm("/bucket", recursive=True)
    assert [row["event"] for row in found] == list(range(10))
    assert {row["file"] for row in found} == {"memory://bucket/night.avro"}


def test_packets_are_rows_as_well(tmp_path: Path) -> None:
    path = tmp_path / "night.pcapng"
    asked = record(0, frame=vote(), size=len(vote()), correlation_id=9, client_id="raft")
    with path.open("wb") as file:
        write_pcapng(iter([asked]), file)
    (found,) = [row for row in captured(str(path)) if row["kind"] == "REQUEST"]
    assert (found["api_key"], found["api_version"], found["correlation_id"]) == (52, 2, 9)
    assert (found["frame"], found["size"], found["client_id"]) == (vote(), len(vote()), "raft")
    assert found["at"] == datetime.fromtimestamp(asked.at_us / 1e6, UTC)
    assert captured(str(path)) == captured(str(path))


@pytest.mark.parametrize("name", ["14-gz.pcap.gz", "17-ng-two-sections.pcapng"])
def test_packets_of_every_form_are_found_and_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((FIXTURES / "packets" / name).read_bytes())
    (tmp_path / "no.avro.gz").touch()
    (file,) = find([str(tmp_path)], CAPTURED)
    kinds = Counter(row["kind"] for row in captured(file.path))
    count = 10 if "two" in name else 5
    assert kinds == {"REQUEST": count, "RESPONSE": count, "NOTICE": 2 * count // 5}


def test_packets_that_are_missing_or_cannot_be_read_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "night.pcap"
    packets = base()
    path.write_bytes(pcap([*packets[:8], *packets[9:]])[:-3])
    notices = [row for row in captured(str(path)) if row["kind"] == "NOTICE"]
    assert [(row["notice"], row["text"]) for row in notices if row["notice"] != "OPENED"] == [
        ("NOT_CAPTURED", "30 bytes of the node are not in the file"),
        ("CLOSED", "closed"),
        ("DAMAGE", f"{path}, byte 1124: the file ends within a packet: 37 of 40 bytes are there"),
    ]


def segment(folder: Path, *batches: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "00000000000000000000.log"
    path.write_bytes(b"".join(batches))
    return path


def log_batch(offset: int, *values: bytes) -> bytes:
    records = [Record(value=value, timestamp=1_800_000_000_000) for value in values]
    return build_batch(records, base_offset=offset, partition_leader_epoch=3)


TOPIC = VersionedRecord(record=TopicRecord(name="orders"), version=0).encode()
UNKNOWN = VersionedRecord(record=OpaqueRecord(type=200, body=b"new"), version=4).encode()


def test_records_that_nobody_knows_or_can_read_are_rows(tmp_path: Path) -> None:
    path = segment(tmp_path, log_batch(0, TOPIC, UNKNOWN, b"\x01\x02\x00\xff"), log_batch(3, TOPIC))
    topic, unknown, broken, last = logged(str(path))
    assert (topic["name"], topic["identical"], topic["epoch"]) == ("TopicRecord", True, 3)
    assert (unknown["type"], unknown["name"], unknown["version"]) == (200, None, 4)
    assert (unknown["value"], unknown["error"]) == (UNKNOWN, None)
    assert (broken["offset"], broken["name"]) == (2, None)
    assert "TopicRecord v0" in str(broken["error"])
    assert last["offset"] == 3


@pytest.mark.parametrize("damage", ["cut", "crc"])
def test_a_broken_batch_is_a_row_with_file_and_offset(tmp_path: Path, damage: str) -> None:
    good, bad = log_batch(0, TOPIC), bytearray(log_batch(1, TOPIC))
    bad[-1] ^= 1
    path = segment(tmp_path, good, bytes(bad[:-5] if damage == "cut" else bad))
    first, lost = logged(str(path))
    assert first["offset"] == 0
    reason = "cut off" if damage == "cut" else "CRC"
    assert f"{path}, byte {len(good)}: " in str(lost["error"])
    assert reason in str(lost["error"])
    assert (lost["offset"], lost["position"]) == (None, len(good))


def test_rows_of_a_batch_with_many_records_are_not_kept_together(tmp_path: Path) -> None:
    made = [Record(b"", offset=number) for number in range(20_000)]
    path = segment(tmp_path, build_batch(made, compression=Compression.GZIP))
    (part,) = plan(find([str(path)], LOGGED))
    next(read_logged(part))  # what is loaded at the first use
    tracemalloc.start()
    try:
        next(read_logged(part))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000  # all of them take 10 MB


def test_offsets_and_times_that_no_column_holds_cost_no_more_than_themselves(
    tmp_path: Path,
) -> None:
    times = (253_402_300_799_999, 253_402_300_800_000, 1 << 62)
    good = build_batch([Record(TOPIC, timestamp=time) for time in times])
    most = (1 << 63) - 1
    fits, beyond = log_batch(most, TOPIC), bytearray(log_batch(most - 1, TOPIC, TOPIC))
    beyond[:8] = most.to_bytes(8, "big")
    *dated, last, lost = logged(str(segment(tmp_path, good, fits, bytes(beyond))))
    assert [row["at"] is None for row in dated] == [False, True, True]
    assert last["offset"] == most
    assert (lost["offset"], lost["position"]) == (None, len(good) + len(fits))
    assert "more than 64 bits" in str(lost["error"])


def test_a_segment_is_cut_where_its_index_knows_a_batch(tmp_path: Path) -> None:
    batches = [log_batch(offset, TOPIC) for offset in range(9)]
    path, size = segment(tmp_path, *batches), len(batches[0])
    entries = [struct.pack(">ii", number, number * size) for number in range(1, len(batches))]
    path.with_suffix(".index").write_bytes(b"".join(entries))
    parts = plan(find([str(path)], LOGGED), 2 * size)
    assert [part.start // size for part in parts] == [0, 2, 4, 6, 8]
    assert logged(str(path), 2 * size) == logged(str(path))


def test_a_segment_of_kafkas_is_cut_where_its_index_knows_a_batch() -> None:
    (path,) = map(str, LOG.glob("*/00000000000000000000.log"))
    assert len(plan(find([path], LOGGED), 500)) == 2
    assert logged(path, 500) == logged(path)
