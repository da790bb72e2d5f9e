"""Each promise can be broken: a fault put into the core, or into a disk, is found by its name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kwire.controller.raft import LogFlushed, Raft, high_watermark, poll
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replicated_log import OffsetValidation, ReplicatedLog
from kwire.controller.raft.roles import Elector, Leader
from kwire.controller.raft.rpc import add_raft_voter, fetch, remove_raft_voter
from simulator import run
from simulator.disk import SimulatedDisk
from tests.support.simulator.search import broken_invariant

Patch = pytest.MonkeyPatch


def test_a_replica_that_votes_twice_makes_two_leaders(monkeypatch: Patch) -> None:
    def grants(self: Elector, candidate: object, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        return is_up_to_date

    monkeypatch.setattr(Elector, "can_grant_vote", grants)
    assert broken_invariant("crashes", seed=11) == "SingleLeader"


def test_a_vote_for_a_shorter_log_elects_a_leader_without_committed_records(
    monkeypatch: Patch,
) -> None:
    def grants(self: Elector, candidate: object, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        return original(self, candidate, is_up_to_date=True, pre_vote=pre_vote)

    original: Callable[..., bool] = Elector.can_grant_vote
    monkeypatch.setattr(Elector, "can_grant_vote", grants)
    # Such a leader is seen at once, or when it truncates the others, or commits something else.
    names = {"LeaderCompleteness", "CommittedDataLost", "ConsistentCommittedData"}
    assert broken_invariant("everything", seed=0) in names


def test_a_deposed_leader_need_not_have_what_its_successor_committed() -> None:
    """It is cut off, and by a clock that jumped back it commits late what others have long had."""
    assert run("everything", 798735020).violation is None


def test_an_epoch_that_is_not_remembered_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(SimulatedDisk, "persist", lambda self, effect: None)
    assert broken_invariant("crashes", seed=0) == "MonotonicEpoch"


def test_an_acknowledgement_before_the_flush_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(
        SimulatedDisk, "flush", lambda self, effect: LogFlushed(offset=effect.offset)
    )
    assert broken_invariant("canElectInitialLeader", seed=0) == "MajorityReachedHighWatermark"


def test_a_new_leader_that_tells_an_old_high_watermark_is_seen(monkeypatch: Patch) -> None:
    def known(leader: Leader) -> int:
        old = max(0, leader.epoch_start_offset - 5)
        return old if leader.high_watermark is None else leader.high_watermark

    monkeypatch.setattr(fetch, "_known_high_watermark", known)
    assert (
        broken_invariant("canElectNewLeaderAfterOldLeaderFailure", seed=0)
        == "FollowerHighWatermark"
    )


def test_a_high_watermark_that_falls_is_seen(monkeypatch: Patch) -> None:
    def advance(self: Leader) -> bool:
        before = self.high_watermark
        self.high_watermark = None
        rose = original(self)
        self.high_watermark = before if not rose else self.high_watermark
        return rose and self.high_watermark != before

    original: Callable[[Leader], bool] = Leader.advance_high_watermark
    monkeypatch.setattr(Leader, "advance_high_watermark", advance)
    assert broken_invariant("changingVoters", seed=0) == "MonotonicHighWatermark"


def test_a_high_watermark_that_one_voter_raises_is_seen(monkeypatch: Patch) -> None:
    def advance(self: Leader) -> bool:
        ends = [p.end_offset for p in self.voters.values() if p.end_offset is not None]
        reached = max(ends, default=0)
        risen = reached > max(self.epoch_start_offset, self.high_watermark or 0)
        self.high_watermark = reached if risen else self.high_watermark
        return risen

    monkeypatch.setattr(Leader, "advance_high_watermark", advance)
    assert (
        broken_invariant("canMakeProgressIfMajorityIsReachable", seed=0)
        == "MajorityReachedHighWatermark"
    )


@pytest.mark.parametrize("module", [add_raft_voter, remove_raft_voter])
def test_a_voter_change_before_the_last_one_is_committed_is_seen(
    monkeypatch: Patch, module: object
) -> None:
    monkeypatch.setattr(module, "validate_voter_change", lambda replica, leader: None)
    assert broken_invariant("changingVoters", seed=0) == "SingleVoterChange"


def test_a_leader_that_does_not_look_whether_logs_diverge_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(
        ReplicatedLog, "validate_offset_and_epoch", lambda self, position: OffsetValidation()
    )
    assert broken_invariant("oneWayPartitions", seed=0) == "ConsistentCommittedData"


def test_a_follower_that_never_truncates_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(fetch, "_truncate", lambda replica, diverging: None)
    assert broken_invariant("everything", seed=40) == "Progress"


def test_a_snapshot_that_a_log_does_not_begin_at_is_seen(monkeypatch: Patch) -> None:
    original: Callable[..., None] = SimulatedDisk.clean

    def clean(self: SimulatedDisk, id: object) -> None:
        original(self, id)
        self._snapshots.clear()
        self._snapshots[type(self.end)(offset=self.start_offset + 1, epoch=self.end.epoch)] = b""

    monkeypatch.setattr(SimulatedDisk, "clean", clean)
    assert broken_invariant("clockJumps", seed=0) == "SnapshotAtLogStart"


def test_a_leader_that_truncates_is_seen(monkeypatch: Patch) -> None:
    original: Callable[..., None] = high_watermark.advance_high_watermark

    def advance(replica: Replica, leader: Leader) -> None:
        original(replica, leader)
        if leader.high_watermark and leader.high_watermark > 20:
            replica.truncate(replica.log.end)

    monkeypatch.setattr(fetch, "advance_high_watermark", advance)
    assert broken_invariant("clockJumps", seed=0) == "LeaderNeverLoadSnapshot"


def test_a_quorum_that_never_elects_again_is_seen(monkeypatch: Patch) -> None:
    monkeypatch.setattr(poll, "_poll_follower", lambda replica, role, now: None)
    assert broken_invariant("canElectInitialLeader", seed=0) == "Progress"


def test_an_exception_in_the_core_is_a_violation(monkeypatch: Patch) -> None:
    def step(self: Raft, event: object, now: int) -> list[object]:
        raise ZeroDivisionError("of a kind")

    monkeypatch.setattr(Raft, "step", step)
    assert broken_invariant("canElectInitialLeader", seed=0) == "ZeroDivisionError"
