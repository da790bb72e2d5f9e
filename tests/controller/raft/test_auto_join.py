"""UpdateRaftVoter by a voter whose endpoints changed, AddRaftVoter by an observer (KIP-853)."""

import pytest

from kwire.controller.raft import VoterSet
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest
from tests.support.controller.raft.single_replica import SingleReplica, fetch_response, follower
from tests.support.controller.raft.virtual_network import (
    directory,
    endpoints,
    static_voters,
    voter,
    voter_set,
)


def test_a_voter_with_news_tells_the_leader() -> None:
    solo = follower(supported_kraft_version=voter(1).supported)
    moved = follower(endpoints=endpoints(1, 5555))
    for replica in (solo, moved):
        send, _ = replica.sent(FetchRequest)[-1]
        replica.respond(send, fetch_response(5))
        replica.after(replica.config.fetch_timeout_ms - 1)
        assert not replica.sent(UpdateRaftVoterRequest)
        send, _ = replica.sent(FetchRequest)[-1]
        replica.respond(send, fetch_response(5))
        send, _ = replica.sent(FetchRequest)[-1]
        replica.now += 1
        replica.respond(send, fetch_response(5))
    assert not solo.sent(UpdateRaftVoterRequest)
    (told,) = [request for _, request in moved.sent(UpdateRaftVoterRequest)]
    assert told.listeners[0].port == 5555


def joining(voters: VoterSet) -> SingleReplica:
    """An observer with auto-join whose period is over."""
    solo = follower(voters=voters, auto_join=True)
    send, _ = solo.sent(FetchRequest)[-1]
    solo.now += solo.config.fetch_timeout_ms
    solo.respond(send, fetch_response(5))
    return solo


def test_an_observer_joins_by_itself_where_it_may() -> None:
    solo = joining(voter_set(2, 3))
    (request,) = [request for _, request in solo.sent(AddRaftVoterRequest)]
    assert (request.voter_id, request.ack_when_committed) == (1, False)
    assert request.timeout_ms == solo.config.request_timeout_ms, "KIP-853 says 30 s, Kafka has this"


def test_an_observer_with_a_new_disk_first_removes_the_old_one() -> None:
    solo = joining(VoterSet.of([voter(1, disk=1), voter(2), voter(3)]))
    (request,) = [request for _, request in solo.sent(RemoveRaftVoterRequest)]
    assert (request.voter_id, request.voter_directory_id) == (1, directory(1, 1))
    assert not solo.sent(AddRaftVoterRequest)


def test_an_observer_of_static_voters_does_not_ask_to_vote() -> None:
    solo = follower(static_voters=static_voters(2, 3), auto_join=True)
    for _ in range(5):
        send, _ = solo.sent(FetchRequest)[-1]
        solo.now += solo.config.fetch_timeout_ms
        solo.respond(send, fetch_response(5))
    assert solo.raft.kraft_version == 0
    assert not solo.sent(AddRaftVoterRequest)


@pytest.mark.parametrize(
    ("error", "again_after"),
    [
        (ErrorCode.NONE, 300),
        (ErrorCode.REQUEST_TIMED_OUT, 300),
        (ErrorCode.DUPLICATE_VOTER, 300),
        (ErrorCode.UNSUPPORTED_VERSION, 0),
        (ErrorCode.INVALID_REQUEST, 0),
    ],
)
def test_who_is_refused_asks_again_once_a_fetch_timeout(error: int, again_after: int) -> None:
    solo = joining(voter_set(2, 3))
    (send, _), *_ = solo.sent(AddRaftVoterRequest)
    asked = solo.now
    solo.now += 300
    solo.respond(send, AddRaftVoterResponse(error_code=error))
    due = asked + solo.config.fetch_timeout_ms + again_after
    solo.after(due - 1 - solo.now)
    answer_fetches(solo)
    assert len(solo.sent(AddRaftVoterRequest)) == 1
    solo.now += 1
    answer_fetches(solo)
    assert len(solo.sent(AddRaftVoterRequest)) == 2


def answer_fetches(solo: SingleReplica) -> None:
    """The leader has nothing new."""
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5))


def test_an_observer_does_not_join_unasked() -> None:
    solo = follower(voters=voter_set(2, 3))
    send, _ = solo.sent(FetchRequest)[-1]
    solo.now += solo.config.fetch_timeout_ms
    solo.respond(send, fetch_response(5))
    assert not solo.sent(AddRaftVoterRequest)
