"""DescribeGroups, API key 15."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, binary, boolean, int16, int32, nullable, since, string


class DescribeGroupsRequest(Request, key=15, versions="0-6", flexible="5+", listeners="broker"):
    """An admin asks for the state and the members of classic groups."""

    groups: tuple[str, ...] = array(string)
    include_authorized_operations: bool = since(3, boolean)


class DescribedGroupMember(Group):
    member_id: str = string
    group_instance_id: str | None = since(4, nullable(string), default=None, ignorable=True)
    client_id: str = string
    client_host: str = string
    member_metadata: bytes = binary
    member_assignment: bytes = binary


class DescribedGroup(Group):
    error_code: int = int16
    error_message: str | None = since(6, nullable(string), default=None)
    group_id: str = string
    group_state: str = string
    protocol_type: str = string
    protocol_data: str = string
    members: list[DescribedGroupMember] = array(DescribedGroupMember)
    authorized_operations: int = since(3, int32, default=-2147483648)


class DescribeGroupsResponse(Response, key=15, versions="0-6", flexible="5+"):
    """The coordinator gives state, protocol and members of each classic group."""

    throttle_time_ms: int = since(1, int32, ignorable=True)
    groups: list[DescribedGroup] = array(DescribedGroup)
