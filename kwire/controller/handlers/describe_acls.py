"""DescribeAcls (KIP-140, KIP-290)."""

from __future__ import annotations

from collections import defaultdict

from kwire.controller.handlers.acl_filters import matching
from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.messages.a29_describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)


def handle(request: DescribeAclsRequest, context: ControllerContext) -> ControllerResult:
    """List the ACLs that a filter matches, by resource pattern (Java: AclApis.handleDescribeAcls).

    A number without a meaning in the filter matches nothing.
    """
    by_resource: dict[tuple[int, str, int], list[AclDescription]] = defaultdict(list)
    for _, acl in matching(context.image.acls, request):
        description = AclDescription(
            principal=acl.principal,
            host=acl.host,
            operation=acl.operation,
            permission_type=acl.permission_type,
        )
        by_resource[acl.resource_type, acl.resource_name, acl.pattern_type].append(description)
    resources = [
        DescribeAclsResource(
            resource_type=type, resource_name=name, pattern_type=pattern_type, acls=acls
        )
        for (type, name, pattern_type), acls in by_resource.items()
    ]
    return ControllerResult(response=DescribeAclsResponse(error_message="", resources=resources))
