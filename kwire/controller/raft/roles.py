"""The roles of a replica, and what each knows (KIP-595, KIP-996; Java: EpochState and its
classes).

unattached   looks for the leader and its address; an observer stays so until it finds one
prospective  asks whether it could win an election, in its present epoch (KIP-996)
candidate    stands for election in an epoch of its own
follower     fetches from a leader, as a voter or as an observer
leader       appends, answers fetches, commits
resigned     was leader in this epoch and tells the others to elect another one
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import NO_ENDPOINTS, Endpoints
from kwire.controller.raft.epoch_election import EpochElection
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.voter_change import VoterChange
from kwire.controller.raft.voter_set import VoterSet
from kwire.logdir.names import OffsetAndEpoch


@dataclass(slots=True, kw_only=True, eq=False)
class Role:
    """A replica's part in an epoch (Java: EpochState)."""

    epoch: int
    leader_id: int | None = None
    leader_endpoints: Endpoints = NO_ENDPOINTS
    voted_key: ReplicaKey | None = None

    @property
    def name(self) -> str:
        """The role's name in small letters."""
        return type(self).__name__.lower()

    @property
    def deadline(self) -> int | None:
        """The time of the role's next work, in milliseconds as the `now` of a step; None: never."""
        return None

    @property
    def election(self) -> ElectionState:
        """The content of quorum-state while this role lasts."""
        return ElectionState(epoch=self.epoch, leader_id=self.leader_id, voted_key=self.voted_key)

    def can_grant_vote(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Return True if a candidate of this epoch gets the vote (EpochState.canGrantVote).

        is_up_to_date: the candidate's log ends no earlier than this replica's.
        """
        return False


@dataclass(slots=True, kw_only=True, eq=False)
class Elector(Role):
    """A role that may vote for others: unattached, prospective."""

    def can_grant_vote(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Decide by vote, leader and log (QuorumState.unattachedOrProspectiveCanGrantVote).

        1. A pre-vote is granted to every log that is up to date.
        2. Whoever has this epoch's vote gets it again, whatever its log.
        3. Nobody gets it while the epoch has a leader.
        4. Else the log decides.
        """
        # 1.
        if pre_vote:
            return is_up_to_date
        # 2. The answer to its first request may have been lost.
        if self.voted_key is not None:
            return self.voted_key.covers(candidate)
        # 3., 4.
        return self.leader_id is None and is_up_to_date


@dataclass(slots=True, kw_only=True, eq=False)
class Unattached(Elector):
    """A replica that looks for the leader: it fetches from bootstrap servers (Java:
    UnattachedState).

    election_deadline: when a voter becomes prospective.
    """

    election_deadline: int

    @property
    def deadline(self) -> int | None:
        """The end of the election timeout."""
        return self.election_deadline


@dataclass(slots=True, kw_only=True, eq=False)
class Prospective(Elector):
    """A replica that asks for pre-votes, so that a lone one does not disturb a quorum (Java:
    ProspectiveState). Epoch, leader and vote stay as they were.

    election_deadline: when it gives up asking.
    """

    epoch_election: EpochElection
    election_deadline: int

    @property
    def deadline(self) -> int | None:
        """The end of the election."""
        return self.election_deadline


@dataclass(slots=True, kw_only=True, eq=False)
class Candidate(Role):
    """A replica that stands for election: it has voted for itself (Java: CandidateState).

    election_deadline: when it becomes prospective again, whether the election is lost or not.
    """

    epoch_election: EpochElection
    election_deadline: int

    @property
    def deadline(self) -> int | None:
        """The end of the election."""
        return self.election_deadline


@dataclass(slots=True, kw_only=True)
class FetchedSnapshot:
    """A snapshot on its way from the leader, `position` bytes of it here."""

    id: OffsetAndEpoch
    position: int = 0
    is_complete: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Follower(Role):
    """A replica that knows its leader's address (Java: FollowerState).

    fetch_deadline: without a successful fetch until then the leader is given up.
    update_voter_deadline: when to check again that the leader knows this replica as it is
    (UpdateRaftVoter, auto join).
    has_updated_leader: kraft.version 0 only: this leader has had UpdateRaftVoter.
    has_high_watermark: this leader has told one.
    """

    leader_id: int
    fetch_deadline: int
    update_voter_deadline: int
    has_fetched_from_leader: bool = False
    has_updated_leader: bool = False
    has_high_watermark: bool = False
    snapshot_download: FetchedSnapshot | None = None

    @property
    def deadline(self) -> int | None:
        """The first of the two deadlines."""
        return min(self.fetch_deadline, self.update_voter_deadline)

    def can_grant_vote(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Grant only a pre-vote, and only until the leader has answered a fetch (KIP-996)."""
        return pre_vote and is_up_to_date and not self.has_fetched_from_leader


UNKNOWN = -1

OBSERVER_SESSION_MS = 300_000
"""Observers that have not fetched for so long are forgotten (LeaderState)."""

CAUGHT_UP_WITHIN_MS = 3_600_000
"""An observer may become a voter if it fetched within this time (LeaderState.isReplicaCaughtUp)."""


@dataclass(slots=True, kw_only=True)
class ReplicaProgress:
    """A voter or an observer, as its leader knows it (Java: ReplicaState).

    end_offset: None until it fetches. Times are milliseconds, or -1. last_caught_up: the last time
    at which it had everything that the leader had then. told_high_watermark: in the last answer to
    it; None before the first.
    """

    key: ReplicaKey
    endpoints: Endpoints = NO_ENDPOINTS
    end_offset: int | None = None
    last_fetch: int = UNKNOWN
    last_caught_up: int = UNKNOWN
    leader_end_at_last_fetch: int = UNKNOWN
    told_high_watermark: int | None = None

    def record_fetch(self, offset: int, leader_end: int, now: int) -> None:
        """Note a fetch at `offset`: everything before it is on the replica's disk."""
        if offset >= leader_end:
            self.last_caught_up = max(self.last_caught_up, now)
        # Under steady load no fetch reaches the present end; one that reaches the end of the last
        # fetch shows that the replica was caught up then (ReplicaState.updateFollowerState).
        elif 0 < self.leader_end_at_last_fetch <= offset:
            self.last_caught_up = max(self.last_caught_up, self.last_fetch)
        self.leader_end_at_last_fetch = leader_end
        self.last_fetch = max(self.last_fetch, now)
        self.end_offset = offset

    @property
    def rank(self) -> tuple[int, int]:
        """The key by which the best log sorts first, the lower id first among equals."""
        return (-(UNKNOWN if self.end_offset is None else self.end_offset), self.key.id)


@dataclass(slots=True, kw_only=True, eq=False)
class Leader(Role):
    """The replica that counts how far the voters are, and commits (Java: LeaderState).

    local: its own key. high_watermark: None until a record of this epoch is committed.
    check_quorum_deadline: when it resigns unless a majority fetches; fetched_voters: those that did
    since that was set last.
    begin_quorum_epoch_deadline: when to send the next BeginQuorumEpoch.
    voter_change: the one in progress. resign_reason: why it is to resign; None if it is not.
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
    resign_reason: str | None = None

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

    def record_fetch(
        self, replica: ReplicaKey, offset: int, leader_end: int, now: int
    ) -> int | None:
        """Note that a replica fetched at `offset`: all before it is on its disk.

        Return the offset that it had before.
        """
        progress = self.progress(replica)
        if progress is None:
            progress = self.observers[replica] = ReplicaProgress(key=replica)
        before = progress.end_offset
        progress.record_fetch(offset, leader_end, now)
        return before

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


@dataclass(slots=True, kw_only=True, eq=False)
class Resigned(Role):
    """A former leader that tells the voters so (Java: ResignedState).

    unacknowledged: voters still to be told. preferred_successors: the best log first; none after a
    restart, when the epoch may be long over.
    """

    leader_id: int
    election_deadline: int
    unacknowledged: set[int]
    preferred_successors: tuple[ReplicaKey, ...] = ()

    @property
    def deadline(self) -> int | None:
        """The time at which it is unattached in the next epoch."""
        return self.election_deadline

    def can_grant_vote(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Grant only a pre-vote: this epoch has had its leader."""
        return pre_vote and is_up_to_date
