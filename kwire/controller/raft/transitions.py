"""The changes of a replica's role, as data, and the functions that make them (KIP-853 "Leader
election"; Java: QuorumState).

`TRANSITIONS` has every change that may happen. Each is made by `_become`, which raises
IllegalTransition for any other; docs/contributing/architecture.md has its drawing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kwire.controller.raft import leader_records
from kwire.controller.raft.effects import ResignLeader
from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import Endpoints
from kwire.controller.raft.epoch_election import EpochElection
from kwire.controller.raft.quorum_events import (
    ElectionLost,
    ElectionWon,
    LeaderResigned,
    QuorumStateOutdated,
    RoleChanged,
)
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Role,
    Unattached,
)


class IllegalTransition(RuntimeError):
    """The code asks for a change of role that the table of transitions does not have.

    A fault of kwire, never of a peer (Java: IllegalStateException of QuorumState).
    """


class Reason(Enum):
    """The events that change a role."""

    STARTED = "start"
    ONLY_VOTER = "no other voter"
    ELECTION_TIMEOUT = "election timeout"
    FETCH_TIMEOUT = "fetch timeout"
    PRE_VOTES_GRANTED = "majority of pre-votes"
    PRE_VOTE_UNSUPPORTED = "a voter without pre-votes"
    PRE_VOTE_LOST = "pre-vote lost or timed out"
    VOTES_GRANTED = "majority of votes"
    VOTE_GIVEN = "vote for another replica"
    RESIGNED = "resignation"
    GREATER_EPOCH = "greater epoch, leader not known"
    LEADER_DISCOVERED = "leader discovered"


class EpochChange(Enum):
    """The epoch after a transition, against the one before."""

    SAME = "same"
    NEXT = "next"
    GREATER = "greater"
    SAME_OR_GREATER = "same or greater"
    FIRST = "of quorum-state or the log"

    def allows(self, before: int, after: int) -> bool:
        """Return True if the epoch may change so."""
        match self:
            case EpochChange.SAME:
                return after == before
            case EpochChange.NEXT:
                return after == before + 1
            case EpochChange.GREATER:
                return after > before
            case EpochChange.SAME_OR_GREATER:
                return after >= before
            case EpochChange.FIRST:
                return True


class Eligible(Enum):
    """The replicas that may make a transition.

    It is not checked when a transition is made: a replica that was removed while it was down is
    resigned or candidate after its restart, as quorum-state says, in Kafka as here.
    """

    ALL = "voters and observers"
    VOTERS = "voters"


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table. source: None for the first role of a replica.

    is_durable: quorum-state is written before any peer learns of the new role. The others keep
    epoch, leader and vote, or are the same after a restart (QuorumState.memoryTransitionTo).
    """

    source: type[Role] | None
    target: type[Role]
    reason: Reason
    epoch: EpochChange
    eligible: Eligible
    is_durable: bool = True


_SAME, _NEXT, _GREATER = EpochChange.SAME, EpochChange.NEXT, EpochChange.GREATER
_SAME_OR_GREATER, _FIRST = EpochChange.SAME_OR_GREATER, EpochChange.FIRST
_ALL, _VOTERS = Eligible.ALL, Eligible.VOTERS

