"""Control records and metadata records that nobody knows pass, broken ones have a typed error."""

import pytest

from kwire.batches import Record, build_batch, read_batches
from kwire.batches.control_records import (
    ControlRecordType,
    quorum_record,
    read_control_record,
)
from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord, read_metadata_record
from kwire.errors import BatchError, DecodeError
from kwire.messages.data.end_txn_marker import EndTxnMarker
from kwire.messages.data.leader_change_message import LeaderChangeMessage, Voter
from kwire.messages.records.feature_level import FeatureLevelRecord
from tests.support.transaction_markers import end_transaction_record


def test_a_leader_change_goes_through_a_control_batch() -> None:
    message = LeaderChangeMessage(leader_id=1, voters=[Voter(voter_id=1)])
    data = build_batch([quorum_record(message)], is_control=True)
    (batch,) = read_batches(data)
    (record,) = batch.records()
    control = read_control_record(record)
    assert batch.is_control
    assert (control.type, control.message) == (ControlRecordType.LEADER_CHANGE, message)


def test_the_message_names_the_version_it_is_written_at() -> None:
    message = LeaderChangeMessage(version=1, leader_id=1)
    control = read_control_record(quorum_record(message))
    assert (control.version, control.message) == (1, message)


@pytest.mark.parametrize(("commit", "type"), [(True, "COMMIT"), (False, "ABORT")])
def test_transaction_markers_have_their_version_before_them(commit: bool, type: str) -> None:
    record = end_transaction_record(commit=commit, coordinator_epoch=7)
    assert record.value == bytes([0, 0, 0, 0, 0, 7])
    control = read_control_record(record)
    assert control.type == ControlRecordType[type]
    assert control.message == EndTxnMarker(coordinator_epoch=7)


@pytest.mark.parametrize(
    "record",
    [
        Record(key=bytes([0, 0, 0, 7]), value=b"whatever"),
        Record(key=bytes([0, 0, 0xFF, 0xFF]), value=None),
        Record(key=bytes([0, 0, 0, 2]), value=bytes([0, 9]) + b"a version to come"),
        Record(key=bytes([0, 0, 0, 1]), value=bytes([0, 9]) + b"a version to come"),
    ],
)
def test_unknown_types_and_versions_pass_unharmed(record: Record) -> None:
    control = read_control_record(record)
    assert control.message is None
    assert control.record is record


@pytest.mark.parametrize(
    "record",
    [
        Record(key=None, value=b""),
        Record(key=bytes([0, 0, 0]), value=b""),
        Record(key=bytes([0xFF, 0xFF, 0, 1]), value=bytes(6)),
        Record(key=bytes([0, 0, 0, 2]), value=None),
    ],
)
def test_what_is_no_control_record_is_said_to_be_none(record: Record) -> None:
    with pytest.raises(BatchError, match="no control record"):
        read_control_record(record)


def test_a_broken_control_message_names_its_field() -> None:
    with pytest.raises(DecodeError, match="LeaderChangeMessage v0 leader_id"):
        read_control_record(Record(key=bytes([0, 0, 0, 2]), value=bytes([0, 0, 1])))


def test_a_metadata_record_is_framed_by_three_varints() -> None:
    level = FeatureLevelRecord(name="metadata.version", feature_level=30)
    value = VersionedRecord(record=level, version=0).encode()
    assert value[:3] == bytes([1, 12, 0])
    assert read_metadata_record(value) == VersionedRecord(record=level, version=0)


@pytest.mark.parametrize(
    ("type", "version", "frame"), [(300, 0, "01ac0200"), (12, 200, "010cc801"), (99, 5, "016305")]
)
def test_unknown_metadata_records_keep_their_bytes(type: int, version: int, frame: str) -> None:
    value = bytes.fromhex(frame) + b"not known yet"
    record = read_metadata_record(value)
    assert record.record == OpaqueRecord(type=type, body=b"not known yet")
    assert (record.type, record.version) == (type, version)
    assert record.encode() == value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "inside a varint"),
        (bytes([2, 12, 0]), "frame version 2"),
        (b"\xff" * 6, "more than 5 bytes"),
        (bytes([1, 12, 0, 5]), "name"),
        (bytes([1, 20, 0, 0, 0]), "left over"),
    ],
)
def test_a_broken_metadata_record_is_a_decode_error(value: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        read_metadata_record(value)
