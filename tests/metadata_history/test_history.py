"""Changes from the batches of a log, and the change that set each value last."""

from pathlib import Path
from uuid import UUID

import pytest

from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord
from kwire.errors import FileError, InvalidValue
from kwire.logdir.names import OffsetAndEpoch
from kwire.logdir.snapshots import build_snapshot, write_snapshot
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.voters_record import Voter, VotersRecord
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.metadata_history.history import LoggedChange, Origin, blame
from kwire.metadata_history.reading import HistoryReading, stored_history
from tests.support.metadata_history.logs import NOON, WrittenLog

ID = UUID(int=7)
TOPIC = 2


def told(changes: list[LoggedChange]) -> list[tuple[object, ...]]:
    return [
        (change.place.offset, change.entry.path, change.entry.before, change.entry.after)
        for change in changes
    ]


def read(folder: Path) -> tuple[list[LoggedChange], HistoryReading]:
    reading = stored_history(folder)
    return list(reading.changes()), reading


def retention(value: str | None, name: str = "orders") -> ConfigRecord:
    return ConfigRecord(resource_type=TOPIC, resource_name=name, name="retention.ms", value=value)


def test_a_change_has_its_place_and_what_it_was_before(tmp_path: Path) -> None:
    log = WrittenLog(tmp_path)
    log.lead(3001, epoch=4)
    log.add(retention("1"))
    log.lead(3002, epoch=5)
    log.add(retention("2"), retention("2"))
    log.save()
    changes, _ = read(tmp_path)
    path = "/configs/TOPIC:orders/retention.ms"
    assert told(changes) == [
        (0, "/raft/leader", None, 3001),
        (1, path, None, "1"),
        (2, "/raft/leader", 3001, 3002),
        (3, path, "1", "2"),  # that which changes nothing is none
    ]
    place = changes[-1].place
    assert (place.epoch, place.leader_id, place.timestamp) == (5, 3002, NOON + 3000)
    (last,) = [change for change in blame(changes) if change.entry.path == path]
    assert (last.place.offset, last.entry.after) == (3, "2")


def test_fields_have_the_offset_that_set_them_last_and_deleted_things_none(tmp_path: Path) -> None:
    log = WrittenLog(tmp_path)
    partition = PartitionRecord(topic_id=ID, partition_id=0, replicas=(1, 2), isr=(1, 2), leader=1)
    log.add(TopicRecord(name="orders", topic_id=ID), partition, retention("5"))
    log.add(PartitionChangeRecord(topic_id=ID, partition_id=0, isr=(1,)))
    log.save()
    changes, _ = read(tmp_path)
    assert {change.place.offset for change in changes[:3]} == {0}  # a new topic is one thing
    last = {
        (change.entry.path, change.entry.field): change.place.offset for change in blame(changes)
    }
    assert last["/partitions/orders-0", "replicas"] == 0
    assert last["/partitions/orders-0", "isr"] == 3
    log.add(RemoveTopicRecord(topic_id=ID))
    log.save()
    changes, _ = read(tmp_path)
    assert told(changes)[-1] == (4, "/configs/TOPIC:orders/retention.ms", "5", None)
    assert blame(changes) == []


def test_a_transaction_is_told_at_its_end_with_the_place_of_each_record(tmp_path: Path) -> None:
    log = WrittenLog(tmp_path)
    log.add(BeginTransactionRecord(name="x"), retention("1"))
    log.add(retention("2"), retention("9", "other"))
    log.save()
    assert read(tmp_path)[0] == []
    log.add(EndTransactionRecord())
    log.add(BeginTransactionRecord(name="y"), retention("3"))
    log.add(AbortTransactionRecord())
    log.add(retention("4"))
    log.save()
    path = "/configs/TOPIC:orders/retention.ms"
    assert told(read(tmp_path)[0]) == [
        (1, path, None, "1"),
        (2, path, "1", "2"),
        (3, "/configs/TOPIC:other/retention.ms", None, "9"),
        (8, path, "2", "4"),
    ]


def test_records_that_are_not_known_are_shown(tmp_path: Path) -> None:
    log = WrittenLog(tmp_path)
    log.add(OpaqueRecord(type=900, body=b"abc"), version=3)
    log.add(retention("1"), OpaqueRecord(type=901, body=b""))
    log.control_value(b"\x00\x00\x00\x63", b"\x00\x00")
    log.save()
    assert told(read(tmp_path)[0]) == [
        (0, "/unknownRecords/0", None, "record type 900, version 3"),
        (1, "/configs/TOPIC:orders/retention.ms", None, "1"),
        (2, "/unknownRecords/1", None, "record type 901, version 0"),
        (3, "/raft/unknownRecords/3", None, "control record type 99"),
    ]