# fmt: off
TRANSITIONS = (
    # The first role, from quorum-state: QuorumState.initialize.
    Transition(None, Unattached, Reason.STARTED, _FIRST, _ALL),
    Transition(None, Follower, Reason.STARTED, _FIRST, _ALL),
    Transition(None, Candidate, Reason.STARTED, _FIRST, _VOTERS),
    Transition(None, Resigned, Reason.STARTED, _FIRST, _VOTERS),

    # An only voter does not wait: KafkaRaftClient.initialize.
    Transition(Unattached, Prospective, Reason.ONLY_VOTER, _SAME, _VOTERS, is_durable=False),
    Transition(Follower, Prospective, Reason.ONLY_VOTER, _SAME, _VOTERS, is_durable=False),
    Transition(Resigned, Prospective, Reason.ONLY_VOTER, _SAME, _VOTERS, is_durable=False),

    # Towards an election: transitionToProspective, transitionToCandidate, transitionToLeader.
    Transition(Unattached, Prospective, Reason.ELECTION_TIMEOUT, _SAME, _VOTERS, is_durable=False),
    Transition(Follower, Prospective, Reason.FETCH_TIMEOUT, _SAME, _VOTERS, is_durable=False),
    Transition(Candidate, Prospective, Reason.ELECTION_TIMEOUT, _SAME, _VOTERS, is_durable=False),
    Transition(Prospective, Candidate, Reason.PRE_VOTES_GRANTED, _NEXT, _VOTERS),
    Transition(Prospective, Candidate, Reason.PRE_VOTE_UNSUPPORTED, _NEXT, _VOTERS),
    Transition(Candidate, Leader, Reason.VOTES_GRANTED, _SAME, _VOTERS),

    # Back from a pre-vote: to the last known leader, or to none.
    Transition(Prospective, Follower, Reason.PRE_VOTE_LOST, _SAME, _VOTERS),
    Transition(Prospective, Unattached, Reason.PRE_VOTE_LOST, _SAME, _VOTERS),

    # The end of a leadership: transitionToResigned, KafkaRaftClient.pollResigned.
    Transition(Leader, Resigned, Reason.RESIGNED, _SAME, _VOTERS, is_durable=False),
    Transition(Resigned, Unattached, Reason.ELECTION_TIMEOUT, _NEXT, _VOTERS),

    # A vote: unattachedAddVotedState, prospectiveAddVotedState.
    Transition(Unattached, Unattached, Reason.VOTE_GIVEN, _SAME, _ALL),
    Transition(Prospective, Prospective, Reason.VOTE_GIVEN, _SAME, _VOTERS),

    # A later epoch whose leader, or its address, is not known: transitionToUnattached.
    Transition(Unattached, Unattached, Reason.GREATER_EPOCH, _GREATER, _ALL),
    Transition(Follower, Unattached, Reason.GREATER_EPOCH, _GREATER, _ALL),
    Transition(Prospective, Unattached, Reason.GREATER_EPOCH, _GREATER, _VOTERS),
    Transition(Candidate, Unattached, Reason.GREATER_EPOCH, _GREATER, _VOTERS),
    Transition(Leader, Unattached, Reason.GREATER_EPOCH, _GREATER, _VOTERS),
    Transition(Resigned, Unattached, Reason.GREATER_EPOCH, _GREATER, _VOTERS),

    # A leader: transitionToFollower. Of the same epoch, if it was not known, or more of its
    # endpoints are known now. An epoch has one leader, so a leader or resigned one meets another
    # only in a later epoch.
    Transition(Unattached, Follower, Reason.LEADER_DISCOVERED, _SAME_OR_GREATER, _ALL),
    Transition(Follower, Follower, Reason.LEADER_DISCOVERED, _SAME_OR_GREATER, _ALL),
    Transition(Prospective, Follower, Reason.LEADER_DISCOVERED, _SAME_OR_GREATER, _VOTERS),
    Transition(Candidate, Follower, Reason.LEADER_DISCOVERED, _SAME_OR_GREATER, _VOTERS),
    Transition(Leader, Follower, Reason.LEADER_DISCOVERED, _GREATER, _VOTERS),
    Transition(Resigned, Follower, Reason.LEADER_DISCOVERED, _GREATER, _VOTERS),
)
# fmt: on

_BY_KEY = {(row.source, row.target, row.reason): row for row in TRANSITIONS}


def _become(replica: Replica, role: Role, reason: Reason) -> None:
    """Make a transition of the table; raise IllegalTransition for any other."""
    before = replica.role
    source = None if reason is Reason.STARTED else type(before)
    transition = _BY_KEY.get((source, type(role), reason))
    if transition is None or not transition.epoch.allows(before.epoch, role.epoch):
        raise IllegalTransition(
            f"{before.name} in epoch {before.epoch} cannot become {role.name} in epoch"
            f" {role.epoch}: {reason.value}"
        )
    _perform(replica, transition, role)


