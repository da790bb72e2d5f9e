"""The table of transitions: against Kafka's, and against the transitions that happen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from kwire.codec.declaration import Request
from kwire.controller.raft import Replaying, RequestFailed, Resign, transitions
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Role,
    Unattached,
)
from kwire.controller.raft.transitions import (
    TRANSITIONS,
    Eligible,
    IllegalTransition,
    Reason,
    Transition,
)
from kwire.error_codes import ErrorCode
from kwire.messages.a52_vote import VoteRequest
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    begin_request,
    candidate,
    follower,
    leader,
    prospective,
    resigned,
    unattached,
    vote_request,
    vote_response,
)
from tests.support.controller.raft.virtual_network import dynamic_quorum, voter_set
from tests.support.seed import SEED

Pair = tuple[str, str]

KAFKA: dict[str, set[str]] = {
    # QuorumState.initialize
    "": {"Unattached", "Follower", "Candidate", "Resigned"},
    # QuorumState, "Resigned transitions to"; Prospective: KafkaRaftClient.initialize for an only
    # voter, which QuorumState.transitionToProspective allows
    "Resigned": {"Unattached", "Follower", "Prospective"},
    # QuorumState, "Unattached transitions to"
    "Unattached": {"Unattached", "Prospective", "Follower"},
    # QuorumState, "Prospective transitions to"; Prospective: prospectiveAddVotedState
    "Prospective": {"Unattached", "Candidate", "Follower", "Prospective"},
    # QuorumState, "Candidate transitions to"; Follower: transitionToFollower refuses only leaders,
    # and followers that know as many endpoints
    "Candidate": {"Unattached", "Prospective", "Leader", "Follower"},
    # QuorumState, "Leader transitions to"
    "Leader": {"Unattached", "Resigned", "Follower"},
    # QuorumState, "Follower transitions to"
    "Follower": {"Unattached", "Prospective", "Follower"},
}
"""The transitions of Kafka 4.3.1's QuorumState, by its states without the word State."""

KAFKA_OBSERVERS: set[Pair] = {
    # QuorumState, "Observers follow a simpler state machine"
    ("Unattached", "Unattached"),
    ("Unattached", "Follower"),
    ("Follower", "Unattached"),
    ("Follower", "Follower"),
}

KAFKA_IN_MEMORY: set[Pair] = {
    # QuorumState.transitionToProspective and transitionToResigned call memoryTransitionTo
    ("Unattached", "Prospective"),
    ("Follower", "Prospective"),
    ("Candidate", "Prospective"),
    ("Resigned", "Prospective"),
    ("Leader", "Resigned"),
}


def pair(row: Transition) -> Pair:
    """The names of its roles; an empty one for the start."""
    return row.source.__name__ if row.source else "", row.target.__name__


def test_the_table_has_kafkas_transitions() -> None:
    kafka = {(source, target) for source, targets in KAFKA.items() for target in targets}
    assert {pair(row) for row in TRANSITIONS} == kafka


def test_observers_have_kafkas_transitions() -> None:
    rows = [row for row in TRANSITIONS if row.eligible is Eligible.ALL and row.source]
    assert {pair(row) for row in rows} == KAFKA_OBSERVERS


def test_the_transitions_that_are_not_written_are_kafkas() -> None:
    assert {pair(row) for row in TRANSITIONS if not row.is_durable} == KAFKA_IN_MEMORY


def test_every_row_has_its_own_key() -> None:
    assert len({(row.source, row.target, row.reason) for row in TRANSITIONS}) == len(TRANSITIONS)


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Transition, bool]]:
    """The transitions that happen, and whether the replica was a voter."""
    recorded: list[tuple[Transition, bool]] = []
    perform: Callable[..., None] = transitions._perform

    def record(replica: Replica, transition: Transition, role: Role) -> None:
        recorded.append((transition, replica.is_voter))
        perform(replica, transition, role)

    monkeypatch.setattr(transitions, "_perform", record)
    return recorded


def replayed_follower() -> SingleReplica:
    """The only voter follows a leader that it heard of while its state machine replayed."""
    solo = SingleReplica(voters=voter_set(1), is_replaying=True)
    solo.ask(begin_request(9))
    solo.step(Replaying(is_replaying=False))
    return solo


def granted_pre_vote() -> None:
    solo = prospective()
    send, _ = solo.sent(VoteRequest)[0]
    solo.respond(send, vote_response(5, granted=True))


def unsupported_pre_vote() -> None:
    solo = prospective()
    send, _ = solo.sent(VoteRequest)[0]
    error = ErrorCode.UNSUPPORTED_VERSION
    solo.step(RequestFailed(correlation=send.correlation, error=error))


def timed_out(state: Callable[[], SingleReplica], times: int = 1) -> None:
    """Every timeout passes, so often."""
    solo = state()
    for _ in range(times):
        solo.after(solo.config.fetch_timeout_ms)


def answer(state: Callable[[], SingleReplica], request: Request) -> None:
    state().ask(request)


