"""The observer against a leader of kwire's raft core, whose answers Kafka's own tests define."""

from uuid import UUID

import pytest

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.raft import Append, OffsetAndEpoch
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, WireError
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT
from kwire.logdir.snapshots import build_snapshot
from kwire.messages.a01_fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.messages.records.topic import TopicRecord
from kwire.observer import NextStep, Observer
from memory_log import MemoryLog
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    fetch_request,
    follower,
    leader,
)
from tests.support.controller.raft.virtual_network import CLUSTER_ID, snapshot, voter_set


def topic(name: str) -> VersionedRecord:
    record = TopicRecord(name=name, topic_id=UUID(int=1000 + sum(name.encode())))
    return VersionedRecord(record=record, version=0)


def wrote(solo: SingleReplica, *names: str) -> None:
    """The leader's state machine appends topics as one batch."""
    records = tuple(Record(value=topic(name).encode()) for name in names)
    solo.step(Append(token=names, epoch=solo.raft.epoch, records=records))


def commit(solo: SingleReplica) -> None:
    """Voter 2 has everything."""
    epoch, end = solo.raft.epoch, solo.raft.end_offset
    solo.ask(fetch_request(2, epoch, end, epoch, max_wait_ms=0))


def asked(solo: SingleReplica, observer: Observer) -> NextStep:
    request = observer.request()
    if isinstance(request, FetchRequest):
        request.max_wait_ms = 0
    (response,) = solo.ask(request)
    return observer.receive(response)


def follow(solo: SingleReplica, observer: Observer, times: int = 4) -> None:
    for _ in range(times):
        assert asked(solo, observer) is NextStep.ASK


def names(observer: Observer) -> set[str]:
    return set(observer.image.topics.ids)


def test_it_learns_the_epoch_and_reads_what_is_committed_and_no_more() -> None:
    solo, observer = leader(epoch=5), Observer(CLUSTER_ID)
    wrote(solo, "orders", "payments")
    commit(solo)
    wrote(solo, "not committed")
    follow(solo, observer)
    assert (observer.epoch, observer.leader_id) == (5, 1)
    assert names(observer) == {"orders", "payments"}
    assert observer.offset == observer.high_watermark == solo.raft.high_watermark
    assert observer.is_current
    commit(solo)
    follow(solo, observer, 1)
    assert names(observer) == {"orders", "payments", "not committed"}


def test_it_knows_the_voters_that_the_log_names() -> None:
    solo, observer = leader(epoch=5), Observer(CLUSTER_ID)
    commit(solo)
    follow(solo, observer)
    assert observer.voters is not None
    assert [voter.voter_id for voter in observer.voters.voters] == [1, 2, 3]
    assert observer.kraft_version == 1


def test_who_does_not_lead_sends_it_elsewhere() -> None:
    solo, observer = follower(epoch=5, leader=2), Observer(CLUSTER_ID)
    assert asked(solo, observer) is NextStep.ASK
    assert asked(solo, observer) is NextStep.FIND_LEADER
    assert observer.leader_id == 2


def test_another_cluster_refuses() -> None:
    observer = Observer("another cluster")
    with pytest.raises(BrokerError) as raised:
        asked(leader(epoch=5), observer)
    assert raised.value.code == ErrorCode.INCONSISTENT_CLUSTER_ID


def test_what_another_leader_undoes_never_shows() -> None:
    old, observer = leader(epoch=5), Observer(CLUSTER_ID)
    wrote(old, "orders")
    commit(old)
    common = old.raft.end_offset
    wrote(old, "lost")
    follow(old, observer)
    assert names(observer) == {"orders"}

    log = MemoryLog()
    log.store_snapshot(BOOTSTRAP_SNAPSHOT, snapshot(voter_set(1, 2, 3)))
    log.append(old.log.read(0, 1 << 20)[: _bytes_below(old.log, common)])
    log.flushed = common
    new = leader(epoch=6, log=log)
    wrote(new, "kept")
    commit(new)
    follow(new, observer, 5)
    assert names(observer) == {"orders", "kept"}
    assert observer.epoch == 6


def _bytes_below(log: MemoryLog, offset: int) -> int:
    return len(log.read(0, 1 << 20)) - len(log.read(offset, 1 << 20))


def test_a_log_that_begins_later_is_entered_by_its_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kwire.observer.snapshot_download.PIECE", 100)
    id = OffsetAndEpoch(offset=40, epoch=3)
    content = build_snapshot(
        [topic("old"), topic("older")],
        epoch=3,
        now=0,
        kraft_version=1,
        voters=voter_set(1, 2, 3).to_record(),
    )
    log = MemoryLog()
    log.store_snapshot(id, b"".join(content))
    log.clean(id)
    log.flushed = 40
    solo, observer = leader(epoch=5, log=log), Observer(CLUSTER_ID)
    wrote(solo, "young")
    commit(solo)
    pieces = 0
    while not observer.is_current:  # what follows the snapshot is committed, too
        pieces += isinstance(observer.request(), FetchSnapshotRequest)
        assert asked(solo, observer) is NextStep.ASK
    assert names(observer) == {"old", "older", "young"}
    assert pieces > 3


def answer(
    records: bytes = b"", high_watermark: int = 0, diverging_epoch: EpochEndOffset | None = None
) -> FetchResponse:
    said = PartitionData(
        records=records,
        high_watermark=high_watermark,
        current_leader=LeaderIdAndEpoch(leader_id=1, leader_epoch=5),
        diverging_epoch=diverging_epoch,
    )
    return FetchResponse(
        responses=[FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[said])]
    )


def test_a_gap_in_the_log_is_an_error_and_a_restart_mends_it() -> None:
    observer = Observer()
    first = build_batch([Record(value=topic("a").encode())], partition_leader_epoch=5)
    gap = build_batch([Record(value=topic("b").encode())], base_offset=7, partition_leader_epoch=5)
    observer.receive(answer(first, high_watermark=1))
    with pytest.raises(WireError, match="begins at offset 7, 1 is next"):
        observer.receive(answer(gap, high_watermark=8))
    observer.restart()
    assert not observer.is_current
    observer.receive(answer(first, high_watermark=1))
    assert names(observer) == {"a"}


def test_a_leader_without_what_was_committed_is_an_error() -> None:
    observer = Observer()
    first = build_batch([Record(value=topic("a").encode())], partition_leader_epoch=5)
    observer.receive(answer(first, high_watermark=1))
    with pytest.raises(WireError, match="below what was committed"):
        observer.receive(answer(diverging_epoch=EpochEndOffset(epoch=4, end_offset=0)))


def test_a_broken_record_is_an_error() -> None:
    observer = Observer()
    with pytest.raises(WireError):
        observer.receive(answer(build_batch([Record(value=b"\1\x7f")]), high_watermark=1))


def test_it_stops_at_an_offset_and_keeps_batches_whole() -> None:
    solo = leader(epoch=5)
    wrote(solo, "orders", "payments")
    end = solo.raft.end_offset
    wrote(solo, "later", "still later")
    commit(solo)
    for extra in (0, 1):
        observer = Observer(CLUSTER_ID, end=end + extra)
        assert not observer.has_ended
        follow(solo, observer)
        assert observer.has_ended
        assert names(observer) == {"orders", "payments"}
        assert observer.offset == end
    observer = Observer(CLUSTER_ID, end=end + 2)
    follow(solo, observer)
    assert names(observer) == {"orders", "payments", "later", "still later"}
