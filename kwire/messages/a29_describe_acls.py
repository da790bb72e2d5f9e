"""DescribeAcls, API key 29."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int8, int16, int32, nullable, since, string


class DescribeAclsRequest(
    Request, key=29, versions="0-3", flexible="2+", listeners="broker controller"
):
    """An admin lists the ACLs that a filter matches (KIP-140)."""

    resource_type_filter: int = int8
    resource_name_filter: str | None = nullable(string)
    pattern_type_filter: int = since(1, int8, default=3)
    principal_filter: str | None = nullable(string)
    host_filter: str | None = nullable(string)
    operation: int = int8
    permission_type: int = int8


class AclDescription(Group):
    principal: str = string
    host: str = string
    operation: int = int8
    permission_type: int = int8


class DescribeAclsResource(Group):
    resource_type: int = int8
    resource_name: str = string
    pattern_type: int = since(1, int8, default=3)
    acls: list[AclDescription] = array(AclDescription)


class DescribeAclsResponse(Response, key=29, versions="0-3", flexible="2+"):
    """A node gives the matching ACLs, grouped by resource (KIP-140)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
    resources: list[DescribeAclsResource] = array(DescribeAclsResource)
