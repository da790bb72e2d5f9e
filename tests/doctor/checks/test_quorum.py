"""The quorum: who leads, who keeps up, whom each controller follows."""

from __future__ import annotations

from kwire.admin.controller_state import FollowedLeader
from kwire.doctor.checks.quorum import check
from kwire.doctor.evidence import behind_ms
from kwire.doctor.finding import FindingVerdict
from tests.support.doctor.evidence import (
    EPOCH,
    address,
    controller,
    evidence_of,
    healthy,
    quorum_info,
    replica,
    silent,
    with_configs,
)

LEADERLESS = FollowedLeader(leader_id=None, epoch=EPOCH)


def test_the_healthy_one_names_leader_epoch_and_the_slowest_voter() -> None:
    quorum = quorum_info([replica(1), replica(2, behind_ms=400), replica(3)])
    (finding,) = check(healthy(quorum))
    assert finding.sentence == "1 leads in epoch 14; 3 of 3 voters caught up (worst 0.4 s)"


def test_voters_of_a_leader_that_is_none_are_measured_by_whoever_fetched_last() -> None:
    """KIP-853: who removes itself leads, as an observer, until that is committed."""
    voters = [replica(n, silent_ms=100, behind_ms=behind) for n, behind in enumerate((300, 400), 2)]
    quorum = quorum_info([*voters, replica(4)], [replica(1)], leader_id=1)
    (finding,) = check(evidence_of(controller(1, quorum)))
    assert finding.sentence == "1 leads in epoch 14; 3 of 3 voters caught up (worst 0.4 s)"
    never = quorum_info([*voters, replica(4, silent_ms=None)], [replica(1)], leader_id=1)
    assert behind_ms(never, never.voters[0]) == 300


def test_a_controller_that_answers_and_follows_nobody_is_a_problem() -> None:
    quorum = quorum_info(map(replica, (1, 2, 3)))
    nodes = [controller(1, quorum), controller(2), controller(3, follows=LEADERLESS)]
    (finding,) = check(evidence_of(*nodes))
    assert (finding.id, finding.verdict) == ("quorum/follows-nobody", FindingVerdict.PROBLEM)
    assert finding.sentence == "controller 3 answers, but follows nobody; 1 leads"


def test_without_a_leader_it_is_said_who_answers_and_who_does_not() -> None:
    node = controller(1, follows=LEADERLESS, registered=(1, 2, 3))
    (finding,) = check(evidence_of(node, silent(address(2)), silent(address(3))))
    assert finding.id == "quorum/no-leader"
    assert finding.sentence == "nobody leads: 1 answers, 2 and 3 do not"
    assert finding.evidence == ("controller 1 knows no leader in epoch 14",)


def test_a_controller_that_led_before_its_restart_is_no_leader_that_cannot_be_reached() -> None:
    """It names itself until the next election."""
    own = FollowedLeader(leader_id=1, epoch=EPOCH)
    (finding,) = check(evidence_of(controller(1, follows=own, registered=(1, 2, 3))))
    assert finding.id == "quorum/no-leader"
    assert finding.evidence == ("controller 1 led epoch 14 and does not lead now",)


def test_a_leader_that_others_follow_and_nobody_here_reaches_is_another_problem() -> None:
    (finding,) = check(evidence_of(controller(2), controller(3), silent(address(1))))
    assert finding.id == "quorum/leader-unreachable"
    assert "controller 2 follows 1 in epoch 14" in finding.evidence


def test_a_leader_without_a_majority_is_about_to_resign() -> None:
    quorum = quorum_info(
        [replica(1), *(replica(n, silent_ms=9_000, behind_ms=9_000) for n in (2, 3))]
    )
    findings = list(check(evidence_of(controller(1, quorum))))
    assert [finding.id for finding in findings] == [
        "quorum/no-majority",
        "quorum/voter-silent",
        "quorum/voter-silent",
    ]
    assert findings[0].sentence == "1 leads, but 1 of 3 voters keep up; 2 are needed"


def test_a_silent_voter_takes_the_spare_away() -> None:
    quorum = quorum_info([replica(1), replica(2), replica(3, silent_ms=12_000, behind_ms=12_000)])
    first, second = check(evidence_of(controller(1, quorum), controller(2)))
    assert first.sentence == "voter 3 has not fetched for 12 s"
    assert first.evidence == ("it was not reached from here",)
    assert second.id == "quorum/no-spare"


def test_a_voter_that_never_fetched_is_silent_and_not_fine() -> None:
    quorum = quorum_info([replica(1), replica(2), replica(3, silent_ms=None, behind_ms=None)])
    first, _ = check(evidence_of(controller(1, quorum)))
    assert first.sentence == "voter 3 has not fetched since 1 leads"


def test_a_voter_that_fetches_but_is_behind_lags() -> None:
    quorum = quorum_info([replica(1), replica(2), replica(3, behind_ms=60_000)])
    first, _ = check(evidence_of(controller(1, quorum)))
    assert first.id == "quorum/voter-lags"
    assert "not been caught up for 60 s" in first.sentence


def test_late_is_what_the_controllers_own_fetch_timeout_says() -> None:
    quorum = quorum_info([replica(1), replica(2), replica(3, silent_ms=9_000, behind_ms=9_000)])
    patient = with_configs(controller(1, quorum), controller_quorum_fetch_timeout_ms="30000")
    assert [finding.id for finding in check(evidence_of(patient))] == ["quorum/ok"]


def test_one_voter_and_an_even_number_are_said_without_blame() -> None:
    alone = quorum_info([replica(1)])
    assert [f.id for f in check(evidence_of(controller(1, alone)))] == [
        "quorum/one-voter",
        "quorum/ok",
    ]
    four = quorum_info(map(replica, (1, 2, 3, 4)))
    assert [f.id for f in check(evidence_of(controller(1, four)))] == [
        "quorum/even-voters",
        "quorum/ok",
    ]


def test_a_follower_of_another_epoch_may_only_be_late() -> None:
    quorum = quorum_info(map(replica, (1, 2, 3)))
    late = controller(3, follows=FollowedLeader(leader_id=2, epoch=EPOCH - 1))
    (finding,) = check(evidence_of(controller(1, quorum), controller(2), late))
    assert finding.sentence == "controller 3 follows 2 in epoch 13; 1 leads in epoch 14"


def test_an_observer_that_fetches_old_metadata_is_named() -> None:
    quorum = quorum_info(map(replica, (1, 2, 3)), [replica(11, behind_ms=90_000)])
    (finding,) = check(healthy(quorum))
    assert finding.sentence == "observer 11 is 90 s behind"


def test_times_that_no_leader_told_are_not_taken_for_being_caught_up() -> None:
    # DescribeQuorum before v1 has no times at all.
    quorum = quorum_info(replica(n, silent_ms=None, behind_ms=None) for n in (1, 2, 3))
    assert "quorum/ok" not in [finding.id for finding in check(healthy(quorum))]