def _perform(replica: Replica, transition: Transition, role: Role) -> None:
    is_new = role is not replica.role
    if is_new:
        _leave_leader(replica)
    before = replica.role
    replica.become(role, durable=transition.is_durable)
    # Answers to the requests of another role or epoch have no meaning in the new one.
    if is_new:
        replica.request_manager.reset_all()
        replica.emit(
            RoleChanged(
                role=role.name,
                before="none" if transition.source is None else before.name,
                epoch=role.epoch,
                leader_id=role.leader_id,
                reason=transition.reason.value,
            )
        )


def _leave_leader(replica: Replica) -> None:
    """If this replica leads, end that: fail the pending voter change, tell the state machine."""
    leader = replica.leader
    if leader is None:
        return
    replica.emit(ResignLeader(epoch=leader.epoch))
    if leader.voter_change:
        replica.emit(*leader.voter_change.resign())


def start(replica: Replica, election: ElectionState, now: int) -> None:
    """Take the first role, from quorum-state and the log (QuorumState.initialize).

    1. The log has a greater epoch than quorum-state: unattached in it. The file was lost.
    2. This replica led: resigned, for it may have told nobody yet what it wrote.
    3. This replica voted for itself: candidate, in the same epoch, unless its state machine has to
       replay first.
    4. The leader is a known voter: follower; its address is not known: unattached.
    5. Else unattached, with its vote.
    6. A replica that is the only voter does not wait for a timeout, only for its state machine.
    """
    config, log_epoch = replica.config, replica.log.end.epoch
    # 1.
    if election.epoch < log_epoch:
        replica.emit(QuorumStateOutdated(epoch=election.epoch, log_epoch=log_epoch))
        election = ElectionState(epoch=log_epoch)
    # 2. As leader of the same epoch it could write other records at offsets that it wrote, but did
    # not flush, before: offset and epoch would not name one record any more.
    if election.leader_id == config.node_id:
        resigned = Resigned(
            epoch=election.epoch,
            leader_id=config.node_id,
            leader_endpoints=config.endpoints,
            election_deadline=now + replica.random_election_timeout(),
            unacknowledged=set(replica.control_records.voters.ids - {config.node_id}),
        )
        _become(replica, resigned, Reason.STARTED)
    # 3.
    elif _voted_for_itself(replica, election) and not replica.is_replaying:
        _become(replica, _new_candidate(replica, election.epoch, now), Reason.STARTED)
    # 4., 5.
    else:
        endpoints = replica.control_records.voters.endpoints(election.leader_id)
        deadline = now + replica.random_election_timeout()
        _follow_or_detach(replica, election, endpoints, deadline, Reason.STARTED, now)
    # 6.
    _lead_if_only_voter(replica, now)


def _voted_for_itself(replica: Replica, election: ElectionState) -> bool:
    return election.voted_key is not None and election.voted_key.covers(replica.config.key)


def set_replaying(replica: Replica, is_replaying: bool, now: int) -> None:
    """Note that the state machine begins to replay, or has caught up.

    A replica that has caught up after its timeout waits for up to another one, at random:
    replicas that were started together catch up together, and would split the votes.
    """
    replica.is_replaying = is_replaying
    if is_replaying:
        return
    timeout = max(replica.config.election_timeout_ms, 1)
    role, later = replica.role, now + replica.random_below(timeout)
    if isinstance(role, Unattached) and role.election_deadline <= now:
        role.election_deadline = later
    elif isinstance(role, Follower) and role.fetch_deadline <= now:
        role.fetch_deadline = later
    _lead_if_only_voter(replica, now)


