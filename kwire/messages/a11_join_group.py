"""JoinGroup, API key 11."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    binary,
    boolean,
    field,
    int16,
    int32,
    nullable,
    since,
    string,
)


class JoinGroupRequestProtocol(Group):
    name: str = string
    metadata: bytes = binary


class JoinGroupRequest(Request, key=11, versions="0-9", flexible="6+", listeners="broker"):
    """A consumer or Connect worker enters a classic group and lists protocols it speaks."""

    group_id: str = string
    session_timeout_ms: int = int32
    rebalance_timeout_ms: int = since(1, int32, default=-1, ignorable=True)
    member_id: str = string
    group_instance_id: str | None = since(5, nullable(string), default=None)
    protocol_type: str = string
    protocols: list[JoinGroupRequestProtocol] = array(JoinGroupRequestProtocol)
    reason: str | None = since(8, nullable(string), default=None, ignorable=True)


class JoinGroupResponseMember(Group):
    member_id: str = string
    group_instance_id: str | None = since(5, nullable(string), default=None, ignorable=True)
    metadata: bytes = binary


class JoinGroupResponse(Response, key=11, versions="0-9", flexible="6+"):
    """The coordinator opens a generation; the leader also learns all members."""

    throttle_time_ms: int = since(2, int32, ignorable=True)
    error_code: int = int16
    generation_id: int = field(int32, default=-1)
    protocol_type: str | None = since(7, nullable(string), default=None, ignorable=True)
    protocol_name: str | None = nullable(string, "7+")
    leader: str = string
    skip_assignment: bool = since(9, boolean)
    member_id: str = string
    members: list[JoinGroupResponseMember] = array(JoinGroupResponseMember)
