"""The part of elections that must survive a restart: epoch, leader and vote (KIP-595, KIP-853
"Quorum state")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kwire.controller.raft.replica_key import ReplicaKey
from kwire.messages.data.quorum_state_data import QuorumStateData, Voter
from kwire.text.ids import ZERO_UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionState:
    """The content of the file quorum-state."""

    epoch: int = 0
    leader_id: int | None = None
    voted_key: ReplicaKey | None = None

    @classmethod
    def from_data(cls, data: QuorumStateData) -> ElectionState:
        """Read the file's content, of either version."""
        voted = ReplicaKey.from_wire(data.voted_id, data.voted_directory_id)
        return cls(
            epoch=data.leader_epoch,
            leader_id=None if data.leader_id < 0 else data.leader_id,
            voted_key=None if data.voted_id < 0 else voted,
        )

    def to_data(self, version: int, voters: Iterable[int]) -> QuorumStateData:
        """Return the file's content: version 0 has the static voters, 1 the vote's directory."""
        voted = self.voted_key
        return QuorumStateData(
            leader_id=-1 if self.leader_id is None else self.leader_id,
            leader_epoch=self.epoch,
            voted_id=-1 if voted is None else voted.id,
            voted_directory_id=voted.wire_directory_id if voted and version else ZERO_UUID,
            current_voters=[] if version else [Voter(voter_id=id) for id in sorted(voters)],
        )
