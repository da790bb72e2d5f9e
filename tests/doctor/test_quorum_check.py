"""The probe of one controller, and the question if it may be restarted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kwire.admin.controller_state import FollowedLeader
from kwire.admin.quorum import QuorumInfo
from kwire.doctor.evidence import Evidence
from kwire.doctor.finding import FindingVerdict
from kwire.doctor.quorum_check import takes_part, without
from tests.support.doctor.evidence import (
    address,
    controller,
    evidence_of,
    healthy,
    quorum_info,
    replica,
    silent,
)


def test_a_follower_says_whom_it_follows_and_how_far_it_is_behind() -> None:
    finding = takes_part(healthy(), 3)
    assert (finding.sentence, finding.verdict) == (
        "3: follows 1 in epoch 14, 0 records behind",
        FindingVerdict.OK,
    )


def test_a_follower_of_a_leader_that_is_silent_is_not_called_well() -> None:
    """Without a majority a controller goes on naming the leader that is gone."""
    finding = takes_part(evidence_of(controller(3), silent(address(1))), 3)
    assert (finding.id, finding.verdict) == ("check/leader-silent", FindingVerdict.UNKNOWN)
    assert finding.sentence == "3: follows 1 in epoch 14, which does not answer from here"


@pytest.mark.parametrize(
    "quorum",
    [
        quorum_info([replica(1), replica(2), replica(3, silent_ms=9_000)]),
        quorum_info([replica(1), replica(2), replica(3, silent_ms=None)]),
        quorum_info([replica(1), replica(2)]),  # it is not listed
        quorum_info([replica(2), replica(3)], epoch=15),  # another one leads
    ],
)
def test_who_names_a_leader_that_has_not_heard_of_it_is_not_called_well(quorum: QuorumInfo) -> None:
    """A controller that is cut off goes on naming its last leader (KIP-996)."""
    finding = takes_part(healthy(quorum), 3)
    assert (finding.id, finding.verdict) == ("check/not-heard", FindingVerdict.UNKNOWN)


def test_a_controller_that_follows_nobody_fails_though_it_answers() -> None:
    alone = controller(3, follows=FollowedLeader(leader_id=None, epoch=14))
    finding = takes_part(evidence_of(alone), 3)
    assert (finding.id, finding.verdict) == ("check/follows-nobody", FindingVerdict.PROBLEM)
    assert finding.sentence == "3: answers, follows nobody in epoch 14"


def test_a_controller_that_does_not_answer_fails() -> None:
    finding = takes_part(evidence_of(controller(1), silent(address(3))), 3)
    assert finding.id == "check/no-answer"


def test_a_controller_that_does_not_say_is_not_taken_for_a_follower() -> None:
    assert takes_part(evidence_of(controller(3, follows=None)), 3).id == "check/not-told"


def test_a_leader_takes_part_with_a_majority_only() -> None:
    assert takes_part(healthy(), 1).sentence == "1: leads in epoch 14, 3 of 3 voters caught up"
    cut_off = quorum_info([replica(1), *(replica(n, behind_ms=5_000) for n in (2, 3))])
    assert takes_part(healthy(cut_off), 1).verdict is FindingVerdict.PROBLEM


def quorum_of(*behind: int) -> QuorumInfo:
    """Return a quorum whose voters 1, 2 … are so many milliseconds behind."""
    return quorum_info(replica(n, behind_ms=ms) for n, ms in enumerate(behind, 1))


@pytest.mark.parametrize(
    ("behind", "node_id", "safe"),
    [
        ((0, 0, 0), 3, True),
        ((0, 0, 0), 1, True),
        ((0, 0, 9_000), 3, True),  # it is down already
        ((0, 9_000, 0), 3, False),
        ((0, 0, 9_000, 0, 0), 2, True),
        ((0, 0, 9_000, 9_000, 0), 2, False),
        ((0, 0, 9_000, 9_000, 0), 3, True),
        ((0, 0), 2, False),
        ((0,), 1, False),
        ((0, 1_999, 1_999), 1, True),
        ((0, 2_000, 0), 1, False),  # as Strimzi: less than the fetch timeout
    ],
)
def test_a_majority_must_be_caught_up_without_it(
    behind: tuple[int, ...], node_id: int, safe: bool
) -> None:
    finding = without(healthy(quorum_of(*behind)), node_id)
    assert (finding.id == "check/safe-to-restart") is safe


def test_the_answer_counts_the_others_and_their_times() -> None:
    finding = without(healthy(quorum_of(0, 300, 200)), 1)
    assert finding.sentence == "without 1: 2 of 3 voters caught up (2: 0.3 s, 3: 0.2 s): safe"
    assert finding.evidence == ("1 leads: another voter is elected",)


def test_who_does_not_vote_may_go() -> None:
    assert without(healthy(), 11).verdict is FindingVerdict.OK


def test_without_a_leader_nothing_is_said_to_be_safe() -> None:
    assert without(Evidence(), 1).verdict is FindingVerdict.UNKNOWN
    nobody = healthy(replace(quorum_info([replica(1)]), voters=()))
    assert without(nobody, 1).verdict is FindingVerdict.UNKNOWN
