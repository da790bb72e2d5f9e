"""The identity of a replica and its `controller.quorum.*` settings (KIP-853 "Configuration")."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from kwire.controller.raft.endpoints import NO_ENDPOINTS, Endpoints
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.voter_set import Voter, VoterSet
from kwire.net.negotiation import VersionRange


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of a replica, which do not change while it runs. Times are milliseconds.

    listener: name of the default controller listener, the first of `controller.listener.names`.
    endpoints: of this node's controller listeners; empty for a broker.
    bootstrap_servers: host and port; if empty, the static voters take their place.
    static_voters: of `controller.quorum.voters`; in force while the log has no VotersRecord.
    can_become_voter: true for controllers: they flush what they fetch even while observers.
    fetch_max_bytes: of one response, which is taken in within one step; Java asks for four times
    as much.
    auto_join: an observer adds itself, and removes a voter of its id with another directory
    (`controller.quorum.auto.join.enable`).
    """

    node_id: int
    directory_id: UUID
    cluster_id: str
    listener: str = "CONTROLLER"
    endpoints: Endpoints = NO_ENDPOINTS
    bootstrap_servers: tuple[tuple[str, int], ...] = ()
    static_voters: VoterSet = field(default_factory=VoterSet)
    supported_kraft_version: VersionRange = VersionRange(0, 1)
    can_become_voter: bool = True
    auto_join: bool = False
    election_timeout_ms: int = 1000
    election_backoff_max_ms: int = 1000
    fetch_timeout_ms: int = 2000
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    fetch_max_wait_ms: int = 500
    fetch_max_bytes: int = 1 << 18
    fetch_snapshot_max_bytes: int = 1 << 20

    @property
    def key(self) -> ReplicaKey:
        """The key of this replica."""
        return ReplicaKey(id=self.node_id, directory_id=self.directory_id)

    @property
    def voter(self) -> Voter:
        """The entry of this replica for a voter set."""
        return Voter(key=self.key, endpoints=self.endpoints, supported=self.supported_kraft_version)

    @property
    def check_quorum_timeout_ms(self) -> int:
        """The time after which a leader resigns unless a majority fetches (LeaderState)."""
        return self.fetch_timeout_ms * 3 // 2

    @property
    def begin_quorum_epoch_interval_ms(self) -> int:
        """The time after which a voter that has not fetched gets BeginQuorumEpoch (LeaderState)."""
        return self.fetch_timeout_ms // 2
