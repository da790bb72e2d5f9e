"""From role to role (QuorumState): which may follow which, and what is kept.

unattached  -> prospective   election timeout, voters only
follower    -> prospective   fetch timeout, voters only
candidate   -> prospective   election timeout
prospective -> candidate     a majority granted pre-votes, or a voter does not know them
prospective -> follower      election lost, where the leader was known; else unattached
candidate   -> leader        a majority granted votes
leader      -> resigned      asked to, no majority fetches, or removed from the voters
resigned    -> unattached    election timeout, in the next epoch
any         -> unattached    a greater epoch without a known leader
any         -> follower      a greater epoch with a leader, or the leader of this one
"""

from __future__ import annotations

from kwire.controller.raft import leader_records
from kwire.controller.raft.ballot import Ballot
from kwire.controller.raft.effects import ResignLeader
from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import Endpoints
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Unattached,
)
from kwire.error_codes import ErrorCode


def start(replica: Replica, election: ElectionState, now: int) -> None:
    """The first role, from what quorum-state and the log remember (QuorumState.initialize).

    1. The log has a greater epoch than quorum-state: unattached in it. The file was lost.
    2. This replica led: resigned, for it may have told nobody yet what it wrote.
    3. This replica voted for itself: candidate, in the same epoch, unless its state machine has to
       replay first.
    4. The leader is a known voter: follower; its address is not known: unattached.
    5. Else unattached, with its vote.
    A replica that is the only voter does not wait for a timeout, only for its state machine.
    """
    config, log_epoch = replica.config, replica.tail.end.epoch
    if election.epoch < log_epoch:
        election = ElectionState(epoch=log_epoch)
    if election.leader_id == config.node_id:
        _start_resigned(replica, election.epoch, now)
    elif _voted_for_itself(replica, election) and not replica.is_replaying:
        _stand(replica, election.epoch, now)
    else:
        endpoints = replica.history.voters.endpoints(election.leader_id)
        deadline = now + replica.random_election_timeout()
        _follow_or_detach(replica, election, endpoints, deadline, now)
    _lead_alone(replica, now)


def replaying(replica: Replica, is_replaying: bool, now: int) -> None:
    """Note that the state machine begins to replay, or has caught up.

    Who has caught up behind its time-out waits for up to another one, at random: replicas that were
    started together catch up together, and would split the votes.
    """
    replica.is_replaying = is_replaying
    if is_replaying:
        return
    role, later = replica.role, now + replica.below(max(replica.config.election_timeout_ms, 1))
    if isinstance(role, Unattached) and role.election_deadline <= now:
        role.election_deadline = later
    elif isinstance(role, Follower) and role.fetch_deadline <= now:
        role.fetch_deadline = later
    _lead_alone(replica, now)


def _voted_for_itself(replica: Replica, election: ElectionState) -> bool:
    return election.voted_key is not None and election.voted_key.covers(replica.config.key)


def _lead_alone(replica: Replica, now: int) -> None:
    """Stand at once where nobody else votes."""
    is_alone = replica.history.voters.contains_only(replica.config.key)
    if not is_alone or replica.leader or not replica.stands:
        return
    if isinstance(replica.role, Candidate):
        _lead_if_elected(replica, now)
    else:
        to_prospective(replica, now)


def _start_resigned(replica: Replica, epoch: int, now: int) -> None:
    config = replica.config
    replica.become(
        Resigned(
            epoch=epoch,
            leader_id=config.node_id,
            leader_endpoints=config.endpoints,
            election_deadline=now + replica.random_election_timeout(),
            unacknowledged=set(replica.history.voters.ids - {config.node_id}),
        )
    )


def _follow_or_detach(
    replica: Replica, election: ElectionState, endpoints: Endpoints, deadline: int, now: int
) -> None:
    """Follower where the leader's address is known, else unattached; epoch and vote are kept."""
    if election.leader_id is not None and endpoints.address(replica.config.listener):
        _follow(replica, election, election.leader_id, endpoints, now)
    else:
        _detach(replica, election, deadline)


def to_unattached(replica: Replica, epoch: int, leader_id: int | None, now: int) -> None:
    """A greater epoch, of whose leader no more is known than perhaps the id."""
    _detach(replica, ElectionState(epoch=epoch, leader_id=leader_id), _patience(replica, now))


def _patience(replica: Replica, now: int) -> int:
    """When an unattached replica stands.

    A running election timeout goes on, lest candidates with short logs keep one with the longest
    from standing. Who was refused by a majority waits anew.
    """
    role = replica.role
    is_refused = isinstance(role, Prospective) and role.ballot.is_rejected
    if isinstance(role, Candidate | Unattached | Prospective | Resigned) and not is_refused:
        return role.election_deadline
    return now + replica.random_election_timeout()


