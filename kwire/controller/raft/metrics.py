"""The gauges of a replica: Kafka's raft-metrics (KIP-595) and those that KIP-853 added
("Monitoring"; Java: KafkaRaftMetrics)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Candidate, Follower, Leader
from kwire.text.ids import ZERO_UUID

_UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftMetrics:
    """All gauges, named as in Kafka, with underscores; -1 and the zero UUID for none.

    number_of_observers, number_of_offline_voters: 0 for others than leaders.
    ignored_static_voters: `controller.quorum.voters` is set but the log names the voters.
    """

    current_state: str
    current_leader: int
    current_vote: int
    current_vote_directory_id: UUID
    current_epoch: int
    high_watermark: int
    log_end_offset: int
    log_end_epoch: int
    number_of_voters: int
    number_of_observers: int
    number_of_offline_voters: int
    uncommitted_voter_change: bool
    ignored_static_voters: bool
    is_observer: bool


def measure(replica: Replica, now: int) -> RaftMetrics:
    """Read all gauges."""
    role, leader, control_records = replica.role, replica.leader, replica.control_records
    voted = _vote(replica)
    high_watermark = leader.high_watermark if leader else replica.committed
    has_dynamic_voters = control_records.voters_entry is not None
    return RaftMetrics(
        current_state=_state(replica),
        current_leader=_UNKNOWN if role.leader_id is None else role.leader_id,
        current_vote=voted.id if voted else _UNKNOWN,
        current_vote_directory_id=voted.wire_directory_id if voted else ZERO_UUID,
        current_epoch=role.epoch,
        high_watermark=_UNKNOWN if high_watermark is None else high_watermark,
        log_end_offset=replica.log.end.offset,
        log_end_epoch=replica.log.end.epoch,
        number_of_voters=len(control_records.voters),
        number_of_observers=len(leader.observers) if leader else 0,
        number_of_offline_voters=_offline(replica, leader, now) if leader else 0,
        uncommitted_voter_change=_is_voter_change_uncommitted(replica),
        ignored_static_voters=has_dynamic_voters and bool(control_records.static_voters),
        is_observer=not replica.is_voter,
    )


def _state(replica: Replica) -> str:
    role = replica.role
    if isinstance(role, Follower):
        return "follower" if replica.is_voter else "observer"
    if role.name in ("unattached", "prospective"):
        return f"{role.name}-voted" if role.voted_key else role.name
    return role.name if isinstance(role, Leader | Candidate) else "unattached"


def _vote(replica: Replica) -> ReplicaKey | None:
    if isinstance(replica.role, Leader | Candidate):
        return replica.config.key
    return replica.role.voted_key


def _offline(replica: Replica, leader: Leader, now: int) -> int:
    return len(leader.silent_voters(now, replica.config.fetch_timeout_ms))


def _is_voter_change_uncommitted(replica: Replica) -> bool:
    entry = replica.control_records.voters_entry
    return entry is not None and entry.offset >= max(replica.committed, 0)
