"""The high watermark and what else a leader counts: LeaderStateTest."""

import pytest

from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Leader
from kwire.controller.raft.voter_set import VoterSet
from tests.support.controller.raft.virtual_network import key, static_voters, voter_set

NEVER = 1 << 40


def leader(voters: VoterSet, start: int = 10) -> Leader:
    made = Leader(
        epoch=5,
        leader_id=1,
        local=key(1),
        epoch_start_offset=start,
        check_quorum_deadline=NEVER,
        begin_quorum_epoch_deadline=NEVER,
    )
    made.update_voters(voters)
    return made


def local(state: Leader, end: int) -> int | None:
    state.update_local_end(end)
    state.advance_high_watermark()
    return state.high_watermark


def fetch(state: Leader, id: int, offset: int, now: int = 0) -> int | None:
    state.record_fetch(key(id), offset, leader_end=20, now=now)
    state.advance_high_watermark()
    return state.high_watermark


def test_one_voter_commits_alone() -> None:
    state = leader(voter_set(1), 15)
    assert local(state, 15) is None
    assert local(state, 16) == 16
    assert local(state, 20) == 20


def test_two_voters_commit_together() -> None:
    state = leader(voter_set(1, 2))
    assert local(state, 13) is None
    assert fetch(state, 2, 10) is None, "nothing of this epoch yet"
    assert fetch(state, 2, 11) == 11
    assert fetch(state, 2, 13) == 13


def test_three_voters_need_two() -> None:
    state = leader(voter_set(1, 2, 3))
    assert local(state, 15) is None
    assert fetch(state, 2, 10) is None
    assert fetch(state, 3, 10) is None
    assert fetch(state, 3, 15) == 15
    assert local(state, 20) == 15
    assert fetch(state, 2, 20) == 20
    assert fetch(state, 3, 20) == 20


def test_a_follower_that_lost_its_log_does_not_lower_the_high_watermark() -> None:
    state = leader(voter_set(1, 2, 3))
    local(state, 15)
    assert fetch(state, 2, 15) == 15
    assert fetch(state, 2, 11) == 15


def test_a_new_voter_does_not_lower_it_either() -> None:
    state = leader(voter_set(1, 2), 5)
    local(state, 15)
    assert fetch(state, 2, 15) == 15
    fetch(state, 3, 10)
    state.update_voters(voter_set(1, 2, 3, 4))
    assert local(state, 16) == 15
    assert fetch(state, 3, 15) == 15
    assert fetch(state, 2, 16) == 15
    assert fetch(state, 3, 16) == 16


def test_a_removed_leader_does_not_count_itself() -> None:
    state = leader(voter_set(1, 2, 3))
    local(state, 15)
    assert fetch(state, 2, 15) == 15
    fetch(state, 3, 10)
    state.update_voters(voter_set(2, 3))
    assert local(state, 17) == 15
    assert fetch(state, 2, 16) == 15
    assert fetch(state, 3, 15) == 15
    assert fetch(state, 3, 16) == 16


def test_observers_commit_nothing() -> None:
    state = leader(voter_set(1, 2, 3))
    local(state, 15)
    assert fetch(state, 4, 15) is None
    assert key(4) in state.observers


def test_a_voter_id_with_another_disk_is_an_observer() -> None:
    state = leader(voter_set(1, 2, 3))
    local(state, 15)
    other = key(2, disk=1)
    state.record_fetch(other, 15, leader_end=15, now=0)
    assert not state.advance_high_watermark()
    assert other in state.observers


def test_a_static_voter_is_whoever_has_its_id() -> None:
    state = leader(static_voters(1, 2, 3))
    local(state, 15)
    assert fetch(state, 2, 15) == 15


def test_directories_may_be_learned_but_progress_is_kept() -> None:
    state = leader(static_voters(1, 2, 3))
    local(state, 15)
    fetch(state, 2, 15)
    state.update_voters(voter_set(1, 2, 3))
    assert state.voters[2].end_offset == 15
    assert state.voters[2].key == key(2)


@pytest.mark.parametrize(
    ("voters", "heard", "is_majority"),
    [
        ((1, 2, 3), [2], True),
        ((1, 2, 3, 4), [2], False),
        ((1, 2, 3, 4), [2, 3], True),
        ((1, 2, 3, 4, 5), [2, 2], False),
        ((1, 2, 3, 4, 5), [2, 5], True),
        ((2, 3, 4), [2], False),
        ((2, 3, 4), [2, 3], True),
        ((1, 2, 3), [9], False),
    ],
)
def test_a_majority_with_the_leader_if_it_votes_keeps_it(
    voters: tuple[int, ...], heard: list[int], is_majority: bool
) -> None:
    state = leader(voter_set(*voters))
    assert [state.update_check_quorum(key(id)) for id in heard][-1] is is_majority


def test_successors_have_the_best_log_first_and_never_the_leader() -> None:
    state = leader(voter_set(1, 2, 3, 4))
    local(state, 20)
    fetch(state, 2, 11)
    fetch(state, 4, 13)
    assert [successor.id for successor in state.preferred_successors()] == [4, 2, 3]


@pytest.mark.parametrize(
    ("fetches", "now", "is_caught_up"),
    [
        ([], 0, False),
        ([(5, 100)], 100, False),
        ([(20, 100)], 100, True),
        ([(20, 100), (5, 200)], 200, True),
        ([(20, 100)], 100 + 3_600_000, False),
    ],
)
def test_an_observer_is_caught_up_once_it_had_everything(
    fetches: list[tuple[int, int]], now: int, is_caught_up: bool
) -> None:
    state = leader(voter_set(1, 2, 3))
    for offset, at in fetches:
        fetch(state, 4, offset, at)
    assert state.is_caught_up(key(4), now) is is_caught_up


def test_a_replica_that_had_all_of_then_was_caught_up_then() -> None:
    state = leader(voter_set(1, 2, 3))
    state.record_fetch(key(2), 5, leader_end=10, now=100)
    state.record_fetch(key(2), 10, leader_end=30, now=200)
    assert state.voters[2].last_caught_up == 100


def test_observers_that_went_away_are_forgotten() -> None:
    state = leader(voter_set(1, 2, 3))
    fetch(state, 4, 5, now=1_000)
    state.drop_inactive_observers(now=1_000 + 299_999)
    assert key(4) in state.observers
    state.drop_inactive_observers(now=1_000 + 300_000)
    assert key(4) not in state.observers


def test_a_voter_key_without_directory_covers_all() -> None:
    assert ReplicaKey(id=1).covers(key(1))
    assert not key(1).covers(ReplicaKey(id=1))
    assert not key(1).covers(key(1, disk=1))
