"""The log is replayed in slices and shown as far as it is committed."""

from collections.abc import Iterator

import pytest

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.raft import OffsetAndEpoch
from kwire.controller.server.metadata import replay
from kwire.controller.server.metadata.replay import SLICE, Replay, Replayed
from kwire.controller.state_machine.metadata_view import MetadataView
from kwire.image import apply_all
from tests.support.controller.server.topic_records import CountedDecoding, topics


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> CountedDecoding:
    return CountedDecoding(monkeypatch)


class FakeLog:
    """The part of a directory's log that a Replay reads: batches, and one snapshot."""

    def __init__(self, *sizes: int) -> None:
        self.batches: list[tuple[int, int, bytes]] = []
        self.snapshot: list[VersionedRecord] = []
        self.ids: list[OffsetAndEpoch] = []
        self.append(*sizes)

    def append(self, *sizes: int) -> None:
        for size in sizes:
            base = self.end.offset
            records = [Record(value=topic.encode()) for topic in topics(base, size)]
            data = build_batch(records, base_offset=base, partition_leader_epoch=1)
            self.batches.append((base, base + size, data))

    def truncate(self, offset: int) -> None:
        self.batches = [batch for batch in self.batches if batch[1] <= offset]

    @property
    def end(self) -> OffsetAndEpoch:
        end = self.batches[-1][1] if self.batches else self.ids[-1].offset if self.ids else 0
        return OffsetAndEpoch(offset=end, epoch=1)

    def snapshots(self) -> list[OffsetAndEpoch]:
        return self.ids

    def iter_snapshot(self, id: OffsetAndEpoch) -> Iterator[VersionedRecord]:
        return iter(self.snapshot)

    def read(self, offset: int, max_bytes: int, end: int) -> bytes:
        return b"".join(
            data for base, behind, data in self.batches if base >= offset and behind <= end
        )


def replay_of(log: FakeLog) -> Replay:
    return Replay(log)  # type: ignore[arg-type]


def slices(tested: Replay) -> int:
    """Apply all; how many slices it took."""
    count = 1
    while tested.apply_slice():
        count += 1
    return count


def names(tested: Replay) -> int:
    return len(tested.committed.view.image.topics.ids)


@pytest.mark.parametrize("sizes", [(10 * SLICE,), (1,) * 3 * SLICE, (SLICE - 1,) * 7])
def test_no_slice_has_more_records_than_a_slice(
    sizes: tuple[int, ...], counted: CountedDecoding
) -> None:
    tested = replay_of(FakeLog(*sizes))
    while tested.apply_slice():
        counted.count = 0
    assert counted.most <= SLICE
    tested.commit(sum(sizes))
    assert (tested.committed.offset, names(tested)) == (sum(sizes), sum(sizes))


def test_what_a_node_reads_at_its_start_is_shown_once_it_is_committed() -> None:
    tested = replay_of(FakeLog(5, 5, 5))
    slices(tested)
    assert tested.committed == Replayed()
    tested.commit(10)
    assert (tested.committed.offset, names(tested)) == (10, 10)
    tested.commit(15)
    assert (tested.committed.offset, names(tested)) == (15, 15)


def test_a_high_watermark_that_is_further_than_what_was_read_is_read_up_to() -> None:
    log = FakeLog(5)
    tested = replay_of(log)
    slices(tested)
    log.append(5)
    tested.commit(10)
    assert tested.is_behind
    slices(tested)
    assert (tested.committed.offset, names(tested)) == (10, 10)


def test_a_half_applied_batch_is_not_shown() -> None:
    """A batch is atomic."""
    tested = replay_of(FakeLog(2, 2 * SLICE))
    tested.commit(2 + 2 * SLICE)
    assert tested.apply_slice()
    assert names(tested) == 2


def test_a_high_watermark_within_a_batch_waits_for_its_end() -> None:
    tested = replay_of(FakeLog(5, 5))
    slices(tested)
    tested.commit(7)
    assert (slices(tested), tested.committed.offset) == (1, 5)
    tested.commit(10)
    assert tested.committed.offset == 10


@pytest.mark.parametrize("applied", [0, 1, 5])
def test_uncommitted_records_that_are_truncated_are_forgotten(applied: int) -> None:
    log = FakeLog(SLICE, 1, SLICE)
    tested = replay_of(log)
    for _ in range(applied):
        tested.apply_slice()
    log.truncate(SLICE)
    tested.truncate(SLICE)
    log.append(3)
    tested.commit(SLICE + 3)
    slices(tested)
    assert (tested.committed.offset, names(tested)) == (SLICE + 3, SLICE + 3)


def test_a_log_of_more_batches_than_are_kept_is_read_again_where_it_is_truncated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replay, "_VIEWS_OF", 2)
    log = FakeLog(1, 1, 1, 1, 1)
    tested = replay_of(log)
    slices(tested)
    tested.commit(1)
    assert tested.committed.offset == 0
    log.truncate(2)
    tested.truncate(2)
    tested.commit(2)
    slices(tested)
    assert (tested.committed.offset, names(tested)) == (2, 2)


def test_a_snapshot_is_applied_in_slices_and_shown_when_it_is_whole() -> None:
    log = FakeLog(3)
    tested = replay_of(log)
    tested.commit(3)
    slices(tested)
    log.batches, log.snapshot = [], topics(0, 3 * SLICE)
    log.ids = [OffsetAndEpoch(offset=5000, epoch=1)]
    tested.load(log.ids[0])
    assert tested.apply_slice()
    assert (tested.committed.offset, names(tested)) == (3, 3)
    assert slices(tested) >= 2
    assert (tested.committed.offset, names(tested)) == (5000, 3 * SLICE)
    log.append(2)
    tested.commit(5002)
    slices(tested)
    assert names(tested) == 3 * SLICE + 2


def test_a_newer_snapshot_takes_the_place_of_the_one_in_work() -> None:
    log = FakeLog()
    log.snapshot, log.ids = topics(0, 3 * SLICE), [OffsetAndEpoch(offset=5000, epoch=1)]
    tested = replay_of(log)
    assert tested.apply_slice()
    log.snapshot, log.ids = topics(0, 2), [OffsetAndEpoch(offset=6000, epoch=1)]
    tested.load(log.ids[0])
    slices(tested)
    assert (tested.committed.offset, names(tested)) == (6000, 2)


def test_what_a_leader_wrote_itself_is_not_read_again(counted: CountedDecoding) -> None:
    log = FakeLog(5)
    tested = replay_of(log)
    tested.commit(5)
    slices(tested)
    before = counted.total
    view = MetadataView(image=apply_all(tested.committed.view.image, topics(5, 5)), end_offset=10)
    log.append(5, 5)
    tested.follow(Replayed(offset=10, view=view))
    tested.commit(15)
    slices(tested)
    assert (names(tested), counted.total - before) == (15, 5)
