"""The state of a replica at its start, by what is on its disk: QuorumStateTest.testInitialize…"""

import pytest

from kwire.controller.raft import ElectionState, ReplicaKey, VoterSet
from memory_log import MemoryLog
from tests.support.controller.raft.single_replica import SingleReplica, log_with
from tests.support.controller.raft.virtual_network import endpoints, key, static_voters, voter_set

STARTS: list[tuple[str, ElectionState | None, tuple[str, int, int | None]]] = [
    # quorum-state; role, epoch, leader
    ("no file", None, ("unattached", 0, None)),
    ("an epoch", ElectionState(epoch=3), ("unattached", 3, None)),
    ("voted", ElectionState(epoch=3, voted_key=key(2)), ("unattached", 3, None)),
    ("voted for itself", ElectionState(epoch=3, voted_key=key(1)), ("candidate", 3, None)),
    (
        "voted for its id, directory unknown",
        ElectionState(epoch=3, voted_key=ReplicaKey(id=1)),
        ("candidate", 3, None),
    ),
    (
        "voted for its id on another disk",
        ElectionState(epoch=3, voted_key=key(1, disk=1)),
        ("unattached", 3, None),
    ),
    ("a leader", ElectionState(epoch=3, leader_id=2), ("follower", 3, 2)),
    ("a leader without address", ElectionState(epoch=3, leader_id=9), ("unattached", 3, 9)),
    ("led", ElectionState(epoch=3, leader_id=1), ("resigned", 3, 1)),
]


@pytest.mark.parametrize(
    ("election", "expected"), [row[1:] for row in STARTS], ids=[row[0] for row in STARTS]
)
def test_the_first_role_follows_from_quorum_state(
    election: ElectionState | None, expected: tuple[str, int, int | None]
) -> None:
    raft = SingleReplica(election=election).raft
    assert (raft.role, raft.epoch, raft.leader_id) == expected


@pytest.mark.parametrize("election", [None, ElectionState(epoch=2, voted_key=key(1))])
def test_a_lost_or_old_quorum_state_yields_to_the_epoch_of_the_log(
    election: ElectionState | None,
) -> None:
    solo = SingleReplica(election=election, log=log_with(1, 4))
    assert (solo.raft.role, solo.raft.epoch) == ("unattached", 4)
    assert solo.election == ElectionState(epoch=4)


@pytest.mark.parametrize(
    "election",
    [None, ElectionState(epoch=3, leader_id=1), ElectionState(epoch=3, voted_key=key(1))],
)
def test_the_only_voter_leads_without_waiting(election: ElectionState | None) -> None:
    assert SingleReplica(voters=voter_set(1), election=election).raft.role == "leader"


def test_the_vote_outlives_a_restart_and_a_leader() -> None:
    both = ElectionState(epoch=3, leader_id=2, voted_key=key(3))
    assert SingleReplica(election=both).election == both


def test_at_kraft_version_0_the_directory_of_the_vote_is_not_on_the_disk() -> None:
    state = ElectionState(epoch=3, voted_key=key(3))
    assert ElectionState.from_data(state.to_data(1, [])) == state
    kept = ElectionState.from_data(state.to_data(0, [2, 3])).voted_key
    assert kept == ReplicaKey(id=3)


def test_static_voters_count_until_the_log_names_others() -> None:
    static = static_voters(1, 2, 3)
    assert SingleReplica(static_voters=static, bootstrap_servers=()).raft.voters == static
    log = log_with(1, voters=voter_set(1, 2))
    assert SingleReplica(static_voters=static, log=log).raft.voters == voter_set(1, 2)


def test_a_node_formatted_without_voters_is_an_observer() -> None:
    raft = SingleReplica(voters=VoterSet()).raft
    assert (raft.role, raft.is_voter, len(raft.voters)) == ("unattached", False, 0)


def test_one_of_another_disk_is_no_voter() -> None:
    raft = SingleReplica(directory_id=key(1, disk=1).wire_directory_id).raft
    assert not raft.is_voter


def test_an_empty_directory_needs_nothing_but_bootstrap_servers() -> None:
    log = MemoryLog()
    solo = SingleReplica(log=log, static_voters=VoterSet(), endpoints=endpoints(1))
    assert solo.raft.end_offset == 0
    assert solo.raft.deadline is not None