def test_a_new_password_is_a_change_and_is_not_shown(tmp_path: Path) -> None:
    log = WrittenLog(tmp_path)
    for salt in (b"a", b"b"):
        credential = UserScramCredentialRecord(
            name="alice",
            mechanism=1,
            salt=salt,
            stored_key=b"k",
            server_key=b"s",
            iterations=4096,
        )
        log.add(credential)
    log.save()
    changes, _ = read(tmp_path)
    assert told(changes)[1:] == [(1, "/scram/SCRAM-SHA-256/alice", "[redacted]", "[redacted]")]
    assert changes[1].entry.field == "salt"


def test_what_a_checkpoint_hides_is_said(tmp_path: Path) -> None:
    records = [VersionedRecord(record=retention("1"), version=0)]
    id = OffsetAndEpoch(offset=50, epoch=3)
    pieces = build_snapshot(records, epoch=3, now=NOON, last_contained_log_timestamp=NOON - 5)
    write_snapshot(tmp_path, id, pieces)
    log = WrittenLog(tmp_path, base=50, epoch=3)
    log.add(retention("2"))
    log.save()
    changes, reading = read(tmp_path)
    path = "/configs/TOPIC:orders/retention.ms"
    assert told(changes) == [(49, path, None, "1"), (50, path, "1", "2")]
    assert [change.place.origin for change in changes] == [Origin.CHECKPOINT, Origin.LOG]
    assert changes[0].place.timestamp == NOON - 5
    assert list(reading.sentences()) == [
        "not known before offset 50: the log begins with a checkpoint, which has values but not"
        " what set them"
    ]
    assert len(list(reading.changes(49))) == 1
    for offset in (48, 51):
        with pytest.raises(InvalidValue, match=rf"offset {offset}: it has offsets 49 to 50"):
            list(stored_history(tmp_path).changes(offset))
    (tmp_path / "00000000000000000050-0000000003.checkpoint").unlink()
    with pytest.raises(FileError, match="begins at 50 without a checkpoint"):
        stored_history(tmp_path)


def test_the_voters_of_formatting_are_a_change(tmp_path: Path) -> None:
    voters = VotersRecord(voters=[Voter(voter_id=1, voter_directory_id=ID)])
    pieces = build_snapshot([], epoch=0, now=NOON, kraft_version=1, voters=voters)
    write_snapshot(tmp_path, OffsetAndEpoch(offset=0, epoch=0), pieces)
    log = WrittenLog(tmp_path)
    log.lead(1, epoch=1)
    log.control(KRaftVersionRecord(k_raft_version=1), voters)
    log.control(VotersRecord(voters=[]))
    log.save()
    changes, _ = read(tmp_path)
    directory = {"directoryId": "AAAAAAAAAAAAAAAAAAAABw", "endpoints": []}
    assert told(changes) == [
        (None, "/raft/kraftVersion", 0, 1),
        (None, "/voters/1", None, directory),
        (0, "/raft/leader", None, 1),
        (3, "/voters/1", directory, None),
    ]
    assert changes[0].place.origin is Origin.FORMATTING


def test_clocks_that_disagree_are_named(tmp_path: Path) -> None:
    log = WrittenLog(tmp_path)
    log.lead(1, epoch=1)
    log.add(retention("1"))
    log.lead(2, epoch=2, time=NOON - 7_199_000)
    log.add(retention("2"))
    log.lead(1, epoch=3, time=log.time)
    log.save()
    changes, reading = read(tmp_path)
    assert [change.place.offset for change in changes] == [0, 1, 2, 3, 4]
    (sentence,) = reading.sentences()
    assert sentence == (
        "clocks disagree: time goes back by 7,200.0 s between offset 1 of leader 1 in epoch 1"
        " (2026-11-18 11:06:41 UTC) and offset 2 of leader 2 in epoch 2"
        " (2026-11-18 09:06:41 UTC); the order is that of the offsets"
    )


def test_a_torn_end_is_said_and_damage_ends_the_changes(tmp_path: Path) -> None:
    log = WrittenLog(tmp_path)
    log.add(retention("1"))
    second = len(log.data)
    log.add(retention("2"))
    path = log.save()
    path.write_bytes(log.data[:-3])
    changes, reading = read(tmp_path)
    assert len(changes) == 1
    torn = len(log.data) - 3 - second
    assert list(reading.sentences()) == [
        f"the last {torn} bytes of the log are no whole batch: the node is writing it, or has"
        " crashed while it wrote"
    ]
    log.data[second + 70] ^= 1
    log.save()
    damaged = stored_history(tmp_path).changes()
    assert next(damaged) == changes[0]
    with pytest.raises(FileError) as error:
        next(damaged)
    assert error.value.offset == second


def test_a_record_that_does_not_fit_names_its_place(tmp_path: Path) -> None:
    log = WrittenLog(tmp_path)
    log.add(retention("1"))
    second = len(log.data)
    log.add(RemoveTopicRecord(topic_id=ID))
    path = log.save()
    with pytest.raises(FileError) as error:
        read(tmp_path)
    assert (error.value.file, error.value.offset) == (path, second)


def test_a_folder_without_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="has no metadata log: give the folder"):
        stored_history(tmp_path)
