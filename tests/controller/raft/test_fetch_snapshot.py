"""FetchSnapshot as leader and as follower: the table of KafkaRaftClientSnapshotTest."""

from collections.abc import Callable

import pytest

from kwire.controller.raft import (
    Commit,
    CommittedDataLost,
    InstallSnapshot,
    OffsetAndEpoch,
    WriteSnapshot,
)
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a01_fetch import SnapshotId as FetchSnapshotId
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    LeaderIdAndEpoch,
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kwire.messages.metadata_topic import METADATA_TOPIC
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    batches,
    fetch_response,
    follower,
    leader,
    log_with,
    only,
)
from tests.support.controller.raft.snapshot_download import DATA, ID, downloading, part
from tests.support.controller.raft.virtual_network import CLUSTER_ID, directory, snapshot, voter_set


def serving() -> SingleReplica:
    log = log_with(1, 1, 2, 2, 3)
    log.store_snapshot(ID, snapshot(voter_set(1, 2, 3), epoch=2))
    return leader(log=log)


def piece(
    epoch: int = 5,
    id: OffsetAndEpoch = ID,
    position: int = 0,
    *,
    max_bytes: int = 1 << 20,
    cluster_id: str | None = CLUSTER_ID,
    topic: str = METADATA_TOPIC,
) -> FetchSnapshotRequest:
    asked = PartitionSnapshot(
        current_leader_epoch=epoch,
        snapshot_id=SnapshotId(end_offset=id.offset, epoch=id.epoch),
        position=position,
        replica_directory_id=directory(2),
    )
    return FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica_id=2,
        max_bytes=max_bytes,
        topics=[TopicSnapshot(name=topic, partitions=[asked])],
    )


