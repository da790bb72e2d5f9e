"""The metadata log: what is appended, read, truncated, cleaned, on a disk and in memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.batches import Record, build_legacy_batch, read_batches
from kwire.errors import FileError, InvalidValue, StorageFailed
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.log import LogConfig, MetadataLog
from kwire.logdir.names import OffsetAndEpoch
from kwire.logdir.snapshots import build_snapshot, load_snapshot
from kwire.messages.data.voters_record import VotersRecord
from memory_files import MemoryFileSystem
from tests.support.logdir.batches import NO_OP, SMALL, batch


@pytest.fixture(params=["disk", "memory"])
def fs(request: pytest.FixtureRequest) -> FileSystem:
    return DISK if request.param == "disk" else MemoryFileSystem()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "__cluster_metadata-0"


@pytest.fixture
def log(fs: FileSystem, folder: Path) -> Iterator[MetadataLog]:
    """Offsets 0 to 99, ten a batch in epochs 1 (0), 2 (30) and 5 (70), in small segments."""
    with MetadataLog.open(folder, fs, SMALL) as log:
        for offset in range(0, 100, 10):
            log.append(batch(offset, 1 if offset < 30 else 2 if offset < 70 else 5, count=10))
        log.flush()
        yield log


def snapshot(log: MetadataLog, offset: int, epoch: int, last_contained: int = 0) -> OffsetAndEpoch:
    wanted = OffsetAndEpoch(offset=offset, epoch=epoch)
    file = log.begin_snapshot(wanted)
    for data in build_snapshot(
        [NO_OP] * 3,
        epoch=epoch,
        now=1000,
        kraft_version=1,
        last_contained_log_timestamp=last_contained,
    ):
        file.append(data)
    file.freeze()
    log.add_snapshot(wanted)
    return wanted


def test_a_log_comes_back_as_it_was_closed(fs: FileSystem, folder: Path, log: MetadataLog) -> None:
    batches = [log_batch.data for log_batch in log.batches(0)]
    log.close()
    with MetadataLog.open(folder, fs, SMALL) as again:
        assert again.torn is None
        assert (again.start_offset, again.end_offset, again.last_fetched_epoch) == (0, 100, 5)
        assert [log_batch.data for log_batch in again.batches(0)] == batches
        assert [(start.epoch, start.offset) for start in again.epoch_starts] == [
            (1, 0),
            (2, 30),
            (5, 70),
        ]


def test_segments_are_named_by_their_first_offset_and_full_ones_are_indexed(
    fs: FileSystem, folder: Path, log: MetadataLog
) -> None:
    segments = [name for name in fs.names(folder) if name.endswith(".log")]
    assert len(segments) > 2
    assert all(int(name[:20]) % 10 == 0 for name in segments)
    for name in segments[:-1]:
        assert name.replace(".log", ".timeindex") in fs.names(folder)


def test_old_segments_are_rolled_by_the_time_of_their_batches(fs: FileSystem, folder: Path) -> None:
    with MetadataLog.open(folder, fs, LogConfig(segment_ms=100)) as log:
        log.append(batch(0, timestamp=1000))
        log.append(batch(1, timestamp=1100))
        log.append(batch(2, timestamp=1101))
    assert [name for name in fs.names(folder) if name.endswith(".log")] == [
        "00000000000000000000.log",
        "00000000000000000002.log",
    ]


@pytest.mark.parametrize(
    ("offset", "size", "end", "bases"),
    [
        (0, 1, None, [0]),
        (5, 1, None, [0]),
        (10, 10**6, None, list(range(10, 100, 10))),
        (10, 10**6, 40, [10, 20, 30]),
        (10, 10**6, 39, [10, 20]),
        (0, 1, 5, []),
        (100, 1, None, []),
    ],
)
def test_a_read_gives_whole_batches_at_least_one_and_none_behind_its_end(
    log: MetadataLog, offset: int, size: int, end: int | None, bases: list[int]
) -> None:
    data = log.read(offset, size, end)
    assert [log_batch.base_offset for log_batch in read_batches(data)] == bases


@pytest.mark.parametrize("offset", [-1, 101])
def test_offsets_outside_the_log_cannot_be_read(log: MetadataLog, offset: int) -> None:
    with pytest.raises(InvalidValue, match="0 to 100"):
        log.read(offset, 1)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (batch(99, 5), "does not follow offset 99"),
        (batch(101, 5), "does not follow offset 99"),
        (batch(100, 4), "epoch 4 does not follow"),
        (b"", "no whole batch"),
        (batch(100, 5)[:-1], "no whole batch"),
        (batch(100, 5) + batch(102, 5), "offset 102"),
        (build_legacy_batch([Record(value=b"")], 1, base_offset=100), "format 1"),
    ],
)
def test_what_does_not_follow_is_refused_and_nothing_of_it_written(
    log: MetadataLog, data: bytes, reason: str
) -> None:
    size = log.size
    with pytest.raises(InvalidValue, match=reason):
        log.append(data)
    assert (log.end_offset, log.size) == (100, size)


@pytest.mark.parametrize(
    ("offset", "end", "epochs"),
    [(95, 90, [1, 2, 5]), (70, 70, [1, 2]), (31, 30, [1]), (0, 0, []), (100, 100, [1, 2, 5])],
)
def test_truncation_drops_whole_batches_and_their_epochs(
    fs: FileSystem, folder: Path, log: MetadataLog, offset: int, end: int, epochs: list[int]
) -> None:
    log.truncate_to(offset)
    assert log.end_offset == end
    assert [start.epoch for start in log.epoch_starts] == epochs
    log.append(batch(end, 7))
    log.close()
    with MetadataLog.open(folder, fs, SMALL) as again:
        assert (again.end_offset, again.last_fetched_epoch) == (end + 1, 7)


@pytest.mark.parametrize(
    ("epoch", "found"),
    [(0, (0, 0)), (1, (1, 30)), (2, (2, 70)), (4, (2, 70)), (5, (5, 100)), (6, (5, 100))],
)
def test_an_epoch_ends_where_the_next_begins(
    log: MetadataLog, epoch: int, found: tuple[int, int]
) -> None:
    end = log.end_offset_for_epoch(epoch)
    assert (end.epoch, end.offset) == found


def test_an_epoch_before_the_first_ends_at_the_snapshot_the_log_begins_with(
    log: MetadataLog,
) -> None:
    """Otherwise a follower behind the snapshot would be told of an epoch that is no more."""
    log.delete_before(snapshot(log, 50, 2))
    assert log.end_offset_for_epoch(1) == OffsetAndEpoch(offset=50, epoch=2)


def test_snapshots_let_the_segments_before_them_go(
    fs: FileSystem, folder: Path, log: MetadataLog
) -> None:
    old, new = snapshot(log, 30, 1), snapshot(log, 70, 2)
    assert log.delete_before(new)
    assert (log.start_offset, log.snapshots) == (70, (new,))
    assert not log.has_snapshot(old)
    assert [(start.epoch, start.offset) for start in log.epoch_starts] == [(5, 70)]
    log.close()
    with MetadataLog.open(folder, fs, SMALL) as again:
        assert again.start_offset <= 70
        assert again.snapshots == (new,)
        assert [log_batch.base_offset for log_batch in again.batches(70)] == [70, 80, 90]


def test_cleaning_keeps_the_latest_snapshot_and_all_behind_it(log: MetadataLog) -> None:
    kept = [snapshot(log, offset, epoch) for offset, epoch in ((30, 1), (70, 2), (90, 5))][-1]
    assert not log.clean(max_bytes=10**6)
    assert log.clean(max_bytes=0)
    assert (log.start_offset, log.snapshots) == (90, (kept,))
    assert not log.clean(max_bytes=0)


def test_snapshots_of_an_old_past_go(log: MetadataLog) -> None:
    for offset, epoch in ((30, 1), (70, 2), (90, 5)):
        snapshot(log, offset, epoch, last_contained=1000 * offset)
    assert not log.clean(older_than=30_000)
    assert log.clean(older_than=70_000)
    assert log.start_offset == 70


def test_a_log_that_is_behind_its_latest_snapshot_begins_anew_behind_it(
    fs: FileSystem, folder: Path, log: MetadataLog
) -> None:
    ahead = OffsetAndEpoch(offset=500, epoch=9)
    file = log.begin_snapshot(ahead)
    file.append(b"".join(build_snapshot([NO_OP], epoch=9, now=1)))
    file.freeze()
    log.close()
    with MetadataLog.open(folder, fs, SMALL) as again:
        assert (again.start_offset, again.end_offset, again.last_fetched_epoch) == (500, 500, 9)
        assert [name for name in fs.names(folder) if name.endswith(".log")] == [
            "00000000000000000500.log"
        ]
        again.append(batch(500, 9))


def test_a_snapshot_is_served_in_slices_and_loaded_whole(
    fs: FileSystem, folder: Path, log: MetadataLog
) -> None:
    made = snapshot(log, 50, 2)
    size = log.snapshot_size(made)
    slices = [log.read_snapshot(made, at, 100) for at in range(0, size, 100)]
    assert len(b"".join(slices)) == size
    content = load_snapshot(folder, made, fs)
    assert content.records == (NO_OP, NO_OP, NO_OP)
    assert (content.kraft_version, content.voters) == (1, None)


def test_a_snapshot_without_its_footer_is_not_taken_in(log: MetadataLog) -> None:
    wanted = OffsetAndEpoch(offset=50, epoch=2)
    file = log.begin_snapshot(wanted)
    *whole, _ = build_snapshot([NO_OP], epoch=2, now=1, kraft_version=1, voters=VotersRecord())
    file.append(b"".join(whole))
    file.freeze()
    with pytest.raises(FileError, match="without its footer"):
        log.add_snapshot(wanted)


def append_and_flush(log: MetadataLog) -> None:
    log.append(batch(1))
    log.flush()


@pytest.mark.parametrize("operation", ["append", "flush"])
def test_after_the_disk_failed_nothing_is_acknowledged_any_more(operation: str) -> None:
    fs, folder = MemoryFileSystem(), Path("/log")
    log = MetadataLog.open(folder, fs)
    log.append(batch(0))
    log.flush()

    def full(what: str, path: Path) -> None:
        if what == operation and path.suffix == ".log":
            raise OSError(28, "No space left on device")

    fs.fault = full
    with pytest.raises(StorageFailed, match="No space left"):
        append_and_flush(log)
    fs.fault = None
    with pytest.raises(StorageFailed, match="failed before"):
        log.flush()
    fs.crash()
    assert MetadataLog.open(folder, fs).end_offset == 1
