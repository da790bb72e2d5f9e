"""What each role does of its own accord, as time passes (KafkaRaftClient.poll…)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from kwire.codec.declaration import Request
from kwire.controller.raft import transitions
from kwire.controller.raft.endpoints import Node
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
from kwire.controller.raft.rpc import (
    add_raft_voter,
    begin_quorum_epoch,
    end_quorum_epoch,
    fetch,
    fetch_snapshot,
    remove_raft_voter,
    update_raft_voter,
    vote,
)

_ROLES_A_STEP = 8
"""More than any chain of transitions; it ends only those that timeouts of 0 would make endless."""


def attend(replica: Replica, now: int) -> None:
    """Do what is due, in whatever role that leads to."""
    role = None
    for _ in range(_ROLES_A_STEP):
        if role is replica.role:
            break
        role = replica.role
        match role:
            case Unattached():
                _unattached(replica, role, now)
            case Prospective():
                _prospective(replica, role, now)
            case Candidate():
                _candidate(replica, role, now)
            case Follower():
                _follower(replica, role, now)
            case Leader():
                _leader(replica, role, now)
            case Resigned():
                _resigned(replica, role, now)


def _unattached(replica: Replica, role: Unattached, now: int) -> None:
    if replica.stands and now >= role.election_deadline:
        transitions.to_prospective(replica, now)
    elif not (replica.is_voter and replica.is_shutting_down):
        _fetch_from_bootstrap(replica, now)


def _prospective(replica: Replica, role: Prospective, now: int) -> None:
    if now >= role.election_deadline and not replica.is_shutting_down:
        transitions.give_up_prospects(replica, now)
    elif not role.ballot.is_rejected:
        _ask_voters(replica, role.ballot.missing, now, vote.request)


def _candidate(replica: Replica, role: Candidate, now: int) -> None:
    if now >= role.election_deadline and not replica.is_shutting_down:
        transitions.to_prospective(replica, now)
    elif not role.ballot.is_rejected:
        _ask_voters(replica, role.ballot.missing, now, vote.request)


def _resigned(replica: Replica, role: Resigned, now: int) -> None:
    for id in sorted(role.unacknowledged):
        node = replica.history.voters.node(id, replica.config.listener)
        if node:
            replica.send(node, partial(end_quorum_epoch.request, replica, role), now)
    if now >= role.election_deadline and not replica.is_shutting_down:
        transitions.to_unattached(replica, role.epoch + 1, None, now)


def _leader(replica: Replica, role: Leader, now: int) -> None:
    """Resign, give up a voter change, tell silent voters who leads, forget who went away."""
    has_lost_quorum = len(role.voters) > 1 and now >= role.quorum_deadline
    if replica.is_shutting_down or role.resign_requested or has_lost_quorum:
        transitions.to_resigned(replica, role, now)
        return
    if role.change and now >= role.change.deadline:
        replica.emit(*role.change.time_out())
        role.change = None
    if now >= role.announce_deadline:
        interval = replica.config.begin_quorum_epoch_interval_ms
        role.forget_observers(now)
        silent = role.silent_voters(now, interval)
        _ask(replica, silent, now, begin_quorum_epoch.request)
        role.announce_deadline = now + interval


def _follower(replica: Replica, role: Follower, now: int) -> None:
    if replica.is_shutting_down:
        return
    if replica.stands and now >= role.fetch_deadline:
        transitions.to_prospective(replica, now)
        return
    if now >= role.voter_deadline and _change_voters(replica, role, now):
        role.voter_deadline = now + replica.config.fetch_timeout_ms
        return
    _fetch(replica, role, now)


def _change_voters(replica: Replica, role: Follower, now: int) -> bool:
    """Tell the leader of this replica, where that is needed; whether the period begins anew."""
    request = _voter_request(replica, role)
    leader = role.leader_endpoints.node(role.leader_id, replica.config.listener)
    if request is None or leader is None:
        role.voter_deadline = now + replica.config.fetch_timeout_ms
        return False
    return replica.send(leader, request, now)


def _voter_request(replica: Replica, role: Follower) -> Callable[[], Request] | None:
    """What to ask for.

    1. A voter whose entry in the voter set is not what it should be: UpdateRaftVoter; with
       kraft.version 0 once to each leader, which then knows whether an upgrade is possible.
    2. An observer with auto-join, whose id votes with another directory: RemoveRaftVoter.
    3. An observer with auto-join: AddRaftVoter.
    """
    config, history = replica.config, replica.history
    if replica.is_voter:
        is_stale = history.voters.needs_update(config.voter)
        is_due = is_stale if history.kraft_version else not role.has_updated_leader
        return partial(update_raft_voter.request, replica) if is_due else None
    if not (history.kraft_version and config.can_become_voter and config.auto_join):
        return None
    old = history.voters.voters.get(config.node_id)
    if old is not None:
        return partial(remove_raft_voter.request, replica, old.key)
    return partial(add_raft_voter.request, replica)


def _fetch(replica: Replica, role: Follower, now: int) -> None:
    """Fetch from the leader; where it does not answer, ask the bootstrap servers for another."""
    leader = role.leader_endpoints.node(role.leader_id, replica.config.listener)
    if leader is None or not _may_fetch(replica):
        return
    if replica.connections.has_timed_out(leader, now):
        replica.connections.reset(leader)
        _fetch_from_bootstrap(replica, now)
    elif replica.connections.is_backing_off(leader, now):
        _fetch_from_bootstrap(replica, now)
    elif not replica.connections.is_any_in_flight(now):
        _fetch_from(replica, role, leader, now)


def _fetch_from(replica: Replica, role: Follower, leader: Node, now: int) -> None:
    download = role.download
    if download is None:
        replica.send(leader, partial(fetch.request, replica), now)
    elif not download.is_whole:
        replica.send(leader, partial(fetch_snapshot.request, replica, download), now)


def _fetch_from_bootstrap(replica: Replica, now: int) -> None:
    node = replica.connections.ready_bootstrap_server(now)
    if node and _may_fetch(replica):
        replica.send(node, partial(fetch.request, replica), now)


def _may_fetch(replica: Replica) -> bool:
    """True if the log is as its end says: a Fetch tells the leader what is on this disk."""
    return replica.tail.is_settled and not replica.is_flushing and not replica.is_installing


def _ask_voters(
    replica: Replica,
    ids: Iterable[int],
    now: int,
    request: Callable[[Replica, ReplicaKey], Request],
) -> None:
    voters = replica.history.voters.voters
    _ask(replica, [voters[id].key for id in sorted(ids) if id in voters], now, request)


def _ask(
    replica: Replica,
    voters: Iterable[ReplicaKey],
    now: int,
    request: Callable[[Replica, ReplicaKey], Request],
) -> None:
    for voter in voters:
        node = replica.history.voters.node(voter.id, replica.config.listener)
        if node:
            replica.send(node, partial(request, replica, voter), now)
