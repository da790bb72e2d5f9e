"""Fetch: what a leader answers, what a follower does (KafkaRaftClientTest, SnapshotTest)."""

from collections.abc import Callable

import pytest

from kwire.batches import Record
from kwire.controller.raft import (
    Append,
    AppendLog,
    Commit,
    CommittedDataLost,
    ElectionState,
    FlushLog,
    LogFlushed,
    TruncateLog,
)
from kwire.error_codes import ErrorCode
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages.a01_fetch import (
    EpochEndOffset,
    FetchRequest,
    FetchResponse,
    PartitionData,
    SnapshotId,
)
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    batches,
    begin_request,
    candidate,
    fetch_request,
    fetch_response,
    follower,
    leader,
    log_with,
    observer,
    only,
    resigned,
    unattached,
)
from tests.support.controller.raft.virtual_network import (
    dynamic_quorum,
    key,
    snapshot,
    static_voters,
    voter_set,
)

State = Callable[[], SingleReplica]


def partition(solo: SingleReplica, request: FetchRequest, version: int = 18) -> PartitionData:
    return only(solo.ask(request, version), FetchResponse).responses[0].partitions[0]


FENCED, UNKNOWN, ELSEWHERE, INVALID, BROKEN = (
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.UNKNOWN_SERVER_ERROR,
)
REFUSALS: list[tuple[str, State, FetchRequest, int, int]] = [
    # state, request, error, leader id in the answer
    ("lower epoch", leader, fetch_request(2, 4, 0, 0), FENCED, 1),
    ("greater epoch", leader, fetch_request(2, 6, 0, 0), UNKNOWN, 1),
    ("follower", follower, fetch_request(3, 5, 0, 0), ELSEWHERE, 2),
    ("follower, epoch 0", follower, fetch_request(9, 0, 0, 0), FENCED, 2),
    ("unattached", unattached, fetch_request(3, 5, 0, 0), ELSEWHERE, -1),
    ("candidate", candidate, fetch_request(3, 5, 0, 0), ELSEWHERE, -1),
    ("resigned", resigned, fetch_request(3, 5, 0, 0), ELSEWHERE, 1),
    ("negative offset", leader, fetch_request(2, 5, -1, 0), INVALID, 1),
    ("negative epoch", leader, fetch_request(2, 5, 0, -1), INVALID, 1),
    ("last epoch to come", leader, fetch_request(2, 5, 0, 6), INVALID, 1),
    ("negative wait", leader, fetch_request(2, 5, 0, 0, max_wait_ms=-1), INVALID, 1),
    (
        "from the leader itself",
        leader,
        fetch_request(1, 5, 0, 0),
        ErrorCode.UNKNOWN_SERVER_ERROR,
        1,
    ),
]


@pytest.mark.parametrize(
    ("state", "request_", "error", "leader_id"),
    [row[1:] for row in REFUSALS],
    ids=[row[0] for row in REFUSALS],
)
def test_a_refused_fetch_names_the_leader_and_its_address(
    state: State, request_: FetchRequest, error: int, leader_id: int
) -> None:
    solo = state()
    response = only(solo.ask(request_), FetchResponse)
    answer = response.responses[0].partitions[0]
    assert answer.current_leader is not None
    assert (answer.error_code, answer.high_watermark) == (error, -1)
    assert answer.current_leader.leader_epoch == solo.raft.epoch
    assert answer.current_leader.leader_id == leader_id
    nodes = [(node.node_id, node.host) for node in response.node_endpoints]
    assert nodes == ([(leader_id, f"c{leader_id}")] if leader_id > 0 else [])


def test_other_clusters_and_partitions_are_refused_as_a_whole() -> None:
    solo = leader()
    wrong = only(solo.ask(fetch_request(2, 5, 0, 0, cluster_id="another")), FetchResponse)
    assert wrong.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    request = fetch_request(2, 5, 0, 0)
    request.topics[0].topic_id = key(7).wire_directory_id
    assert only(solo.ask(request), FetchResponse).error_code == INVALID
    assert only(solo.ask(FetchRequest()), FetchResponse).error_code == INVALID


