"""Leader: counts how far the voters are, and with it what is committed (Java: LeaderState)."""

from __future__ import annotations

from dataclasses import dataclass, field

from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.replica_progress import UNKNOWN, ReplicaProgress
from kwire.controller.raft.roles.role import Role
from kwire.controller.raft.voter_change import VoterChange
from kwire.controller.raft.voter_set import VoterSet

OBSERVER_SESSION_MS = 300_000
"""Observers that have not fetched for so long are forgotten (LeaderState)."""

CAUGHT_UP_WITHIN_MS = 3_600_000
"""An observer may become a voter if it fetched within this time (LeaderState.isReplicaCaughtUp)."""


@dataclass(slots=True, kw_only=True, eq=False)
class Leader(Role):
    """The replica that appends and commits.

    local: its own key. high_watermark: None until a record of this epoch is committed.
    check_quorum_deadline: when it resigns unless a majority fetches; fetched_voters: those that did
    since that was set last.
    begin_quorum_epoch_deadline: when to send the next BeginQuorumEpoch.
    voter_change: the one in progress.
    volatile_voters: kraft.version 0 only: the static voters with the endpoints, versions and
    directories that UpdateRaftVoter told.
    """

    leader_id: int
    local: ReplicaKey
    epoch_start_offset: int
    check_quorum_deadline: int
    begin_quorum_epoch_deadline: int
    voters: dict[int, ReplicaProgress] = field(default_factory=dict)
    observers: dict[ReplicaKey, ReplicaProgress] = field(default_factory=dict)
    high_watermark: int | None = None
    fetched_voters: set[int] = field(default_factory=set)
    voter_change: VoterChange | None = None
    volatile_voters: VoterSet | None = None
    resign_requested: bool = False

    @property
    def deadline(self) -> int | None:
        """The first of the deadlines."""
        deadlines = [self.begin_quorum_epoch_deadline]
        if len(self.voters) > 1:
            deadlines.append(self.check_quorum_deadline)
        if self.voter_change:
            deadlines.append(self.voter_change.deadline)
        return min(deadlines)

    def progress(self, replica: ReplicaKey) -> ReplicaProgress | None:
        """Return the progress of a voter or an observer."""
        voter = self.voters.get(replica.id)
        if voter is not None and voter.key.covers(replica):
            return voter
        return self.observers.get(replica)

    def is_voter(self, replica: ReplicaKey) -> bool:
        """Return True if the replica's fetches count for the high watermark."""
        voter = self.voters.get(replica.id)
        return voter is not None and voter.key.covers(replica)

    def update_voters(self, voters: VoterSet) -> None:
        """Count these voters from now on; others become observers, the leader itself too."""
        before, self.voters = self.voters, {}
        known = {progress.key: progress for progress in before.values()} | self.observers
        for voter in voters:
            progress = next((p for key, p in known.items() if key.covers(voter.key)), None)
            if progress is None:
                progress = ReplicaProgress(key=voter.key)
            known.pop(progress.key, None)
            progress.key, progress.endpoints = voter.key, voter.endpoints
            self.voters[voter.key.id] = progress
        self.observers = known

    def update_local_end(self, flushed: int) -> None:
        """Note that the leader's own log is on its disk up to `flushed`."""
        progress = self.progress(self.local)
        if progress is None:
            progress = self.observers[self.local] = ReplicaProgress(key=self.local)
        progress.end_offset = max(flushed, progress.end_offset or 0)
        progress.has_acknowledged = True

    def record_fetch(self, replica: ReplicaKey, offset: int, leader_end: int, now: int) -> None:
        """Note that a replica fetched at `offset`: all before it is on its disk."""
        progress = self.progress(replica)
        if progress is None:
            progress = self.observers[replica] = ReplicaProgress(key=replica)
        progress.record_fetch(offset, leader_end, now)

    def advance_high_watermark(self) -> bool:
        """Advance the high watermark; return True if it rose (maybeUpdateHighWatermark).

        1. Take the offset that a majority of the latest, even uncommitted, voters has reached.
        2. It counts only if it is beyond the first record of this leader's epoch.
        3. It never falls.
        """
        # 1.
        ranked = sorted(self.voters.values(), key=lambda progress: progress.rank)
        reached = ranked[len(ranked) // 2].end_offset if ranked else None
        # 2. Records of older leaders are committed together with that record, never alone: even if
        # a majority has them, a leader that lacks them may still be elected (Raft 5.4.2).
        # 3. It would fall when the voter set grows by voters that are behind.
        floor = self.epoch_start_offset if self.high_watermark is None else self.high_watermark
        if reached is None or reached <= floor:
            return False
        self.high_watermark = reached
        return True

    def update_check_quorum(self, replica: ReplicaKey) -> bool:
        """Note that a replica fetched; return True once a majority of voters did (check quorum).

        Then the count begins anew (LeaderState.updateCheckQuorumForFollowingVoter).
        """
        if replica.id != self.local.id and self.is_voter(replica):
            self.fetched_voters.add(replica.id)
        others = len(self.voters) // 2 + (0 if self.is_voter(self.local) else 1)
        if len(self.fetched_voters) < others:
            return False
        self.fetched_voters.clear()
        return True

    def preferred_successors(self) -> tuple[ReplicaKey, ...]:
        """Return the other voters, the best log first."""
        ranked = sorted(self.voters.values(), key=lambda progress: progress.rank)
        return tuple(p.key for p in ranked if not p.key.covers(self.local))

    def silent_voters(self, now: int, interval: int) -> list[ReplicaKey]:
        """Return the voters that have not fetched within the interval."""
        return [
            progress.key
            for id, progress in self.voters.items()
            if id != self.local.id and now - progress.last_fetch >= interval
        ]

    def is_caught_up(self, observer: ReplicaKey, now: int) -> bool:
        """Return True if an observer once had the whole log and still fetches."""
        progress = self.observers.get(observer)
        return (
            progress is not None
            and progress.last_caught_up != UNKNOWN
            and progress.last_fetch > now - CAUGHT_UP_WITHIN_MS
        )

    def drop_inactive_observers(self, now: int) -> None:
        """Drop observers that went away (LeaderState.clearInactiveObservers)."""
        self.observers = {
            key: progress
            for key, progress in self.observers.items()
            if key == self.local or now - progress.last_fetch < OBSERVER_SESSION_MS
        }
