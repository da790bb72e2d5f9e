"""Follower: fetches the log from the leader; as a voter it also elects the next one (Java:
FollowerState)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles.role import Role
from kwire.logdir.names import OffsetAndEpoch


@dataclass(slots=True, kw_only=True)
class FetchedSnapshot:
    """A snapshot on its way from the leader, `position` bytes of it here."""

    id: OffsetAndEpoch
    position: int = 0
    is_complete: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Follower(Role):
    """A replica that knows its leader's address.

    fetch_deadline: without a successful fetch until then the leader is given up.
    update_voter_deadline: when to check again that the leader knows this replica as it is
    (UpdateRaftVoter, auto join).
    has_updated_leader: kraft.version 0 only: this leader has had UpdateRaftVoter.
    """

    leader_id: int
    fetch_deadline: int
    update_voter_deadline: int
    has_fetched_from_leader: bool = False
    has_updated_leader: bool = False
    snapshot_download: FetchedSnapshot | None = None

    @property
    def deadline(self) -> int | None:
        """The first of the two deadlines."""
        return min(self.fetch_deadline, self.update_voter_deadline)

    def can_grant_vote(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Grant only a pre-vote, and only until the leader has answered a fetch (KIP-996)."""
        return pre_vote and is_up_to_date and not self.has_fetched_from_leader
