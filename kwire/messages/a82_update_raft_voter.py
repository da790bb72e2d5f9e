"""UpdateRaftVoter, API key 82."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    field,
    int16,
    int32,
    nullable,
    string,
    struct,
    tagged,
    uint16,
    uuid,
)


class Listener(Group):
    name: str = string
    host: str = string
    port: int = uint16


class KRaftVersionFeature(Group):
    min_supported_version: int = int16
    max_supported_version: int = int16


class UpdateRaftVoterRequest(Request, key=82, versions="0", flexible="0+", listeners="controller"):
    """A voter tells the leader its current endpoints and kraft.version range (KIP-853)."""

    cluster_id: str | None = nullable(string)
    current_leader_epoch: int = int32
    voter_id: int = int32
    voter_directory_id: UUID = uuid
    listeners: list[Listener] = array(Listener)
    k_raft_version_feature: KRaftVersionFeature = struct(KRaftVersionFeature)


class CurrentLeader(Group):
    leader_id: int = field(int32, default=-1)
    leader_epoch: int = field(int32, default=-1)
    host: str = string
    port: int = int32


class UpdateRaftVoterResponse(Response, key=82, versions="0", flexible="0+"):
    """The leader accepts a voter's new endpoints, or names the current leader (KIP-853)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    current_leader: CurrentLeader | None = tagged(0, CurrentLeader)
