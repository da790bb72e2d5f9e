"""LeaderChangeMessage."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, int16, int32, since, uuid


class Voter(Group):
    voter_id: int = int32
    voter_directory_id: UUID = since(1, uuid)


class LeaderChangeMessage(Data, versions="0-1", flexible="0+"):
    """A quorum leader begins its epoch in the log and names its electors (KIP-595)."""

    version: int = int16
    leader_id: int = int32
    voters: list[Voter] = array(Voter)
    granting_voters: list[Voter] = array(Voter)
