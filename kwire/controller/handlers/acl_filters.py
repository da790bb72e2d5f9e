"""Requests about ACLs: the filters of DescribeAcls and DeleteAcls (Java: AclBindingFilter)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kwire.codec.declaration import Request
from kwire.image.acls import WILDCARD, AclsImage, StandardAcl
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.a30_create_acls import AclCreation, CreateAclsRequest
from kwire.messages.a31_delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)

AclFilterMessage = DescribeAclsRequest | DeleteAclsFilter

RESOURCE_TYPES = frozenset(AclResourceType) - {AclResourceType.UNKNOWN}
PATTERN_TYPES = frozenset(PatternType) - {PatternType.UNKNOWN}
OPERATIONS = frozenset(AclOperation) - {AclOperation.UNKNOWN}
PERMISSIONS = frozenset(AclPermission) - {AclPermission.UNKNOWN}
"""The numbers with a meaning; Java takes every other number for UNKNOWN."""

_BOTH = (PatternType.ANY, PatternType.MATCH)
_UNKNOWN = 0


ACL_REQUESTS = (DescribeAclsRequest, DeleteAclsRequest, CreateAclsRequest)
"""The requests that have ACLs, or filters of them."""


def has_unknown_elements(request: Request) -> bool:
    """Return True if Java takes a request for broken, since it says UNKNOWN (0) somewhere.

    A node closes the connection then; other numbers without a meaning get an answer.
    """
    parts: list[AclFilterMessage | AclCreation]
    if isinstance(request, DescribeAclsRequest):
        parts = [request]
    elif isinstance(request, DeleteAclsRequest):
        parts = [*request.filters]
    elif isinstance(request, CreateAclsRequest):
        parts = [*request.creations]
    else:
        return False
    return any(_UNKNOWN in _numbers(part) for part in parts)


def _numbers(part: AclFilterMessage | AclCreation) -> tuple[int, int, int, int]:
    if isinstance(part, AclCreation):
        types = part.resource_type, part.resource_pattern_type
    else:
        types = part.resource_type_filter, part.pattern_type_filter
    return *types, part.operation, part.permission_type


def matching(acls: AclsImage, wanted: AclFilterMessage) -> Iterator[tuple[UUID, StandardAcl]]:
    """Yield the ACLs that a filter matches, with their ids.

    The pattern type MATCH finds what a name falls under: itself, its prefixes and `*`.
    """
    for id, acl in acls.by_id.items():
        if _matches_entry(acl, wanted) and _matches_resource(acl, wanted):
            yield id, acl


def _matches_entry(acl: StandardAcl, wanted: AclFilterMessage) -> bool:
    return (
        wanted.principal_filter in (None, acl.principal)
        and wanted.host_filter in (None, acl.host)
        and wanted.operation in (AclOperation.ANY, acl.operation)
        and wanted.permission_type in (AclPermission.ANY, acl.permission_type)
    )


def _matches_resource(acl: StandardAcl, wanted: AclFilterMessage) -> bool:
    name, pattern_type = wanted.resource_name_filter, wanted.pattern_type_filter
    if wanted.resource_type_filter not in (AclResourceType.ANY, acl.resource_type):
        return False
    if pattern_type not in (*_BOTH, acl.pattern_type):
        return False
    if name is None or name == acl.resource_name:
        return True
    if pattern_type != PatternType.MATCH:
        return False
    if acl.pattern_type == PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name == WILDCARD
