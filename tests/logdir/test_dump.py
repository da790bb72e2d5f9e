"""The dump of records that are unknown or damaged."""

import json
import subprocess
import sys
from math import inf, nan
from pathlib import Path
from uuid import UUID

import pytest

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.codec.json_form import to_json
from kwire.errors import InvalidValue
from kwire.logdir.dump import Dump, payload_text, record_type_name
from kwire.logdir.dump_json import records_as_json
from kwire.logdir.filesystem import DiskFile
from kwire.logdir.lock import DirectoryLock
from kwire.messages.index import METADATA_RECORDS
from kwire.messages.records.client_quota import ClientQuotaRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.messages.registry import metadata_record
from tests.support.transaction_markers import end_transaction_record

SEGMENT = "00000000000000000000.log"


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    unknown = VersionedRecord(record=OpaqueRecord(type=99, body=b"\x01\x02"), version=3)
    values = [unknown.encode(), b"\x01\x0c\x00\x05", b"\x02"]
    marker = end_transaction_record(commit=True, coordinator_epoch=7)
    future = Record(key=b"\x00\x00\x00\x09", value=b"?")
    path = tmp_path / SEGMENT
    path.write_bytes(
        build_batch([Record(value=value) for value in values])
        + build_batch([marker, future], base_offset=3, is_control=True)
    )
    return path


def test_unknown_and_broken_records_are_named_and_the_others_follow(segment: Path) -> None:
    dump = Dump()
    lines = [line.partition("headerKeys: [] ")[2] for line in dump.lines(segment)]
    said = [line for line in lines if line]
    assert said[0] == ("payload: Error at 0, skipping. Unknown record type 99, version 3: 0102")
    assert said[1].startswith("payload: Error at 1, skipping. FeatureLevelRecord v0 name at byte")
    assert said[2].startswith("payload: Error at 2, skipping. MetadataRecord v1 at byte")
    assert said[3:] == ["endTxnMarker: COMMIT coordinatorEpoch: 7", "controlType: UNKNOWN(9)"]


def test_json_has_them_too(segment: Path) -> None:
    unknown, broken, _, marker, future = records_as_json(segment)
    assert (unknown["type"], unknown["version"], unknown["value"]) == (99, 3, "0102")
    assert broken["error"].startswith("FeatureLevelRecord v0 name")
    assert (marker["type"], marker["data"]) == ("COMMIT", {"coordinatorEpoch": 7})
    assert (future["type"], future["value"]) == (9, b"?".hex())
    json.dumps([unknown, broken, marker, future])


def test_the_state_of_a_migration_has_its_name_in_json(tmp_path: Path) -> None:
    states = [ZkMigrationStateRecord(zk_migration_state=number) for number in (2, 1, 9)]
    values = [VersionedRecord(record=state, version=0).encode() for state in states]
    (tmp_path / SEGMENT).write_bytes(build_batch([Record(value=value) for value in values]))
    pre, migration, unknown = records_as_json(tmp_path / SEGMENT)
    assert (pre["data"], pre["state"]) == ({"zkMigrationState": 2}, "PRE_MIGRATION")
    assert migration["state"] == "MIGRATION"
    assert "state" not in unknown


def test_a_file_without_records_has_none_as_json(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="no segment and no snapshot"):
        list(records_as_json(tmp_path / "quorum-state"))


def test_record_types_are_called_as_kafka_calls_them() -> None:
    names = {record_type_name(metadata_record(key)) for key in METADATA_RECORDS}
    assert {"FEATURE_LEVEL_RECORD", "NO_OP_RECORD", "CLEAR_ELR_RECORD"} < names
    assert "ZK_MIGRATION_STATE_RECORD" in names
    assert len(names) == len(METADATA_RECORDS)


@pytest.mark.parametrize("digits", ["²" * 20, "٣" * 20, "9" * 100, "1" * 19])
@pytest.mark.parametrize("suffix", [".log", ".index", ".timeindex", "-0000000001.checkpoint"])
def test_a_file_whose_name_has_other_digits_is_unknown(
    tmp_path: Path, digits: str, suffix: str
) -> None:
    path = tmp_path / f"{digits}{suffix}"
    path.touch()
    dump = Dump()
    assert list(dump.lines(path)) == [f"Dumping {path}"]
    assert dump.problems == [f"Ignoring unknown file {path}"]


def test_a_gap_between_offsets_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / SEGMENT
    path.write_bytes(
        build_batch([Record(value=b"\x01\x14\x00\x00")])
        + build_batch([Record(value=b"\x01\x14\x00\x00")], base_offset=5)
    )
    dump = Dump()
    list(dump.lines(path))
    assert dump.problems == [f"{path}: 0 is followed by 5"]


def test_what_a_node_appends_behind_the_last_look_is_no_problem(
    segment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, size = DiskFile.read, segment.stat().st_size

    def read_before_an_append(file: DiskFile, position: int, count: int) -> bytes:
        data = read(file, position, count)
        if position == size:
            with segment.open("ab") as node:
                node.write(build_batch([Record(value=b"later")], base_offset=5))
        return data

    monkeypatch.setattr(DiskFile, "read", read_before_an_append)
    dump = Dump()
    assert "invalid bytes" not in "".join(dump.lines(segment))
    assert dump.problems == []
    assert segment.stat().st_size > size


def test_a_directory_has_one_owner_at_a_time(tmp_path: Path) -> None:
    hold = (
        "import sys; from pathlib import Path; from kwire.logdir.lock import DirectoryLock\n"
        "with DirectoryLock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(InvalidValue, match="another process uses"):
            DirectoryLock(tmp_path)
        other.communicate()
    with DirectoryLock(tmp_path):
        pass


AT_THE_EDGE = (
    TopicRecord(name="".join(map(chr, range(0x20))) + '"\\/\x7f\u2028é😀', topic_id=UUID(int=1)),
    TopicRecord(name="\udcff\udc80", topic_id=UUID(int=2)),
    *(ClientQuotaRecord(key="k", value=value) for value in (1e16, 1e-7, 0.1, 5.0, inf, nan)),
    PartitionRecord(partition_id=(1 << 31) - 1, leader=-(1 << 31), replicas=(), isr=(1, 2)),
)


@pytest.mark.parametrize("record", AT_THE_EDGE)
def test_the_payload_is_the_json_that_python_prints(record: MetadataRecord) -> None:
    form = {"type": record_type_name(type(record)), "version": 0, "data": to_json(record, 0)}
    value = VersionedRecord(record=record, version=0).encode()
    text = json.dumps(form, separators=(",", ":"), ensure_ascii=False)
    assert payload_text(Record(value=value)) == text


def test_of_the_metadata_records_client_quotas_alone_have_a_fraction() -> None:
    declared = (metadata_record(key) for key in METADATA_RECORDS)
    assert [cls for cls in declared if "float" in str(cls.__annotations__)] == [ClientQuotaRecord]
