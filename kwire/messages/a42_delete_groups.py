"""DeleteGroups, API key 42."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, nullable, since, string


class DeleteGroupsRequest(Request, key=42, versions="0-3", flexible="2+", listeners="broker"):
    """An admin deletes empty groups together with their offsets (KIP-229)."""

    groups_names: tuple[str, ...] = array(string)


class DeletableGroupResult(Group):
    group_id: str = string
    error_code: int = int16
    error_message: str | None = since(3, nullable(string), default=None, ignorable=True)


class DeleteGroupsResponse(Response, key=42, versions="0-3", flexible="2+"):
    """The coordinator says which groups are deleted, and why others are not (KIP-229)."""

    throttle_time_ms: int = int32
    results: list[DeletableGroupResult] = array(DeletableGroupResult)
