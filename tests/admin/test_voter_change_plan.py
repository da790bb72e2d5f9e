"""Changes of the voter set are judged before they are asked for."""

from dataclasses import replace
from uuid import UUID

import pytest

from kwire.admin.cluster_description import ClusterNode
from kwire.admin.quorum import QuorumInfo, QuorumNode, RaftVoterEndpoint, ReplicaState
from kwire.admin.voter_change_plan import (
    CheckVerdict,
    VoterChangePlan,
    addition,
    removal,
    spare_voters,
)
from kwire.admin.voter_replacement import VoterReplacement, replacement

NOW = 1_795_246_073_056
FOUR = RaftVoterEndpoint(name="CONTROLLER", host="127.0.0.1", port=9094)
CONTROLLERS = [ClusterNode(node_id=id_, host="127.0.0.1", port=9090 + id_) for id_ in (1, 2, 3, 4)]


def replica(id_: int, *, silent: bool = False, end: int = 100, directory: int = 0) -> ReplicaState:
    fetched = NOW - 60_000 if silent else NOW - 300
    return ReplicaState(
        replica_id=id_,
        replica_directory_id=UUID(int=directory or id_),
        log_end_offset=end,
        last_fetch_timestamp=fetched,
        last_caught_up_timestamp=fetched,
    )


def leader(id_: int = 1) -> ReplicaState:
    return replace(replica(id_), last_fetch_timestamp=NOW, last_caught_up_timestamp=NOW)


def quorum(*voters: ReplicaState, observers: tuple[ReplicaState, ...] = ()) -> QuorumInfo:
    endpoint = RaftVoterEndpoint(name="CONTROLLER", host="127.0.0.1", port=9091)
    return QuorumInfo(
        leader_id=1,
        leader_epoch=3,
        high_watermark=100,
        voters=voters,
        observers=observers,
        nodes={1: QuorumNode(node_id=1, endpoints=(endpoint,))},
    )


THREE = (leader(), replica(2), replica(3))


def problem(change: VoterChangePlan) -> str:
    (only,) = change.problems
    return only


def test_directory_id_and_endpoint_of_a_new_voter_are_inferred() -> None:
    change = addition(quorum(*THREE, observers=(replica(4),)), CONTROLLERS, 4)
    assert (change.directory_id, change.endpoints) == (UUID(int=4), (FOUR,))
    assert [check.verdict for check in change.checks] == [CheckVerdict.FINE, CheckVerdict.FINE]


def test_endpoints_that_are_given_are_taken() -> None:
    given = RaftVoterEndpoint(name="OTHER", host="example.org", port=1)
    change = addition(quorum(*THREE, observers=(replica(4),)), (), 4, endpoints=[given])
    assert change.endpoints == (given,)
    assert not change.problems


def test_a_voter_cannot_be_added_again() -> None:
    change = addition(quorum(*THREE), CONTROLLERS, 2)
    assert "is a voter already" in problem(change)
    assert change.directory_id == UUID(int=2)


def test_who_does_not_follow_cannot_be_added() -> None:
    assert "--no-initial-controllers" in problem(addition(quorum(*THREE), CONTROLLERS, 4))


def test_a_broker_follows_and_cannot_vote() -> None:
    change = addition(quorum(*THREE, observers=(replica(9),)), CONTROLLERS, 9)
    assert "or be a broker, which follows the quorum but cannot vote" in problem(change)


def test_two_observers_of_one_id_must_be_told_apart_by_their_directory_ids() -> None:
    both = quorum(*THREE, observers=(replica(4), replica(4, directory=44)))
    assert "runs twice, with directory ids" in problem(addition(both, CONTROLLERS, 4))
    chosen = addition(both, CONTROLLERS, 4, directory_id=UUID(int=44))
    assert not chosen.problems
    assert chosen.directory_id == UUID(int=44)


@pytest.mark.parametrize("turn", [1, -1])
def test_disks_that_no_longer_fetch_do_not_count(turn: int) -> None:
    """The leader lists the old disk of a voter that was removed for five minutes."""
    replicas = (replica(4, silent=True, directory=40), replica(4), replica(2))[::turn]
    change = addition(quorum(*THREE, observers=replicas), CONTROLLERS, 4)
    assert (change.problems, change.directory_id) == ((), UUID(int=4))


def test_a_voter_that_the_new_leader_has_not_heard_of_does_not_fetch() -> None:
    unheard = replace(replica(3), last_fetch_timestamp=None, last_caught_up_timestamp=None)
    assert problem(removal(quorum(leader(), replica(2), unheard), 2)).startswith("1 of 2 voters")


def replaced(*replicas: ReplicaState, observers: tuple[ReplicaState, ...]) -> VoterReplacement:
    return replacement(quorum(*replicas, observers=observers), CONTROLLERS, 3)


def test_a_new_disk_takes_the_place_of_the_old_one() -> None:
    change = replaced(
        leader(), replica(2), replica(3, silent=True), observers=(replica(3, directory=33),)
    )
    assert (change.needed, change.addition.problems) == (True, ())
    assert (change.old_directory_id, change.addition.directory_id) == (UUID(int=3), UUID(int=33))
    assert change.addition.endpoints[0].port == 9093
    went_on = replaced(
        leader(), replica(2), observers=(replica(3, silent=True), replica(3, directory=33))
    )
    assert (went_on.needed, went_on.addition.problems) == (True, ())
    assert (went_on.old_directory_id, went_on.addition.directory_id) == (None, UUID(int=33))


