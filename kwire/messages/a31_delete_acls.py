"""DeleteAcls, API key 31."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int8, int16, int32, nullable, since, string


class DeleteAclsFilter(Group):
    resource_type_filter: int = int8
    resource_name_filter: str | None = nullable(string)
    pattern_type_filter: int = since(1, int8, default=3)
    principal_filter: str | None = nullable(string)
    host_filter: str | None = nullable(string)
    operation: int = int8
    permission_type: int = int8


class DeleteAclsRequest(
    Request, key=31, versions="0-3", flexible="2+", listeners="broker controller"
):
    """An admin removes every ACL that a filter matches (KIP-140)."""

    filters: list[DeleteAclsFilter] = array(DeleteAclsFilter)


class DeleteAclsMatchingAcl(Group):
    error_code: int = int16
    error_message: str | None = nullable(string)
    resource_type: int = int8
    resource_name: str = string
    pattern_type: int = since(1, int8, default=3)
    principal: str = string
    host: str = string
    operation: int = int8
    permission_type: int = int8


class DeleteAclsFilterResult(Group):
    error_code: int = int16
    error_message: str | None = nullable(string)
    matching_acls: list[DeleteAclsMatchingAcl] = array(DeleteAclsMatchingAcl)


class DeleteAclsResponse(Response, key=31, versions="0-3", flexible="2+"):
    """The controller gives the ACLs that each filter removed (KIP-140)."""

    throttle_time_ms: int = int32
    filter_results: list[DeleteAclsFilterResult] = array(DeleteAclsFilterResult)
