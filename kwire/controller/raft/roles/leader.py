"""Leader: counts how far the voters are, and with it what is committed."""

from __future__ import annotations

from dataclasses import dataclass, field

from kwire.controller.raft.progress import UNKNOWN, Progress
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles.role import Role
from kwire.controller.raft.voter_change import VoterChange
from kwire.controller.raft.voter_set import VoterSet

OBSERVER_SESSION_MS = 300_000
"""Observers that have not fetched for so long are forgotten (LeaderState)."""

CAUGHT_UP_WITHIN_MS = 3_600_000
"""An observer may become a voter if it fetched within this time (LeaderState)."""


@dataclass(slots=True, kw_only=True, eq=False)
class Leader(Role):
    """local: its own key. high_watermark: None until a record of this epoch is committed.

    quorum_deadline: when it resigns unless a majority fetches. announce_deadline: when to send the
    next BeginQuorumEpoch. change: of the voter set, in progress. volatile_voters: kraft.version 0
    only: the static voters with the endpoints, versions and directories that UpdateRaftVoter told.
    """

    leader_id: int
    local: ReplicaKey
    epoch_start_offset: int
    quorum_deadline: int
    announce_deadline: int
    voters: dict[int, Progress] = field(default_factory=dict)
    observers: dict[ReplicaKey, Progress] = field(default_factory=dict)
    high_watermark: int | None = None
    fetched: set[int] = field(default_factory=set)
    change: VoterChange | None = None
    volatile_voters: VoterSet | None = None
    resign_requested: bool = False

    @property
    def deadline(self) -> int | None:
        """The first of its duties."""
        deadlines = [self.announce_deadline]
        if len(self.voters) > 1:
            deadlines.append(self.quorum_deadline)
        if self.change:
            deadlines.append(self.change.deadline)
        return min(deadlines)

    def progress(self, replica: ReplicaKey) -> Progress | None:
        """What is known of a voter or an observer."""
        voter = self.voters.get(replica.id)
        if voter is not None and voter.key.covers(replica):
            return voter
        return self.observers.get(replica)

    def is_voter(self, replica: ReplicaKey) -> bool:
        """Whether its fetches count for the high watermark."""
        voter = self.voters.get(replica.id)
        return voter is not None and voter.key.covers(replica)

    def set_voters(self, voters: VoterSet) -> None:
        """Count these from now on; who is left out becomes an observer, the leader itself too."""
        before, self.voters = self.voters, {}
        known = {progress.key: progress for progress in before.values()} | self.observers
        for voter in voters:
            progress = next((p for key, p in known.items() if key.covers(voter.key)), None)
            if progress is None:
                progress = Progress(key=voter.key)
            known.pop(progress.key, None)
            progress.key, progress.endpoints = voter.key, voter.endpoints
            self.voters[voter.key.id] = progress
        self.observers = known

    def set_local_end(self, flushed: int) -> None:
        """The leader's own log is on its disk up to here."""
        progress = self.progress(self.local)
        if progress is None:
            progress = self.observers[self.local] = Progress(key=self.local)
        progress.end_offset = max(flushed, progress.end_offset or 0)
        progress.has_acknowledged = True

    def fetched_by(self, replica: ReplicaKey, offset: int, leader_end: int, now: int) -> None:
        """A replica fetched at `offset`, so all before it is on its disk."""
        progress = self.progress(replica)
        if progress is None:
            progress = self.observers[replica] = Progress(key=replica)
        progress.fetched(offset, leader_end, now)

    def advance(self) -> bool:
        """Whether the high watermark rose.

        1. Take the offset that a majority of the latest, even uncommitted, voters has reached.
        2. It counts only behind the epoch's first record: what older leaders wrote is committed
           together with that, never alone (Raft 5.4.2).
        3. It never falls, as it would where a voter set grows.
        """
        ranked = sorted(self.voters.values(), key=lambda progress: progress.rank)
        reached = ranked[len(ranked) // 2].end_offset if ranked else None
        floor = self.epoch_start_offset if self.high_watermark is None else self.high_watermark
        if reached is None or reached <= floor:
            return False
        self.high_watermark = reached
        return True

    def heard_from(self, replica: ReplicaKey) -> bool:
        """A voter fetched; whether that makes a majority since the last time it did."""
        if replica.id != self.local.id and self.is_voter(replica):
            self.fetched.add(replica.id)
        others = len(self.voters) // 2 + (0 if self.is_voter(self.local) else 1)
        if len(self.fetched) < others:
            return False
        self.fetched.clear()
        return True

    def successors(self) -> tuple[ReplicaKey, ...]:
        """The other voters, the best log first."""
        ranked = sorted(self.voters.values(), key=lambda progress: progress.rank)
        return tuple(p.key for p in ranked if not p.key.covers(self.local))

    def silent_voters(self, now: int, interval: int) -> list[ReplicaKey]:
        """Voters that have not fetched within the interval."""
        return [
            progress.key
            for id, progress in self.voters.items()
            if id != self.local.id and now - progress.last_fetch >= interval
        ]

    def is_caught_up(self, observer: ReplicaKey, now: int) -> bool:
        """Whether an observer once had the whole log and still fetches."""
        progress = self.observers.get(observer)
        return (
            progress is not None
            and progress.last_caught_up != UNKNOWN
            and progress.last_fetch > now - CAUGHT_UP_WITHIN_MS
        )

    def forget_observers(self, now: int) -> None:
        """Drop those that went away."""
        self.observers = {
            key: progress
            for key, progress in self.observers.items()
            if key == self.local or now - progress.last_fetch < OBSERVER_SESSION_MS
        }
