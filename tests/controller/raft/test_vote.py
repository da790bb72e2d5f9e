"""Votes and pre-votes: the tables of KafkaRaftClientTest, KafkaRaftClientPreVoteTest, KIP-996."""

from collections.abc import Callable

import pytest

from kwire.controller.raft import (
    ElectionState,
    PersistElection,
    ReplicaKey,
    Reply,
    RequestFailed,
    RequestReceived,
)
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    candidate,
    fetch_response,
    follower,
    leader,
    log_with,
    observer,
    only,
    prospective,
    resigned,
    unattached,
    vote_request,
    vote_response,
)
from tests.support.controller.raft.virtual_network import key, voter_set

State = Callable[[], SingleReplica]


def voted(for_id: int = 3) -> SingleReplica:
    return SingleReplica(election=ElectionState(epoch=5, voted_key=key(for_id)))


def fetching() -> SingleReplica:
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5))
    return solo


def pre_vote_after(last_epoch: int) -> VoteRequest:
    return vote_request(5, last=(1, last_epoch), pre_vote=True)


NONE, FENCED, INVALID = (
    ErrorCode.NONE,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_REQUEST,
)

ANSWERS: list[tuple[str, State, VoteRequest, int, bool, int]] = [
    # state, request, error, granted, epoch afterwards
    ("unattached, its epoch", unattached, vote_request(5), NONE, True, 5),
    ("unattached, next epoch", unattached, vote_request(6), NONE, True, 6),
    ("unattached, old epoch", unattached, vote_request(4), FENCED, False, 5),
    ("voted, again for the same", lambda: voted(2), vote_request(5), NONE, True, 5),
    ("voted for another", voted, vote_request(5), NONE, False, 5),
    ("voted for another, next epoch", voted, vote_request(6), NONE, True, 6),
    ("follower", follower, vote_request(5), NONE, False, 5),
    ("follower, next epoch", follower, vote_request(6), NONE, True, 6),
    ("candidate", candidate, vote_request(5), NONE, False, 5),
    ("candidate, next epoch", candidate, vote_request(6), NONE, True, 6),
    ("prospective", prospective, vote_request(5), NONE, True, 5),
    ("leader", leader, vote_request(5, last=(3, 4)), NONE, False, 5),
    ("leader, next epoch", leader, vote_request(6, last=(9, 5)), NONE, True, 6),
    ("resigned", resigned, vote_request(5), NONE, False, 5),
    ("resigned, next epoch", resigned, vote_request(6), NONE, True, 6),
    ("observer", observer, vote_request(1), NONE, True, 1),
    ("from an observer", unattached, vote_request(5, key(9)), NONE, True, 5),
    ("negative id", unattached, vote_request(5, ReplicaKey(id=-1)), INVALID, False, 5),
    ("last epoch not before its own", unattached, vote_request(5, last=(1, 5)), INVALID, False, 5),
    ("negative offset", unattached, vote_request(5, last=(-1, 0)), INVALID, False, 5),
    ("negative epoch", unattached, vote_request(5, last=(0, -1)), INVALID, False, 5),
    # pre-votes change nothing
    ("pre-vote: unattached", unattached, vote_request(5, pre_vote=True), NONE, True, 5),
    ("pre-vote: voted", voted, vote_request(5, pre_vote=True), NONE, True, 5),
    ("pre-vote: follower not fetched", follower, vote_request(5, pre_vote=True), NONE, True, 5),
    ("pre-vote: follower fetched", fetching, vote_request(5, pre_vote=True), NONE, False, 5),
    ("pre-vote: candidate", candidate, vote_request(5, pre_vote=True), NONE, False, 5),
    ("pre-vote: prospective", prospective, vote_request(5, pre_vote=True), NONE, True, 5),
    ("pre-vote: leader", leader, vote_request(5, last=(9, 5), pre_vote=True), NONE, False, 5),
    ("pre-vote: resigned", resigned, vote_request(5, pre_vote=True), NONE, True, 5),
    ("pre-vote: old epoch", unattached, vote_request(4, pre_vote=True), FENCED, False, 5),
    (
        "pre-vote: last epoch its own",
        unattached,
        vote_request(5, last=(1, 5), pre_vote=True),
        0,
        True,
        5,
    ),
    (
        "pre-vote: last epoch later",
        unattached,
        vote_request(5, last=(1, 6), pre_vote=True),
        INVALID,
        False,
        5,
    ),
    ("pre-vote: next epoch", unattached, vote_request(6, pre_vote=True), NONE, True, 6),
]


