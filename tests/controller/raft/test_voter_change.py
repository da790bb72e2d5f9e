"""Changes of the voter set, whatever asks for them: refusals, timeouts, the end of the leader."""

from collections.abc import Callable

import pytest

from kwire.admin.voters import STOPPED_LEADING
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import EpochEndOffset, FetchRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterResponse
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    begin_request,
    code,
    fetch_response,
    follower,
    leader,
)
from tests.support.controller.raft.virtual_network import (
    voter_set,
)
from tests.support.controller.raft.voter_change_states import (
    adding,
    removing,
    versions_answer,
)

State = Callable[[], SingleReplica]
TIMED_OUT = ErrorCode.REQUEST_TIMED_OUT
ELSEWHERE = ErrorCode.NOT_LEADER_OR_FOLLOWER


def appended() -> SingleReplica:
    """The VotersRecord with voter 4 is in the log, and not committed."""
    solo = adding()
    versions_answer(solo)
    return solo


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (adding, "nothing was appended, and the voters are as before"),
        (appended, "in the log at offset {}, but were not committed in time"),
        (removing, "in the log at offset {}, but were not committed in time"),
    ],
    ids=["adding", "appended", "removing"],
)
def test_a_change_that_takes_too_long_times_out_and_says_what_is_appended(
    state: State, said: str
) -> None:
    solo = state()
    last = solo.raft.end_offset - 1
    token = solo.last_token
    solo.after(solo.config.request_timeout_ms - 1)
    assert solo.replies(token) == []
    solo.after(1)
    (answer,) = solo.replies(token)
    assert code(answer) == TIMED_OUT
    assert isinstance(answer, AddRaftVoterResponse | RemoveRaftVoterResponse)
    assert said.format(last) in (answer.error_message or "")


@pytest.mark.parametrize(
    ("state", "is_in_doubt"), [(adding, False), (appended, True), (removing, True)]
)
def test_a_change_fails_when_the_leader_goes_and_says_if_it_may_still_be_made(
    state: State, is_in_doubt: bool
) -> None:
    solo = state()
    last = solo.raft.end_offset - 1
    token = solo.last_token
    solo.ask(begin_request(6))
    (answer,) = solo.replies(token)
    assert code(answer) == ELSEWHERE
    assert isinstance(answer, AddRaftVoterResponse | RemoveRaftVoterResponse)
    text = answer.error_message or ""
    assert text.startswith(STOPPED_LEADING) == is_in_doubt
    assert (f"may still be committed, from its log at offset {last}." in text) == is_in_doubt


def test_a_follower_acts_on_voters_before_they_are_committed_and_takes_them_back() -> None:
    source = leader()
    solo = follower(epoch=5, voters=voter_set(1, 2))
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5, records=source.log.read(0, 1 << 20)))
    assert solo.raft.voters == voter_set(1, 2, 3)
    send, _ = solo.sent(FetchRequest)[-1]
    diverging = EpochEndOffset(epoch=0, end_offset=0)
    solo.respond(send, fetch_response(5, diverging_epoch=diverging))
    assert solo.raft.voters == voter_set(1, 2)
