"""AddRaftVoter, API key 80."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, int16, int32, nullable, since, string, uint16, uuid


class Listener(Group):
    name: str = string
    host: str = string
    port: int = uint16


class AddRaftVoterRequest(
    Request, key=80, versions="0-1", flexible="0+", listeners="controller broker"
):
    """An admin, or an observer itself, asks that the observer become a voter (KIP-853)."""

    cluster_id: str | None = nullable(string)
    timeout_ms: int = int32
    voter_id: int = int32
    voter_directory_id: UUID = uuid
    listeners: list[Listener] = array(Listener)
    ack_when_committed: bool = since(1, boolean, default=True)


class AddRaftVoterResponse(Response, key=80, versions="0-1", flexible="0+"):
    """The leader says whether it takes the new voter into the voter set (KIP-853)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
