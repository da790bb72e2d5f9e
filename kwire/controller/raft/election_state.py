"""What a replica must not forget of elections: its epoch, the leader, its vote (KIP-595)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kwire.controller.raft.replica_key import ReplicaKey
from kwire.messages.data.quorum_state_data import QuorumStateData, Voter
from kwire.text.ids import ZERO_UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionState:
    """The content of quorum-state."""

    epoch: int = 0
    leader_id: int | None = None
    voted_key: ReplicaKey | None = None

    @classmethod
    def from_data(cls, data: QuorumStateData) -> ElectionState:
        """What the file says, at either version."""
        voted = ReplicaKey.from_wire(data.voted_id, data.voted_directory_id)
        return cls(
            epoch=data.leader_epoch,
            leader_id=None if data.leader_id < 0 else data.leader_id,
            voted_key=None if data.voted_id < 0 else voted,
        )

    def to_data(self, version: int, voters: Iterable[int]) -> QuorumStateData:
        """What to write: version 0 names the static voters, version 1 the vote's directory."""
        voted = self.voted_key
        return QuorumStateData(
            leader_id=-1 if self.leader_id is None else self.leader_id,
            leader_epoch=self.epoch,
            voted_id=-1 if voted is None else voted.id,
            voted_directory_id=voted.wire_directory_id if voted and version else ZERO_UUID,
            current_voters=[] if version else [Voter(voter_id=id) for id in sorted(voters)],
        )
