"""ListGroups, API key 16."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, since, string


class ListGroupsRequest(Request, key=16, versions="0-5", flexible="3+", listeners="broker"):
    """An admin asks a broker which groups it coordinates."""

    states_filter: tuple[str, ...] = since(4, array(string))
    types_filter: tuple[str, ...] = since(5, array(string))


class ListedGroup(Group):
    group_id: str = string
    protocol_type: str = string
    group_state: str = since(4, string, ignorable=True)
    group_type: str = since(5, string, ignorable=True)


class ListGroupsResponse(Response, key=16, versions="0-5", flexible="3+"):
    """A broker lists the groups it coordinates, with type and state."""

    throttle_time_ms: int = since(1, int32, ignorable=True)
    error_code: int = int16
    groups: list[ListedGroup] = array(ListedGroup)