@pytest.mark.parametrize(
    ("state", "request_", "error", "granted", "epoch"),
    [a[1:] for a in ANSWERS],
    ids=[a[0] for a in ANSWERS],
)
def test_who_gets_a_vote(
    state: State, request_: VoteRequest, error: int, granted: bool, epoch: int
) -> None:
    solo = state()
    answer = only(solo.ask(request_), VoteResponse).topics[0].partitions[0]
    assert (answer.error_code, answer.vote_granted) == (error, granted)
    assert (answer.leader_epoch, solo.raft.epoch) == (epoch, epoch)


@pytest.mark.parametrize(
    ("last", "granted"),
    [((2, 2), False), ((3, 2), False), ((9, 1), False), ((3, 3), True), ((1, 4), True)],
)
def test_the_log_that_ends_later_wins(last: tuple[int, int], granted: bool) -> None:
    solo = unattached(log=log_with(1, 2, 3))
    answer = only(solo.ask(vote_request(5, last=last)), VoteResponse).topics[0].partitions[0]
    assert answer.vote_granted is granted


def test_a_vote_is_on_the_disk_before_it_is_answered() -> None:
    solo = unattached()
    received = RequestReceived(token="vote", request=vote_request(6), version=2)
    effects = solo.step(received)
    writes = [e for e in effects if isinstance(e, PersistElection)]
    assert ElectionState.from_data(writes[-1].data) == ElectionState(epoch=6, voted_key=key(2))
    assert writes[-1].version == 1
    reply = next(i for i, e in enumerate(effects) if isinstance(e, Reply))
    assert effects.index(writes[-1]) < reply


def test_a_pre_vote_changes_neither_epoch_nor_vote() -> None:
    solo = unattached()
    solo.forget()
    solo.ask(vote_request(5, pre_vote=True))
    assert not [e for e in solo.effects if isinstance(e, PersistElection)]
    assert (
        only(solo.ask(vote_request(5, key(3))), VoteResponse).topics[0].partitions[0].vote_granted
    )


@pytest.mark.parametrize(
    ("receiver", "error"),
    [
        (key(1), NONE),
        (ReplicaKey(id=1), NONE),
        (ReplicaKey(id=-1), NONE),
        (key(2), ErrorCode.INVALID_VOTER_KEY),
        (key(1, disk=1), ErrorCode.INVALID_VOTER_KEY),
    ],
    ids=["exact", "directory unknown", "version 0", "another id", "another directory"],
)
def test_a_vote_request_must_mean_this_replica(receiver: ReplicaKey, error: int) -> None:
    answer = only(unattached().ask(vote_request(6, voter=receiver)), VoteResponse)
    assert answer.topics[0].partitions[0].error_code == error


def test_another_cluster_gets_no_vote() -> None:
    solo = unattached()
    wrong = only(solo.ask(vote_request(6, cluster_id="another")), VoteResponse)
    assert (wrong.error_code, solo.raft.epoch) == (ErrorCode.INCONSISTENT_CLUSTER_ID, 5)
    assert only(solo.ask(vote_request(6, cluster_id=None)), VoteResponse).error_code == NONE


def test_another_partition_is_an_invalid_request() -> None:
    request = vote_request(6)
    request.topics[0].topic_name = "orders"
    assert only(unattached().ask(request), VoteResponse).error_code == INVALID
    assert only(unattached().ask(VoteRequest()), VoteResponse).error_code == INVALID


def test_a_prospective_stands_when_a_majority_would_vote_for_it() -> None:
    solo = prospective()
    (to_2, first), _ = solo.sent(VoteRequest)
    asked = first.topics[0].partitions[0]
    assert (asked.pre_vote, asked.replica_epoch, first.voter_id) == (True, 5, 2)
    solo.respond(to_2, vote_response(5, granted=True))
    assert (solo.raft.role, solo.raft.epoch) == ("candidate", 6)
    assert not solo.sent(VoteRequest)[-1][1].topics[0].partitions[0].pre_vote