def test_a_voter_that_fetches_with_its_disk_needs_no_replacement() -> None:
    assert not replaced(*THREE, observers=(replica(3, silent=True, directory=30),)).needed


def fetched(milliseconds: int) -> ReplicaState:
    return replace(replica(3), last_fetch_timestamp=NOW - milliseconds)


@pytest.mark.parametrize(
    ("voter", "observers", "text"),
    [
        (fetched(300), (replica(3, directory=33),), "stop it if it still runs"),
        (fetched(3_000), (), "voter 3 fetched 3.0 s ago"),
        (fetched(60_000), (), "does not follow the quorum: format it"),
    ],
    ids=["runs twice", "killed a moment ago", "not started"],
)
def test_a_replacement_waits(
    voter: ReplicaState, observers: tuple[ReplicaState, ...], text: str
) -> None:
    change = replaced(leader(), replica(2), voter, observers=observers)
    assert change.needed
    assert text in problem(change.addition)


def test_a_replacement_needs_the_majority_of_the_others() -> None:
    lost = (leader(), replica(2, silent=True), replica(3, silent=True))
    change = replaced(*lost, observers=(replica(3, directory=33),))
    assert "1 of 2 voters would fetch, 2 are needed: start 2 first" in change.addition.problems


def test_the_sentence_for_a_voter_that_cannot_be_added_names_the_replacement() -> None:
    silent = addition(quorum(leader(), replica(2), replica(3, silent=True)), CONTROLLERS, 3)
    assert problem(silent).endswith("if its disk was replaced, kwire quorum replace 3")


def test_a_directory_id_that_no_observer_has_is_a_problem() -> None:
    change = addition(
        quorum(*THREE, observers=(replica(4),)), CONTROLLERS, 4, directory_id=UUID(int=5)
    )
    assert "follows with directory id AAAAAAAAAAAAAAAAAAAABA" in problem(change)


def test_an_observer_that_is_gone_cannot_be_added() -> None:
    change = addition(quorum(*THREE, observers=(replica(4, silent=True),)), CONTROLLERS, 4)
    assert "no longer fetches" in problem(change)


def test_an_observer_far_behind_is_a_warning() -> None:
    ahead = (replace(leader(), log_end_offset=5_000), replica(2), replica(3))
    change = addition(quorum(*ahead, observers=(replica(4),)), CONTROLLERS, 4)
    assert change.warnings == ("controller 4 is 4900 records behind and has to catch up first",)


def test_an_addition_needs_a_majority_of_the_larger_set() -> None:
    """2 of 3 fetch; with the new one 3 of 4, which is just enough; with 1 of 3 it is not."""
    one_down = (leader(), replica(2), replica(3, silent=True))
    assert not addition(quorum(*one_down, observers=(replica(4),)), CONTROLLERS, 4).problems
    two_down = (leader(), replica(2, silent=True), replica(3, silent=True))
    change = addition(quorum(*two_down, observers=(replica(4),)), CONTROLLERS, 4)
    assert problem(change) == "2 of 4 voters would fetch, 3 are needed: start 2, 3 first"


def test_a_removal_infers_the_directory_id() -> None:
    change = removal(quorum(*THREE), 2)
    assert (change.directory_id, change.problems, change.warnings) == (UUID(int=2), (), ())


def test_removing_the_leader_is_a_warning() -> None:
    assert removal(quorum(*THREE), 1).warnings == (
        "controller 1 leads: it resigns, and another voter is elected",
    )


def test_a_removal_after_which_no_voter_may_fail_is_warned_of() -> None:
    (check,) = spare_voters(quorum(*THREE), 2)
    assert check.verdict is CheckVerdict.WARNING
    assert check.text == (
        "no failure is tolerated afterwards: 2 of 2 voters fetch, and all of them are needed; add"
        " another controller to the voters"
    )
    assert not [*spare_voters(quorum(*THREE, replica(4)), 2)]
    assert [*spare_voters(quorum(*THREE, replica(4, silent=True)), 2)]
    assert not [*spare_voters(quorum(*THREE), 7)]  # it is no voter, which is a problem


def test_a_removal_must_name_a_voter() -> None:
    assert "is no voter; the voters are 1, 2, 3" in problem(removal(quorum(*THREE), 4))
    other = removal(quorum(*THREE), 2, directory_id=UUID(int=9))
    assert "the voter is controller 2 with directory id" in problem(other)


def test_a_removal_must_leave_a_majority() -> None:
    one_down = (leader(), replica(2), replica(3, silent=True))
    assert problem(removal(quorum(*one_down), 2)).startswith("1 of 2 voters would fetch, 2 are")
    assert not removal(quorum(*one_down), 3).problems
    assert problem(removal(quorum(leader()), 1)) == "the last voter cannot be removed"


@pytest.mark.parametrize("id_", [2, 4])
def test_static_voters_cannot_be_changed(id_: int) -> None:
    static = [replace(one, replica_directory_id=None) for one in THREE]
    told = quorum(*static, observers=(replica(4),))
    change = addition(told, CONTROLLERS, id_) if id_ == 4 else removal(told, id_)
    assert "kwire quorum upgrade --plan" in problem(change)