SIZE = len(snapshot(voter_set(1, 2, 3), epoch=2))
NOT_FOUND, OUT_OF_RANGE = ErrorCode.SNAPSHOT_NOT_FOUND, ErrorCode.POSITION_OUT_OF_RANGE
ANSWERS: list[tuple[str, Callable[[], SingleReplica], FetchSnapshotRequest, int, int]] = [
    # state, request, error, bytes
    ("all of it", serving, piece(), 0, SIZE),
    ("a part", serving, piece(max_bytes=10), 0, 10),
    ("the last byte", serving, piece(position=SIZE - 1), 0, 1),
    ("behind the end", serving, piece(position=SIZE), OUT_OF_RANGE, 0),
    ("negative position", serving, piece(position=-1), OUT_OF_RANGE, 0),
    ("no such snapshot", serving, piece(id=OffsetAndEpoch(offset=5, epoch=2)), NOT_FOUND, 0),
    ("the bootstrap one", serving, piece(id=OffsetAndEpoch(offset=0, epoch=0)), NOT_FOUND, 0),
    ("old epoch", serving, piece(4), ErrorCode.FENCED_LEADER_EPOCH, 0),
    ("epoch to come", serving, piece(6), ErrorCode.UNKNOWN_LEADER_EPOCH, 0),
    ("a follower", follower, piece(), ErrorCode.NOT_LEADER_OR_FOLLOWER, 0),
    ("another topic", serving, piece(topic="a"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0),
]


@pytest.mark.parametrize(
    ("state", "request_", "error", "size"),
    [row[1:] for row in ANSWERS],
    ids=[row[0] for row in ANSWERS],
)
def test_what_a_leader_sends_of_a_snapshot(
    state: Callable[[], SingleReplica], request_: FetchSnapshotRequest, error: int, size: int
) -> None:
    response = only(state().ask(request_), FetchSnapshotResponse)
    answer = response.topics[0].partitions[0]
    assert (answer.error_code, len(answer.unaligned_records)) == (error, size)
    assert answer.current_leader is not None
    assert answer.current_leader.leader_epoch == 5
    if not error:
        assert (answer.size, answer.position) == (SIZE, request_.topics[0].partitions[0].position)


def test_another_cluster_and_no_partition_are_refused_as_a_whole() -> None:
    solo = serving()
    wrong = only(solo.ask(piece(cluster_id="another")), FetchSnapshotResponse)
    assert wrong.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    empty = only(solo.ask(FetchSnapshotRequest()), FetchSnapshotResponse)
    assert empty.error_code == ErrorCode.INVALID_REQUEST


def test_fetching_a_snapshot_shows_a_leader_that_the_voter_lives() -> None:
    solo = serving()
    timeout = solo.config.check_quorum_timeout_ms
    solo.after(timeout - 1)
    solo.ask(piece())
    solo.after(timeout - 1)
    assert solo.raft.role == "leader"
    solo.after(1)
    assert solo.raft.role == "resigned"


def test_an_observer_that_fetches_a_snapshot_does_not() -> None:
    solo = serving()
    request = piece()
    request.replica_id = 9
    timeout = solo.config.check_quorum_timeout_ms
    solo.after(timeout - 1)
    solo.ask(request)
    solo.after(1)
    assert solo.raft.role == "resigned"


def test_a_follower_installs_a_snapshot_in_pieces() -> None:
    solo = downloading()
    half = len(DATA) // 2
    send, asked = solo.sent(FetchSnapshotRequest)[-1]
    assert asked.topics[0].partitions[0].position == 0
    solo.respond(send, part(DATA[:half], 0))
    send, asked = solo.sent(FetchSnapshotRequest)[-1]
    assert asked.topics[0].partitions[0].position == half
    solo.respond(send, part(DATA[half:], half))
    kinds = [type(e) for e in solo.effects if isinstance(e, WriteSnapshot | InstallSnapshot)]
    assert kinds == [WriteSnapshot, WriteSnapshot, InstallSnapshot]
    assert (solo.log.start_offset, solo.log.end) == (4, ID)
    assert solo.raft.voters == voter_set(1, 2)
    assert Commit(high_watermark=4) in solo.effects
    asked_next = solo.sent(FetchRequest)[-1][1].topics[0].partitions[0]
    assert (asked_next.fetch_offset, asked_next.last_fetched_epoch) == (4, 2)


def test_a_snapshot_takes_the_place_of_a_log_that_diverged() -> None:
    solo = downloading(log=log_with(1, 1))
    send, _ = solo.sent(FetchSnapshotRequest)[-1]
    solo.respond(send, part(DATA, 0))
    assert (solo.log.start_offset, solo.log.end) == (4, ID)


@pytest.mark.parametrize(
    "answer",
    [
        part(DATA, 7),
        part(DATA, 0, offset=9),
        part(b"", 0, error=NOT_FOUND),
        part(b"", 0),
    ],
    ids=["another position", "another snapshot", "gone", "empty"],
)
def test_after_an_unexpected_piece_a_follower_begins_anew(answer: FetchSnapshotResponse) -> None:
    solo = downloading()
    send, _ = solo.sent(FetchSnapshotRequest)[-1]
    solo.forget()
    solo.respond(send, answer)
    solo.after(solo.config.retry_backoff_ms)
    assert solo.sent(FetchRequest)
    assert not [effect for effect in solo.effects if isinstance(effect, InstallSnapshot)]


def test_a_snapshot_of_a_later_epochs_leader_is_another_matter() -> None:
    solo = downloading()
    send, _ = solo.sent(FetchSnapshotRequest)[-1]
    answer = part(b"", 0, error=ErrorCode.FENCED_LEADER_EPOCH)
    answer.topics[0].partitions[0].current_leader = LeaderIdAndEpoch(leader_id=3, leader_epoch=8)
    solo.respond(send, answer)
    assert (solo.raft.epoch, solo.raft.leader_id) == (8, 3)


def test_a_piece_that_was_not_asked_for_is_ignored() -> None:
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, part(DATA, 0))
    assert not [effect for effect in solo.effects if isinstance(effect, WriteSnapshot)]
    assert solo.sent(FetchRequest)[-1][0] is not send, "it goes on fetching"


@pytest.mark.parametrize(("offset", "epoch"), [(-1, 2), (4, -1)])
def test_half_a_snapshot_id_is_not_believed(offset: int, epoch: int) -> None:
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    id = FetchSnapshotId(end_offset=offset, epoch=epoch)
    solo.respond(send, fetch_response(5, snapshot_id=id))
    assert not solo.sent(FetchSnapshotRequest)


def test_a_snapshot_never_takes_back_what_is_committed() -> None:
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5, records=batches(0, *[5] * 6), high_watermark=6))
    send, _ = solo.sent(FetchRequest)[-1]
    with pytest.raises(CommittedDataLost):
        solo.respond(send, fetch_response(5, snapshot_id=FetchSnapshotId(end_offset=4, epoch=2)))