def _detach(replica: Replica, election: ElectionState, deadline: int) -> None:
    _leave(replica)
    replica.become(
        Unattached(
            epoch=election.epoch,
            leader_id=election.leader_id,
            voted_key=election.voted_key,
            election_deadline=deadline,
        )
    )
    replica.connections.reset_all()


def vote(replica: Replica, candidate: ReplicaKey, now: int) -> None:
    """Give this epoch's vote away; the election timeout begins anew."""
    role = replica.role
    if role.voted_key is not None or not isinstance(role, Unattached | Prospective):
        return
    role.voted_key = candidate
    role.election_deadline = now + replica.random_election_timeout()
    replica.become(role)


def to_follower(
    replica: Replica, epoch: int, leader_id: int, endpoints: Endpoints, now: int
) -> None:
    """A leader is known. The vote is kept within an epoch."""
    voted = replica.role.voted_key if epoch == replica.epoch else None
    election = ElectionState(epoch=epoch, leader_id=leader_id, voted_key=voted)
    _follow(replica, election, leader_id, endpoints, now)


def _follow(
    replica: Replica, election: ElectionState, leader_id: int, endpoints: Endpoints, now: int
) -> None:
    timeout = replica.config.fetch_timeout_ms
    _leave(replica)
    replica.become(
        Follower(
            epoch=election.epoch,
            leader_id=leader_id,
            leader_endpoints=endpoints,
            voted_key=election.voted_key,
            fetch_deadline=now + timeout,
            voter_deadline=now + timeout,
        )
    )
    replica.connections.reset_all()


def to_prospective(replica: Replica, now: int) -> None:
    """Ask whether an election would be won. Nothing changes that others could see."""
    role = replica.role
    prospective = Prospective(
        epoch=role.epoch,
        leader_id=role.leader_id,
        leader_endpoints=role.leader_endpoints,
        voted_key=role.voted_key,
        ballot=Ballot(replica.history.voters.ids, replica.config.node_id),
        election_deadline=now + replica.random_election_timeout(),
    )
    replica.become(prospective, durable=False)
    replica.connections.reset_all()
    if prospective.ballot.is_granted:
        to_candidate(replica, now)


def give_up_prospects(replica: Replica, now: int) -> None:
    """The pre-votes were refused or did not come: back to the leader, or to none."""
    role = replica.role
    deadline = _patience(replica, now)
    _follow_or_detach(replica, role.election, role.leader_endpoints, deadline, now)


def to_candidate(replica: Replica, now: int) -> None:
    """Stand for election in the next epoch."""
    _stand(replica, replica.epoch + 1, now)
    _lead_if_elected(replica, now)


def _stand(replica: Replica, epoch: int, now: int) -> None:
    replica.become(
        Candidate(
            epoch=epoch,
            voted_key=replica.config.key,
            ballot=Ballot(replica.history.voters.ids, replica.config.node_id),
            election_deadline=now + replica.random_election_timeout(),
        )
    )
    replica.connections.reset_all()


def _lead_if_elected(replica: Replica, now: int) -> None:
    if isinstance(replica.role, Candidate) and replica.role.ballot.is_granted:
        to_leader(replica, replica.role, now)


def to_leader(replica: Replica, candidate: Candidate, now: int) -> None:
    """Elected. The epoch's first batch goes into the log before anything else does.

    No high watermark is taken over: an older one may be lower than what the last leader told.
    """
    config, history = replica.config, replica.history
    leader = Leader(
        epoch=candidate.epoch,
        leader_id=config.node_id,
        leader_endpoints=config.endpoints,
        local=config.key,
        epoch_start_offset=replica.tail.end.offset,
        quorum_deadline=now + config.check_quorum_timeout_ms,
        announce_deadline=now,
    )
    leader.set_voters(history.voters)
    if not history.kraft_version:
        leader.volatile_voters = history.voters.with_updated(config.voter, any_directory=True)
    replica.become(leader)
    replica.connections.reset_all()
    leader_records.append_start_of_epoch(replica, leader, candidate.ballot.granting, now)


def to_resigned(replica: Replica, leader: Leader, now: int) -> None:
    """Hand over: the voters are told, the best log first. quorum-state stays as it is."""
    _leave(replica)
    unacknowledged = set(replica.history.voters.ids - {replica.config.node_id})
    replica.become(
        Resigned(
            epoch=leader.epoch,
            leader_id=leader.leader_id,
            leader_endpoints=leader.leader_endpoints,
            election_deadline=now + replica.random_election_timeout(),
            unacknowledged=unacknowledged,
            preferred=leader.successors(),
        ),
        durable=False,
    )
    replica.connections.reset_all()


def _leave(replica: Replica) -> None:
    """Whoever waits for a leader that goes is told so."""
    leader = replica.leader
    if leader is None:
        return
    replica.emit(ResignLeader(epoch=leader.epoch))
    if leader.change:
        replica.emit(*leader.change.answer(ErrorCode.NOT_LEADER_OR_FOLLOWER))
