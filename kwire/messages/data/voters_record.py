"""VotersRecord."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, int16, int32, string, struct, uint16, uuid


class Endpoint(Group):
    name: str = string
    host: str = string
    port: int = uint16


class KRaftVersionFeature(Group):
    min_supported_version: int = int16
    max_supported_version: int = int16


class Voter(Group):
    voter_id: int = int32
    voter_directory_id: UUID = uuid
    endpoints: list[Endpoint] = array(Endpoint)
    k_raft_version_feature: KRaftVersionFeature = struct(KRaftVersionFeature)


class VotersRecord(Data, versions="0", flexible="0+"):
    """The quorum has these voters, with their directory ids and endpoints (KIP-853)."""

    version: int = int16
    voters: list[Voter] = array(Voter)
