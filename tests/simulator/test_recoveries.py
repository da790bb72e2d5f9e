"""Rules of a recovery: without one of them, histories of lost majorities break a promise."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kwire.quorum_recovery import plan
from kwire.quorum_recovery.survivor import Survivor
from simulator import run
from tests.support.simulator.search import broken_invariant

ONE_EPOCH = {"LogMatching", "SingleLeader"}
"""Two leaders of one epoch, or two batches of one epoch at one offset."""


@pytest.mark.parametrize("ahead", [1, plan.EPOCHS_AHEAD])
def test_survivors_that_share_the_next_epochs_are_seen(
    monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    """Two operators would make two quorums that take each other's records for their own."""

    def new_epoch(survivors: Sequence[Survivor], chosen: Survivor) -> int:
        return max(one.last_known_epoch for one in survivors) + ahead

    monkeypatch.setattr(plan, "_new_epoch", new_epoch)
    assert broken_invariant("recoveriesApart", seed=0) in ONE_EPOCH


def test_a_lost_voter_with_a_snapshot_of_what_is_lost_does_not_follow() -> None:
    """It truncated its log below the snapshot, and its state went on from the snapshot."""
    assert run("lostMajority", 20031).violation is None
