"""The work of each role as time passes (KIP-853 "Controller auto joining"; Java:
KafkaRaftClient.pollCurrentState)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from kwire.codec.declaration import Request
from kwire.controller.raft.endpoints import PeerNode
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
from kwire.controller.raft.transitions import (
    Reason,
    lose_pre_vote,
    report_lost_election,
    to_prospective,
    to_resigned,
    to_unattached,
)

_MAX_ROLES_PER_STEP = 8
"""More than any chain of transitions; it ends only those that timeouts of 0 would make endless."""


def poll(replica: Replica, now: int) -> None:
    """Do what is due, and again in every role that this leads to."""
    role = None
    for _ in range(_MAX_ROLES_PER_STEP):
        if role is replica.role:
            break
        role = replica.role
        match role:
            case Unattached():
                _poll_unattached(replica, role, now)
            case Prospective():
                _poll_prospective(replica, role, now)
            case Candidate():
                _poll_candidate(replica, role, now)
            case Follower():
                _poll_follower(replica, role, now)
            case Leader():
                _poll_leader(replica, role, now)
            case Resigned():
                _poll_resigned(replica, role, now)


def _poll_unattached(replica: Replica, role: Unattached, now: int) -> None:
    if replica.is_ready_for_election and now >= role.election_deadline:
        to_prospective(replica, Reason.ELECTION_TIMEOUT, now)
    elif not (replica.is_voter and replica.is_shutting_down):
        _fetch_from_bootstrap(replica, now)


def _poll_prospective(replica: Replica, role: Prospective, now: int) -> None:
    if now >= role.election_deadline and not replica.is_shutting_down:
        lose_pre_vote(replica, now)
    else:
        _ask_for_votes(replica, role, now)


def _poll_candidate(replica: Replica, role: Candidate, now: int) -> None:
    # A lost election, too, is over only with its timeout (KafkaRaftClient.maybeHandleElectionLoss).
    if now >= role.election_deadline and not replica.is_shutting_down:
        if not role.epoch_election.is_vote_rejected:
            report_lost_election(replica, role)
        to_prospective(replica, Reason.ELECTION_TIMEOUT, now)
    else:
        _ask_for_votes(replica, role, now)


def _ask_for_votes(replica: Replica, role: Prospective | Candidate, now: int) -> None:
    election = role.epoch_election
    if election.is_vote_rejected:
        return
    voters = replica.control_records.voters.voters
    missing = sorted(election.unrecorded_voters)
    _send(replica, [voters[id].key for id in missing if id in voters], now, vote.build_request)


def _poll_resigned(replica: Replica, role: Resigned, now: int) -> None:
    for id in sorted(role.unacknowledged):
        node = replica.control_records.voters.node(id, replica.config.listener)
        if node:
            replica.send(node, partial(end_quorum_epoch.build_request, replica, role), now)
    # The next epoch, since nobody can win this one any more: it has had its leader.
    if now >= role.election_deadline and not replica.is_shutting_down:
        to_unattached(replica, role.epoch + 1, None, now, Reason.ELECTION_TIMEOUT)


def _poll_leader(replica: Replica, role: Leader, now: int) -> None:
    """Do what a leader does at intervals (KafkaRaftClient.pollLeader).

    1. Resign, if asked to, removed, shutting down, or if no majority fetches.
    2. Give up a voter change that took too long: REQUEST_TIMED_OUT.
    3. Forget observers that went away; send BeginQuorumEpoch to voters that do not fetch.
    """
    # 1. A majority that does not fetch may have another leader: without resigning, this one would
    # go on taking writes that are never committed (check quorum, KAFKA-15489).
    if reason := _resign_reason(replica, role, now):
        to_resigned(replica, role, reason, now)
        return
    # 2.
    if role.voter_change and now >= role.voter_change.deadline:
        replica.emit(*role.voter_change.time_out())
        role.voter_change = None
    # 3.
    if now >= role.begin_quorum_epoch_deadline:
        interval = replica.config.begin_quorum_epoch_interval_ms
        role.drop_inactive_observers(now)
        silent_voters = role.silent_voters(now, interval)
        _send(replica, silent_voters, now, begin_quorum_epoch.build_request)
        role.begin_quorum_epoch_deadline = now + interval


def _resign_reason(replica: Replica, role: Leader, now: int) -> str | None:
    if replica.is_shutting_down:
        return "it shuts down"
    if role.resign_reason is None and len(role.voters) > 1 and now >= role.check_quorum_deadline:
        return f"no majority fetched within {replica.config.check_quorum_timeout_ms} ms"
    return role.resign_reason


def _poll_follower(replica: Replica, role: Follower, now: int) -> None:
    if replica.is_shutting_down:
        return
    if replica.is_ready_for_election and now >= role.fetch_deadline:
        to_prospective(replica, Reason.FETCH_TIMEOUT, now)
        return
    if now >= role.update_voter_deadline and _send_voter_request(replica, role, now):
        role.update_voter_deadline = now + replica.config.fetch_timeout_ms
        return
    _fetch(replica, role, now)


def _send_voter_request(replica: Replica, role: Follower, now: int) -> bool:
    """Send the leader a request about this replica as a voter; return True if one was due."""
    request = _voter_request(replica, role)
    leader = role.leader_endpoints.node(role.leader_id, replica.config.listener)
    if request is None or leader is None:
        role.update_voter_deadline = now + replica.config.fetch_timeout_ms
        return False
    return replica.send(leader, request, now)


def _voter_request(replica: Replica, role: Follower) -> Callable[[], Request] | None:
    """Choose the request about this replica as a voter; None for none.

    1. A voter whose entry in the voter set is not what it should be: UpdateRaftVoter; with
       kraft.version 0 once to each leader, which then knows whether an upgrade is possible.
    2. An observer with auto join, whose id votes with another directory: RemoveRaftVoter.
    3. An observer with auto join: AddRaftVoter (KIP-853 "Controller auto joining").
    """
    config, control_records = replica.config, replica.control_records
    # 1.
    if replica.is_voter:
        is_stale = control_records.voters.needs_update(config.voter)
        is_due = is_stale if control_records.kraft_version else not role.has_updated_leader
        return partial(update_raft_voter.build_request, replica) if is_due else None
    if not (control_records.kraft_version and config.can_become_voter and config.auto_join):
        return None
    # 2. An id votes once: the disk that is gone would make AddRaftVoter a DUPLICATE_VOTER.
    old_voter = control_records.voters.voters.get(config.node_id)
    if old_voter is not None:
        return partial(remove_raft_voter.build_request, replica, old_voter.key)
    # 3.
    return partial(add_raft_voter.build_request, replica)


def _fetch(replica: Replica, role: Follower, now: int) -> None:
    """Fetch from the leader; if it does not answer, ask the bootstrap servers for another."""
    leader = role.leader_endpoints.node(role.leader_id, replica.config.listener)
    if leader is None or not _may_fetch(replica):
        return
    if replica.request_manager.has_timed_out(leader, now):
        replica.request_manager.reset(leader)
        _fetch_from_bootstrap(replica, now)
    elif replica.request_manager.is_backing_off(leader, now):
        _fetch_from_bootstrap(replica, now)
    elif not replica.request_manager.has_any_request_in_flight(now):
        _fetch_from(replica, role, leader, now)


def _fetch_from(replica: Replica, role: Follower, leader: PeerNode, now: int) -> None:
    download = role.snapshot_download
    if download is None:
        replica.send(leader, partial(fetch.build_request, replica), now)
    elif not download.is_complete:
        replica.send(leader, partial(fetch_snapshot.build_request, replica, download), now)


def _fetch_from_bootstrap(replica: Replica, now: int) -> None:
    node = replica.request_manager.find_ready_bootstrap_server(now)
    if node and _may_fetch(replica):
        replica.send(node, partial(fetch.build_request, replica), now)


def _may_fetch(replica: Replica) -> bool:
    """Return True if all of the log is on this disk: a Fetch acknowledges records up to its end."""
    return replica.log.is_settled and not replica.is_flushing and not replica.is_installing


def _send(
    replica: Replica,
    voters: Iterable[ReplicaKey],
    now: int,
    build_request: Callable[[Replica, ReplicaKey], Request],
) -> None:
    for voter in voters:
        node = replica.control_records.voters.node(voter.id, replica.config.listener)
        if node:
            replica.send(node, partial(build_request, replica, voter), now)
