"""DeleteAcls (KIP-140, KIP-290)."""

from __future__ import annotations

from uuid import UUID

from kwire.controller.handlers.acl_filters import (
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSIONS,
    RESOURCE_TYPES,
    matching,
)
from kwire.controller.handlers.limits import MAX_RECORDS
from kwire.controller.handlers.result import ControllerContext, ControllerResult, versioned
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.acls import StandardAcl
from kwire.messages.a31_delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord


def handle(request: DeleteAclsRequest, context: ControllerContext) -> ControllerResult:
    """Remove the ACLs that filters match, in one batch (Java: AclControlManager.deleteAcls).

    For each filter by itself:

    1. A number without a meaning: INVALID_REQUEST.
    2. More ACLs, with those of the filters before, than one request may remove:
       UNKNOWN_SERVER_ERROR, and those of this filter stay. Java's controller tries to remove them,
       finds that they are too many for a batch, and resigns.
    3. An ACL that several filters match is in the result of each, and is removed once.
    """
    removed: dict[UUID, None] = {}
    results = []
    for requested in request.filters:
        try:
            _check(requested)
            found = dict(matching(context.image.acls, requested))
            # 2.
            if len(removed | dict.fromkeys(found)) > MAX_RECORDS:
                text = f"One request removes {MAX_RECORDS} ACLs at most: split it."
                raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
        except ApiError as error:
            result = DeleteAclsFilterResult(error_code=error.code, error_message=error.message)
        else:
            # 3.
            removed |= dict.fromkeys(found)
            matching_acls = [_matching_acl(acl) for acl in found.values()]
            result = DeleteAclsFilterResult(error_message=None, matching_acls=matching_acls)
        results.append(result)
    return ControllerResult(
        records=tuple(versioned(RemoveAccessControlEntryRecord(id=id)) for id in removed),
        response=DeleteAclsResponse(filter_results=results),
    )


def _check(requested: DeleteAclsFilter) -> None:
    # 1.
    if (
        requested.resource_type_filter not in RESOURCE_TYPES
        or requested.pattern_type_filter not in PATTERN_TYPES
    ):
        raise ApiError(ErrorCode.INVALID_REQUEST, "The filter of resources is not known here.")
    if requested.operation not in OPERATIONS or requested.permission_type not in PERMISSIONS:
        raise ApiError(ErrorCode.INVALID_REQUEST, "The filter of entries is not known here.")


def _matching_acl(acl: StandardAcl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission_type,
    )
