"""SyncGroup, API key 14."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, binary, int16, int32, nullable, since, string


class SyncGroupRequestAssignment(Group):
    member_id: str = string
    assignment: bytes = binary


class SyncGroupRequest(Request, key=14, versions="0-5", flexible="4+", listeners="broker"):
    """A classic group's leader hands in the assignment; other members ask for their part."""

    group_id: str = string
    generation_id: int = int32
    member_id: str = string
    group_instance_id: str | None = since(3, nullable(string), default=None)
    protocol_type: str | None = since(5, nullable(string), default=None, ignorable=True)
    protocol_name: str | None = since(5, nullable(string), default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment] = array(SyncGroupRequestAssignment)


class SyncGroupResponse(Response, key=14, versions="0-5", flexible="4+"):
    """The coordinator gives a member its part of the assignment."""

    throttle_time_ms: int = since(1, int32, ignorable=True)
    error_code: int = int16
    protocol_type: str | None = since(5, nullable(string), default=None, ignorable=True)
    protocol_name: str | None = since(5, nullable(string), default=None, ignorable=True)
    assignment: bytes = binary
