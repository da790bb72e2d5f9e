"""Follower: fetches the log from the leader; as a voter it also elects the next one."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles.role import Role
from kwire.logdir.names import OffsetAndEpoch


@dataclass(slots=True, kw_only=True)
class Download:
    """A snapshot on its way from the leader, `position` bytes of it here."""

    id: OffsetAndEpoch
    position: int = 0
    is_whole: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Follower(Role):
    """fetch_deadline: without a successful fetch until then the leader is given up.

    voter_deadline: when to see whether the leader must be told of this replica (UpdateRaftVoter,
    auto-join).
    has_updated_leader: kraft.version 0 only: whether this leader knows us.
    """

    leader_id: int
    fetch_deadline: int
    voter_deadline: int
    has_fetched: bool = False
    has_updated_leader: bool = False
    download: Download | None = None

    @property
    def deadline(self) -> int | None:
        """The first of the two."""
        return min(self.fetch_deadline, self.voter_deadline)

    def grants(self, candidate: ReplicaKey, *, is_up_to_date: bool, pre_vote: bool) -> bool:
        """Only a pre-vote, and only until the leader has answered a fetch (KIP-996)."""
        return pre_vote and is_up_to_date and not self.has_fetched