def test_a_topic_that_is_named_and_not_identified_is_refused() -> None:
    by_name = only(leader().ask(fetch_request(2, 5, 0, 0), 12), FetchResponse)
    assert (by_name.error_code, by_name.responses) == (INVALID, [])


def test_a_fetch_has_no_aborted_transactions_and_says_so() -> None:
    assert partition(leader(), fetch_request(2, 5, 0, 0)).aborted_transactions == []


@pytest.mark.parametrize(
    ("offset", "last_epoch", "diverging"),
    [
        (0, 0, None),
        (2, 1, None),
        (5, 3, None),
        (3, 1, (1, 2)),
        (6, 3, (3, 5)),
        (3, 2, (1, 2)),
        (5, 4, (3, 5)),
    ],
)
def test_a_leader_says_where_logs_diverge(
    offset: int, last_epoch: int, diverging: tuple[int, int] | None
) -> None:
    solo = leader(log=log_with(1, 1, 3, 3, 3))
    answer = partition(solo, fetch_request(2, 5, offset, last_epoch))
    found = answer.diverging_epoch
    assert (found and (found.epoch, found.end_offset)) == diverging
    assert bool(answer.records) == (diverging is None)


def test_a_fetch_waits_for_records() -> None:
    solo = leader()
    end = solo.raft.end_offset
    assert solo.ask(fetch_request(3, 5, end, 5)) == []
    token = solo.last_token
    solo.step(Append(token="a", epoch=5, records=(Record(value=b"a"),)))
    answer = only(solo.replies(token), FetchResponse).responses[0].partitions[0]
    assert answer.records


def test_a_fetch_that_waited_long_enough_is_answered_empty() -> None:
    solo = leader()
    assert solo.ask(fetch_request(3, 5, solo.raft.end_offset, 5, max_wait_ms=300)) == []
    assert solo.raft.deadline == solo.now + 300
    solo.after(299)
    assert solo.replies(solo.last_token) == []
    solo.after(1)
    answer = only(solo.replies(solo.last_token), FetchResponse).responses[0].partitions[0]
    assert (answer.error_code, answer.records) == (0, b"")


def test_waiting_fetches_are_refused_when_the_leader_goes() -> None:
    solo = leader()
    assert solo.ask(fetch_request(3, 5, solo.raft.end_offset, 5)) == []
    token = solo.last_token
    solo.ask(begin_request(7))
    answer = only(solo.replies(token), FetchResponse).responses[0].partitions[0]
    assert answer.error_code == ELSEWHERE
    assert answer.current_leader is not None
    assert answer.current_leader.leader_epoch == 7


def test_versions_up_to_17_do_not_tell_the_high_watermark_and_wait() -> None:
    solo = leader()
    assert solo.ask(fetch_request(3, 5, solo.raft.end_offset, 5), version=17) == []


def test_a_broker_before_version_18_is_told_a_commit_that_came_between_its_fetches() -> None:
    """Kafka 3.9's leader without other voters commits before it answers: nothing comes between."""
    alone = leader(voters=voter_set(1))
    alone.flushes = False
    end = alone.raft.end_offset
    assert alone.ask(fetch_request(7, 5, end, 5), version=17) == []
    token = alone.last_token
    alone.step(Append(token="a", epoch=5, records=(Record(value=b"a"),)))
    answer = only(alone.replies(token), FetchResponse).responses[0].partitions[0]
    assert (bool(answer.records), answer.high_watermark) == (True, end)
    alone.step(LogFlushed(offset=end + 1))
    news = partition(alone, fetch_request(7, 5, end + 1, 5), version=17)
    assert (bool(news.records), news.high_watermark) == (False, end + 1)
    assert alone.ask(fetch_request(7, 5, end + 1, 5), version=17) == []


