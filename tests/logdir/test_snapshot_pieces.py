"""A snapshot is checked, and read, without all of it in memory."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.raft import MemoryLog
from kwire.controller.raft.control_record_state_machine import ControlRecordStateMachine
from kwire.controller.raft.voter_set import VoterSet
from kwire.errors import FileError
from kwire.logdir.names import OffsetAndEpoch, snapshot_name
from kwire.logdir.snapshots import build_snapshot, check_snapshot, iter_snapshot, load_snapshot
from kwire.messages.data.voters_record import VotersRecord
from kwire.messages.records.topic import TopicRecord

ID = OffsetAndEpoch(offset=9000, epoch=3)
RECORDS = [
    VersionedRecord(record=TopicRecord(name=f"t{n}", topic_id=UUID(int=n + 1)), version=0)
    for n in range(3000)
]
BATCHES = list(build_snapshot(RECORDS, epoch=3, now=1, kraft_version=1, voters=VotersRecord()))
WHOLE = b"".join(BATCHES)


def written(folder: Path, data: bytes) -> Path:
    (folder / snapshot_name(ID)).write_bytes(data)
    return folder


def test_a_snapshot_in_pieces_has_the_records_of_the_whole(tmp_path: Path) -> None:
    folder = written(tmp_path, WHOLE)
    check_snapshot(folder, ID)
    assert list(iter_snapshot(folder, ID)) == RECORDS == list(load_snapshot(folder, ID).records)


BROKEN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "without its footer"),
    "no footer": (b"".join(BATCHES[:-1]), "without its footer"),
    "cut off": (WHOLE[:-1], "without its footer"),
    "bytes behind": (WHOLE + b"\0", "without its footer"),
    "no header": (b"".join(BATCHES[1:]), "does not begin"),
    "a flipped bit": (WHOLE[:5000] + bytes([WHOLE[5000] ^ 1]) + WHOLE[5001:], "CRC"),
}


@pytest.mark.parametrize(("data", "reason"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("read", [check_snapshot, lambda *which: list(iter_snapshot(*which))])
def test_a_broken_one_is_refused_as_the_whole_is(
    tmp_path: Path, data: bytes, reason: str, read: Callable[[Path, OffsetAndEpoch], object]
) -> None:
    folder = written(tmp_path, data)
    with pytest.raises(FileError, match=reason):
        read(folder, ID)
    with pytest.raises(FileError):
        load_snapshot(folder, ID)


def test_a_replica_reads_no_more_of_a_snapshot_than_what_concerns_it() -> None:
    """A replica reads a snapshot within a step, and it may have hundreds of megabytes."""
    log = Measured()
    log.store_snapshot(ID, WHOLE)
    history = ControlRecordStateMachine(VoterSet())
    history.load(log)
    assert history.kraft_version == 1
    assert log.bytes_read < len(WHOLE) // 4


class Measured(MemoryLog):
    """Counts the bytes of snapshots that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes_read = 0

    def read_snapshot(self, id: OffsetAndEpoch, position: int, max_bytes: int) -> bytes:
        data = super().read_snapshot(id, position, max_bytes)
        self.bytes_read += len(data)
        return data