def _lead_if_only_voter(replica: Replica, now: int) -> None:
    """Stand for election at once if nobody else votes."""
    is_alone = replica.control_records.voters.contains_only(replica.config.key)
    if not is_alone or replica.leader or not replica.is_ready_for_election:
        return
    if isinstance(replica.role, Candidate):
        _lead_if_elected(replica, now)
    else:
        to_prospective(replica, Reason.ONLY_VOTER, now)


def _follow_or_detach(
    replica: Replica,
    election: ElectionState,
    endpoints: Endpoints,
    deadline: int,
    reason: Reason,
    now: int,
) -> None:
    """Become follower if the leader's address is known, else unattached, with epoch and vote."""
    if election.leader_id is not None and endpoints.address(replica.config.listener):
        _follow(replica, election, election.leader_id, endpoints, reason, now)
    else:
        _detach(replica, election, deadline, reason)


def to_unattached(
    replica: Replica,
    epoch: int,
    leader_id: int | None,
    now: int,
    reason: Reason = Reason.GREATER_EPOCH,
) -> None:
    """Enter a greater epoch, of whose leader no more is known than perhaps the id."""
    election = ElectionState(epoch=epoch, leader_id=leader_id)
    _detach(replica, election, _remaining_election_timeout(replica, now), reason)


def _remaining_election_timeout(replica: Replica, now: int) -> int:
    """Return when an unattached replica stands for election (transitionToUnattached).

    A running election timeout goes on, lest candidates with short logs keep one with the longest
    from standing. A prospective that a majority refused waits anew.
    """
    role = replica.role
    is_refused = isinstance(role, Prospective) and role.epoch_election.is_vote_rejected
    if isinstance(role, Candidate | Unattached | Prospective | Resigned) and not is_refused:
        return role.election_deadline
    return now + replica.random_election_timeout()


def _detach(replica: Replica, election: ElectionState, deadline: int, reason: Reason) -> None:
    unattached = Unattached(
        epoch=election.epoch,
        leader_id=election.leader_id,
        voted_key=election.voted_key,
        election_deadline=deadline,
    )
    _become(replica, unattached, reason)


def record_vote(replica: Replica, candidate: ReplicaKey, now: int) -> None:
    """Give this epoch's vote to a candidate.

    The election timeout begins anew: the candidate has as good a chance as this replica.
    """
    role = replica.role
    if role.voted_key is not None or not isinstance(role, Unattached | Prospective):
        return
    role.voted_key = candidate
    role.election_deadline = now + replica.random_election_timeout()
    _become(replica, role, Reason.VOTE_GIVEN)


def to_follower(
    replica: Replica, epoch: int, leader_id: int, endpoints: Endpoints, now: int
) -> None:
    """Follow a leader. The vote is kept within an epoch, lest this replica vote there twice."""
    voted = replica.role.voted_key if epoch == replica.epoch else None
    election = ElectionState(epoch=epoch, leader_id=leader_id, voted_key=voted)
    _follow(replica, election, leader_id, endpoints, Reason.LEADER_DISCOVERED, now)


def _follow(
    replica: Replica,
    election: ElectionState,
    leader_id: int,
    endpoints: Endpoints,
    reason: Reason,
    now: int,
) -> None:
    timeout = replica.config.fetch_timeout_ms
    follower = Follower(
        epoch=election.epoch,
        leader_id=leader_id,
        leader_endpoints=endpoints,
        voted_key=election.voted_key,
        fetch_deadline=now + timeout,
        update_voter_deadline=now + timeout,
    )
    _become(replica, follower, reason)


def to_prospective(replica: Replica, reason: Reason, now: int) -> None:
    """Ask whether an election would be won (KIP-996). Nothing changes that others could see."""
    role = replica.role
    prospective = Prospective(
        epoch=role.epoch,
        leader_id=role.leader_id,
        leader_endpoints=role.leader_endpoints,
        voted_key=role.voted_key,
        epoch_election=_new_election(replica),
        election_deadline=now + replica.random_election_timeout(),
    )
    _become(replica, prospective, reason)
    if prospective.epoch_election.is_vote_granted:
        to_candidate(replica, Reason.PRE_VOTES_GRANTED, now)