def test_a_follower_flushes_before_its_next_fetch() -> None:
    solo = follower()
    solo.flushes = False
    send, _ = solo.sent(FetchRequest)[-1]
    solo.forget()
    effects = solo.respond(send, fetch_response(5, records=batches(0, 5, 5), high_watermark=9))
    kinds = [type(effect) for effect in effects]
    assert kinds.index(AppendLog) < kinds.index(FlushLog)
    assert not solo.sent(FetchRequest)
    assert committed_by(solo) == 2
    solo.step(LogFlushed(offset=2))
    asked = solo.sent(FetchRequest)[-1][1].topics[0].partitions[0]
    assert (asked.fetch_offset, asked.last_fetched_epoch) == (2, 5)


def committed_by(solo: SingleReplica) -> int:
    return max((e.high_watermark for e in solo.effects if isinstance(e, Commit)), default=-1)


def test_a_broker_fetches_on_without_a_flush() -> None:
    solo = follower(voters=voter_set(2, 3), can_become_voter=False)
    send, _ = solo.sent(FetchRequest)[-1]
    solo.forget()
    solo.respond(send, fetch_response(5, records=batches(0, 5)))
    assert not [effect for effect in solo.effects if isinstance(effect, FlushLog)]
    assert solo.sent(FetchRequest)


def test_a_follower_truncates_where_the_leader_says() -> None:
    solo = follower(log=log_with(1, 1, 3, 3))
    send, _ = solo.sent(FetchRequest)[-1]
    solo.forget()
    diverging = EpochEndOffset(epoch=2, end_offset=9)
    solo.respond(send, fetch_response(5, diverging_epoch=diverging))
    assert TruncateLog(offset=2) in solo.effects
    solo.after(0)
    asked = solo.sent(FetchRequest)[-1][1].topics[0].partitions[0]
    assert (asked.fetch_offset, asked.last_fetched_epoch) == (2, 1)


def test_a_follower_never_gives_up_committed_records() -> None:
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5, records=batches(0, 5, 5), high_watermark=2))
    send, _ = solo.sent(FetchRequest)[-1]
    with pytest.raises(CommittedDataLost, match="2 is committed"):
        solo.respond(send, fetch_response(5, diverging_epoch=EpochEndOffset(epoch=5, end_offset=1)))


@pytest.mark.parametrize(
    ("data", "taken"),
    [
        (batches(0, 5, 5) + b"\0" * 20, 2),
        (batches(0, 5) + batches(1, 5)[:-1] + b"\xff", 1),
        (batches(1, 5), 0),
        (batches(0, 6), 0),
        (batches(0, 5, 4), 1),
        (b"\xff" * 100, 0),
    ],
    ids=["cut off", "bad crc", "gap", "epoch to come", "epochs fall", "garbage"],
)
def test_only_sound_batches_that_fit_are_appended(data: bytes, taken: int) -> None:
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5, records=data))
    assert solo.log.end.offset == taken


def test_an_answer_of_which_nothing_can_be_used_does_not_keep_the_leader_alive() -> None:
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    solo.after(solo.config.fetch_timeout_ms - 1)
    solo.respond(send, fetch_response(5, records=b"\xff" * 100))
    solo.after(1)
    assert solo.raft.role == "prospective"


def test_a_successful_fetch_keeps_a_follower_from_standing() -> None:
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    solo.after(solo.config.fetch_timeout_ms - 1)
    solo.respond(send, fetch_response(5))
    solo.after(1)
    assert solo.raft.role == "follower"


def test_followers_whose_fetches_are_answered_together_do_not_stand_together() -> None:
    network = dynamic_quorum(1, 2, 3)
    leader = network.elect().config.node_id
    network.commit(b"a")
    network.run(1000)
    network.kill(leader)
    others = [host.running for id, host in network.hosts.items() if id != leader]
    network.until(lambda: any(raft.role != "follower" for raft in others))
    assert sorted(raft.role == "follower" for raft in others) == [False, True]