def isolation(id: int) -> Callable[[int, int], bool]:
    """Cut one host off."""
    return lambda source, destination: id in (source, destination)


STATES: dict[type[Role], Callable[[], SingleReplica]] = {
    Unattached: unattached,
    Follower: follower,
    Prospective: prospective,
    Candidate: candidate,
    Leader: leader,
    Resigned: resigned,
}

SCENARIOS: dict[tuple[type[Role] | None, type[Role], Reason], Callable[[], object]] = {
    (None, Unattached, Reason.STARTED): unattached,
    (None, Follower, Reason.STARTED): follower,
    (None, Candidate, Reason.STARTED): candidate,
    (None, Resigned, Reason.STARTED): resigned,
    (Unattached, Prospective, Reason.ONLY_VOTER): lambda: unattached(voters=voter_set(1)),
    (Follower, Prospective, Reason.ONLY_VOTER): replayed_follower,
    (Resigned, Prospective, Reason.ONLY_VOTER): lambda: resigned(voters=voter_set(1)),
    (Unattached, Prospective, Reason.ELECTION_TIMEOUT): lambda: timed_out(unattached),
    (Follower, Prospective, Reason.FETCH_TIMEOUT): lambda: timed_out(follower),
    (Candidate, Prospective, Reason.ELECTION_TIMEOUT): lambda: timed_out(candidate),
    (Prospective, Candidate, Reason.PRE_VOTES_GRANTED): granted_pre_vote,
    (Prospective, Candidate, Reason.PRE_VOTE_UNSUPPORTED): unsupported_pre_vote,
    (Candidate, Leader, Reason.VOTES_GRANTED): leader,
    (Prospective, Follower, Reason.PRE_VOTE_LOST): lambda: timed_out(follower, 2),
    (Prospective, Unattached, Reason.PRE_VOTE_LOST): lambda: timed_out(prospective),
    (Leader, Resigned, Reason.RESIGNED): lambda: leader().step(Resign(epoch=5)),
    (Resigned, Unattached, Reason.ELECTION_TIMEOUT): lambda: timed_out(resigned),
    (Unattached, Unattached, Reason.VOTE_GIVEN): lambda: unattached().ask(vote_request(5)),
    (Prospective, Prospective, Reason.VOTE_GIVEN): lambda: prospective().ask(vote_request(5)),
    **{
        (role, Unattached, Reason.GREATER_EPOCH): partial(answer, state, vote_request(9))
        for role, state in STATES.items()
    },
    **{
        (role, Follower, Reason.LEADER_DISCOVERED): partial(answer, state, begin_request(9))
        for role, state in STATES.items()
    },
}


def test_every_row_happens(
    happened: list[tuple[Transition, bool]], subtests: pytest.Subtests
) -> None:
    for row in TRANSITIONS:
        with subtests.test(f"{pair(row)} {row.reason.value}"):
            happened.clear()
            SCENARIOS[row.source, row.target, row.reason]()
            assert row in [transition for transition, _ in happened]


@pytest.mark.parametrize("seed", range(SEED, SEED + 3))
def test_in_a_quorum_with_failures_only_rows_of_the_table_happen(
    seed: int, happened: list[tuple[Transition, bool]]
) -> None:
    network = dynamic_quorum(1, 2, 3, seed=seed, observers=(7,))
    for _ in range(4):
        old = network.elect().config.node_id
        network.commit(b"x")
        network.kill(old)
        network.run(5_000)
        network.start(old)
        network.cut = isolation(old)
        network.run(5_000)
        network.cut = lambda source, destination: False
        network.run(5_000)

    assert {row for row, _ in happened} <= set(TRANSITIONS)
    assert not [row for row, voter in happened if row.eligible is Eligible.VOTERS and not voter]


@pytest.mark.parametrize(
    ("state", "act"),
    [
        (leader, lambda r, now: transitions.to_prospective(r, Reason.ELECTION_TIMEOUT, now)),
        (follower, lambda r, now: transitions.to_prospective(r, Reason.ELECTION_TIMEOUT, now)),
        (follower, lambda r, now: transitions.to_candidate(r, Reason.PRE_VOTES_GRANTED, now)),
        (resigned, lambda r, now: transitions.to_unattached(r, 7, None, now, Reason.PRE_VOTE_LOST)),
        (unattached, lambda r, now: transitions.to_unattached(r, 5, None, now)),
        (leader, lambda r, now: transitions.to_follower(r, 5, 2, r.role.leader_endpoints, now)),
    ],
)
def test_other_transitions_are_illegal(
    state: Callable[[], SingleReplica], act: Callable[[Replica, int], None]
) -> None:
    replica = state().raft._replica
    role = replica.role
    with pytest.raises(IllegalTransition):
        act(replica, 0)
    assert replica.role is role


def test_only_the_transitions_change_the_role() -> None:
    sources = Path(transitions.__file__).parent.rglob("*.py")
    callers = {path.name for path in sources if ".become(" in path.read_text(encoding="utf-8")}
    assert callers == {"transitions.py"}