def lose_pre_vote(replica: Replica, now: int) -> None:
    """Go back to the leader, or to none: the pre-votes were refused or did not come."""
    role = replica.role
    if isinstance(role, Prospective):
        report_lost_election(replica, role)
    deadline = _remaining_election_timeout(replica, now)
    reason = Reason.PRE_VOTE_LOST
    _follow_or_detach(replica, role.election, role.leader_endpoints, deadline, reason, now)


def report_lost_election(replica: Replica, role: Prospective | Candidate) -> None:
    """Tell that no majority can grant any more, or that its answers did not come in time."""
    election = role.epoch_election
    is_rejected = election.is_vote_rejected
    event = ElectionLost(
        epoch=role.epoch,
        pre_vote=isinstance(role, Prospective),
        reason="too many voters rejected" if is_rejected else "no majority answered in time",
        rejecting_voters=tuple(sorted(election.rejecting_voters)),
        silent_voters=tuple(sorted(election.unrecorded_voters)),
    )
    replica.emit(event)


def to_candidate(replica: Replica, reason: Reason, now: int) -> None:
    """Stand for election in the next epoch."""
    _become(replica, _new_candidate(replica, replica.epoch + 1, now), reason)
    _lead_if_elected(replica, now)


def _new_candidate(replica: Replica, epoch: int, now: int) -> Candidate:
    return Candidate(
        epoch=epoch,
        voted_key=replica.config.key,
        epoch_election=_new_election(replica),
        election_deadline=now + replica.random_election_timeout(),
    )


def _new_election(replica: Replica) -> EpochElection:
    return EpochElection(replica.control_records.voters.ids, replica.config.node_id)


def _lead_if_elected(replica: Replica, now: int) -> None:
    if isinstance(replica.role, Candidate) and replica.role.epoch_election.is_vote_granted:
        to_leader(replica, replica.role, now)


def to_leader(replica: Replica, candidate: Candidate, now: int) -> None:
    """Lead the epoch. Its first batch goes into the log before anything else does.

    No high watermark is taken over: an older one may be lower than what the last leader told.
    """
    config, control_records = replica.config, replica.control_records
    leader = Leader(
        epoch=candidate.epoch,
        leader_id=config.node_id,
        leader_endpoints=config.endpoints,
        local=config.key,
        epoch_start_offset=replica.log.end.offset,
        check_quorum_deadline=now + config.check_quorum_timeout_ms,
        begin_quorum_epoch_deadline=now,
    )
    leader.update_voters(control_records.voters)
    if not control_records.kraft_version:
        leader.volatile_voters = control_records.voters.with_updated(
            config.voter, any_directory=True
        )
    granting = candidate.epoch_election.granting_voters
    replica.emit(ElectionWon(epoch=leader.epoch, granting_voters=tuple(sorted(granting))))
    _become(replica, leader, Reason.VOTES_GRANTED)
    leader_records.append_start_of_epoch(replica, leader, granting, now)


def to_resigned(replica: Replica, leader: Leader, reason: str, now: int) -> None:
    """Hand over: the voters are told, the best log first. quorum-state stays as it is."""
    event = LeaderResigned(
        epoch=leader.epoch,
        reason=reason,
        voters=tuple(sorted(leader.voters)),
        fetched_voters=tuple(sorted(leader.fetched_voters)),
    )
    replica.emit(event)
    resigned = Resigned(
        epoch=leader.epoch,
        leader_id=leader.leader_id,
        leader_endpoints=leader.leader_endpoints,
        election_deadline=now + replica.random_election_timeout(),
        unacknowledged=set(replica.control_records.voters.ids - {replica.config.node_id}),
        preferred_successors=leader.preferred_successors(),
    )
    _become(replica, resigned, Reason.RESIGNED)