def test_an_observer_learns_the_leader_from_whomever_it_asks() -> None:
    solo = observer()
    send, asked = solo.sent(FetchRequest)[-1]
    assert send.destination.id <= -2
    assert asked.topics[0].partitions[0].current_leader_epoch == 0
    solo.respond(send, fetch_response(7, 3, error=FENCED, names_endpoint=True))
    assert (solo.raft.role, solo.raft.epoch, solo.raft.leader_id) == ("follower", 7, 3)
    assert solo.sent(FetchRequest)[-1][0].destination.host == "c3"


def test_an_observer_without_a_log_finds_the_leader_of_its_quorum_state_again() -> None:
    # It ended before anything of the leader's, the voters among it, was on its disk.
    solo = observer(election=ElectionState(epoch=7, leader_id=3))
    assert (solo.raft.role, solo.raft.leader_id) == ("unattached", 3)
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(7, 3, names_endpoint=True, records=batches(0, 7)))
    assert (solo.raft.role, solo.raft.epoch, solo.raft.leader_id) == ("follower", 7, 3)
    assert solo.log.end.offset == 1
    assert solo.sent(FetchRequest)[-1][0].destination.host == "c3"


@pytest.mark.parametrize("error", [ErrorCode.BROKER_NOT_AVAILABLE, INVALID])
def test_an_error_that_tells_an_observer_nothing_new_is_followed_by_a_pause(error: int) -> None:
    solo = observer(election=ElectionState(epoch=7, leader_id=3))
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(7, 3, error=error))
    assert solo.raft.role == "unattached"
    assert solo.sent(FetchRequest)[-1][0] == send


def test_an_observer_asks_the_bootstrap_servers_when_the_leader_is_silent() -> None:
    solo = observer()
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(7, 3, error=FENCED, names_endpoint=True))
    solo.after(solo.config.request_timeout_ms)
    assert solo.sent(FetchRequest)[-1][0].destination.id <= -2
    assert solo.raft.role == "follower"


def test_bootstrap_servers_are_asked_in_place_of_static_voters() -> None:
    solo = SingleReplica(static_voters=static_voters(2, 3), bootstrap_servers=(("there", 9090),))
    solo.after(solo.config.request_timeout_ms)
    solo.after(solo.config.request_timeout_ms)
    hosts = [send.destination.host for send, _ in solo.sent(FetchRequest)]
    assert len(hosts) > 1
    assert set(hosts) == {"there"}


def test_an_observer_never_stands_for_election() -> None:
    solo = follower(voters=voter_set(2, 3))
    solo.after(solo.config.fetch_timeout_ms)
    solo.after(60_000)
    assert solo.raft.role == "follower"


SNAPSHOT = OffsetAndEpoch(offset=4, epoch=2)


def leader_behind_snapshot() -> SingleReplica:
    log = log_with(1, 1, 2, 2, 3, 3)
    log.store_snapshot(SNAPSHOT, snapshot(voter_set(1, 2, 3), epoch=2))
    log.clean(SNAPSHOT)
    return leader(log=log)


@pytest.mark.parametrize(
    ("offset", "last_epoch", "expected"),
    [
        (0, 0, "snapshot"),
        (2, 1, "snapshot"),
        (2, 2, "snapshot"),
        (4, 1, "snapshot"),
        (4, 2, "records"),
        (6, 3, "records"),
        (6, 1, "snapshot"),
        (5, 2, "diverging"),
    ],
)
def test_who_is_behind_the_log_gets_a_snapshot(offset: int, last_epoch: int, expected: str) -> None:
    answer = partition(leader_behind_snapshot(), fetch_request(2, 5, offset, last_epoch))
    found = {
        "snapshot": answer.snapshot_id,
        "records": answer.records,
        "diverging": answer.diverging_epoch,
    }
    assert [name for name, value in found.items() if value] == [expected]
    if answer.snapshot_id:
        assert answer.snapshot_id == SnapshotId(end_offset=4, epoch=2)
