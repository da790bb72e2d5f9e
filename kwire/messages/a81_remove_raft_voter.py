"""RemoveRaftVoter, API key 81."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Request, Response
from kwire.codec.notation import int16, int32, nullable, string, uuid


class RemoveRaftVoterRequest(
    Request, key=81, versions="0", flexible="0+", listeners="controller broker"
):
    """An admin asks the quorum's leader to drop a voter from the voter set (KIP-853)."""

    cluster_id: str | None = nullable(string)
    voter_id: int = int32
    voter_directory_id: UUID = uuid


class RemoveRaftVoterResponse(Response, key=81, versions="0", flexible="0+"):
    """The leader says whether the voter is out of the voter set (KIP-853)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
