"""QuorumStateData."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, field, int32, int64, nullable, since, string, uuid


class Voter(Group):
    voter_id: int = field(int32, "0")


class QuorumStateData(Data, versions="0-1", flexible="0+"):
    """A replica remembers its epoch, leader and vote across restarts (KIP-595)."""

    cluster_id: str = field(string, "0")
    leader_id: int = field(int32, default=-1)
    leader_epoch: int = field(int32, default=-1)
    voted_id: int = field(int32, default=-1)
    voted_directory_id: UUID = since(1, uuid)
    applied_offset: int = field(int64, "0")
    current_voters: list[Voter] | None = field(nullable(array(Voter)), "0")
