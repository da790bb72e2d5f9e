"""A snapshot is checked, and read, without all of it in memory."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from uuid import UUID

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.raft.control_record_state_machine import ControlRecordStateMachine
from kwire.controller.raft.voter_set import VoterSet
from kwire.errors import FileError
from kwire.logdir.names import OffsetAndEpoch, snapshot_name
from kwire.logdir.snapshots import build_snapshot, check_snapshot, iter_snapshot, load_snapshot
from kwire.messages.data.voters_record import VotersRecord
from kwire.messages.records.topic import TopicRecord
from memory_log import MemoryLog

ID = OffsetAndEpoch(offset=9000, epoch=3)


@cache
def records() -> list[VersionedRecord]:
    return [
        VersionedRecord(record=TopicRecord(name=f"t{n}", topic_id=UUID(int=n + 1)), version=0)
        for n in range(3000)
    ]


@cache
def batches() -> list[bytes]:
    snapshot = build_snapshot(records(), epoch=3, now=1, kraft_version=1, voters=VotersRecord())
    return list(snapshot)


def whole() -> bytes:
    return b"".join(batches())


def written(folder: Path, data: bytes) -> Path:
    (folder / snapshot_name(ID)).write_bytes(data)
    return folder


def test_a_snapshot_in_pieces_has_the_records_of_the_whole(tmp_path: Path) -> None:
    folder = written(tmp_path, whole())
    check_snapshot(folder, ID)
    assert list(iter_snapshot(folder, ID)) == records() == list(load_snapshot(folder, ID).records)


def flipped(data: bytes, position: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


BROKEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (bytes, "without its footer"),
    "no footer": (lambda: b"".join(batches()[:-1]), "without its footer"),
    "cut off": (lambda: whole()[:-1], "without its footer"),
    "bytes behind": (lambda: whole() + b"\0", "without its footer"),
    "no header": (lambda: b"".join(batches()[1:]), "does not begin"),
    "a flipped bit": (lambda: flipped(whole(), 5000), "CRC"),
}


@pytest.mark.parametrize(("data", "reason"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("read", [check_snapshot, lambda *which: list(iter_snapshot(*which))])
def test_a_broken_one_is_refused_as_the_whole_is(
    tmp_path: Path,
    data: Callable[[], bytes],
    reason: str,
    read: Callable[[Path, OffsetAndEpoch], object],
) -> None:
    folder = written(tmp_path, data())
    with pytest.raises(FileError, match=reason):
        read(folder, ID)
    with pytest.raises(FileError):
        load_snapshot(folder, ID)


def test_a_replica_reads_no_more_of_a_snapshot_than_what_concerns_it() -> None:
    """A replica reads a snapshot within a step, and it may have hundreds of megabytes."""
    log = Measured()
    log.store_snapshot(ID, whole())
    history = ControlRecordStateMachine(VoterSet())
    history.load(log)
    assert history.kraft_version == 1
    assert log.bytes_read < len(whole()) // 4


class Measured(MemoryLog):
    """Counts the bytes of snapshots that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes_read = 0

    def read_snapshot(self, id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        data = super().read_snapshot(id, position, max_bytes)
        self.bytes_read += len(data)
        return data
