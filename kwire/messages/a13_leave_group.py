"""LeaveGroup, API key 13."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, nullable, since, string


class MemberIdentity(Group):
    member_id: str = since(3, string)
    group_instance_id: str | None = since(3, nullable(string), default=None)
    reason: str | None = since(5, nullable(string), default=None, ignorable=True)


class LeaveGroupRequest(Request, key=13, versions="0-5", flexible="4+", listeners="broker"):
    """Members of a classic group resign without waiting for their session to run out."""

    group_id: str = string
    member_id: str = field(string, "0-2")
    members: list[MemberIdentity] = since(3, array(MemberIdentity))


class MemberResponse(Group):
    member_id: str = since(3, string)
    group_instance_id: str | None = since(3, nullable(string))
    error_code: int = since(3, int16)


class LeaveGroupResponse(Response, key=13, versions="0-5", flexible="4+"):
    """The coordinator confirms for each member that it is gone."""

    throttle_time_ms: int = since(1, int32, ignorable=True)
    error_code: int = int16
    members: list[MemberResponse] = since(3, array(MemberResponse))