def test_a_refused_prospective_goes_back_without_a_trace() -> None:
    solo = prospective()
    for send, _ in solo.sent(VoteRequest):
        solo.respond(send, vote_response(5, granted=False))
    assert (solo.raft.role, solo.raft.epoch) == ("unattached", 5)


def test_a_refused_prospective_waits_anew_and_an_unanswered_one_asks_again() -> None:
    refused, unanswered = prospective(), prospective()
    for send, _ in refused.sent(VoteRequest):
        refused.respond(send, vote_response(5, granted=False))
    refused.after(refused.config.election_timeout_ms - 1)
    assert refused.raft.role == "unattached"
    unanswered.forget()
    unanswered.after(unanswered.config.election_timeout_ms)
    assert unanswered.raft.role == "prospective"
    assert len(unanswered.sent(VoteRequest)) == 2


def test_a_greater_epoch_does_not_make_a_voter_wait_longer() -> None:
    solo = unattached()
    solo.after(solo.config.election_timeout_ms - 1)
    solo.ask(vote_request(9, last=(-1, 0)))
    solo.ask(vote_request(9, voter=key(2)))
    assert (solo.raft.role, solo.raft.epoch) == ("unattached", 9)
    solo.after(1)
    assert solo.raft.role == "prospective"


def test_a_vote_given_away_makes_a_voter_wait_longer() -> None:
    solo = unattached()
    solo.after(solo.config.election_timeout_ms - 1)
    solo.ask(vote_request(6))
    solo.after(solo.config.election_timeout_ms - 1)
    assert solo.raft.role == "unattached"
    solo.after(1)
    assert solo.raft.role == "prospective"


def test_a_vote_that_is_asked_for_again_does_not_make_a_voter_wait_longer() -> None:
    """KafkaRaftClient.handleVoteRequest adds a vote only if isUnattachedNotVoted."""
    solo = unattached()
    solo.ask(vote_request(6))
    solo.after(solo.config.election_timeout_ms - 1)
    again = only(solo.ask(vote_request(6)), VoteResponse).topics[0].partitions[0]
    assert (again.vote_granted, solo.raft.role) == (True, "unattached")
    solo.after(1)
    assert solo.raft.role == "prospective"


def test_a_prospective_stands_at_once_where_a_voter_does_not_know_pre_votes() -> None:
    solo = prospective()
    send, _ = solo.sent(VoteRequest)[0]
    error = ErrorCode.UNSUPPORTED_VERSION
    solo.step(RequestFailed(correlation=send.correlation, error=error))
    assert (solo.raft.role, solo.raft.epoch) == ("candidate", 6)


def test_a_candidate_without_a_majority_becomes_prospective_again() -> None:
    solo = candidate()
    solo.after(solo.config.election_timeout_ms)
    assert (solo.raft.role, solo.raft.epoch) == ("prospective", 5)


def test_a_follower_of_a_dead_leader_that_loses_the_pre_vote_follows_on() -> None:
    solo = follower()
    solo.after(solo.config.fetch_timeout_ms)
    assert solo.raft.role == "prospective"
    for send, _ in solo.sent(VoteRequest):
        solo.respond(send, vote_response(5, granted=False, leader_id=2))
    assert (solo.raft.role, solo.raft.leader_id, solo.raft.epoch) == ("follower", 2, 5)


def test_a_late_vote_counts_no_more() -> None:
    solo = candidate()
    send, _ = solo.sent(VoteRequest)[0]
    solo.ask(vote_request(7))
    solo.respond(send, vote_response(5, granted=True))
    assert (solo.raft.role, solo.raft.epoch) == ("unattached", 7)


def test_the_answer_of_a_voter_in_a_later_epoch_ends_the_election() -> None:
    solo = candidate(voters=voter_set(1, 2, 3))
    send, _ = solo.sent(VoteRequest)[0]
    solo.respond(send, vote_response(8, granted=False, leader_id=3, error=FENCED))
    assert (solo.raft.role, solo.raft.epoch, solo.raft.leader_id) == ("follower", 8, 3)
