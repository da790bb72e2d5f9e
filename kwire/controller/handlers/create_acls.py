"""CreateAcls (KIP-140, KIP-290)."""

from __future__ import annotations

from kwire.controller.authorization.hosts import network_of
from kwire.controller.handlers.acl_filters import OPERATIONS, RESOURCE_TYPES
from kwire.controller.handlers.limits import check_records
from kwire.controller.handlers.result import ControllerContext, ControllerResult, VersionedRecords
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.acls import WILDCARD, StandardAcl
from kwire.messages.a30_create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from kwire.messages.access_control import (
    CLUSTER_NAME,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)


def handle(request: CreateAclsRequest, context: ControllerContext) -> ControllerResult:
    """Add ACLs, in one batch (Java: AclApis.handleCreateAcls, AclControlManager.createAcls).

    1. A type, operation or permission that only filters may have: UNKNOWN_SERVER_ERROR for all.

    For each ACL by itself:

    2. Another name of the cluster than kafka-cluster, or an empty name: INVALID_REQUEST.
    3. A number without a meaning, or a principal without a colon: INVALID_REQUEST.
    4. The host (`_check_host`).
    5. No record for an ACL that exists or occurs in the request before: it has no error either.

    6. More records than one request may bring: POLICY_VIOLATION for all.
    """
    # 1.
    if any(_is_filter(creation) for creation in request.creations):
        text = "ANY and MATCH have a meaning in filters only."
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    records: VersionedRecords = []
    results = []
    created: set[StandardAcl] = set()
    for creation in request.creations:
        try:
            _check(creation, context)
        except ApiError as error:
            result = AclCreationResult(error_code=error.code, error_message=error.message)
        else:
            result = AclCreationResult(error_message="")
            acl = _acl(creation)
            # 5.
            if acl not in created and acl not in context.image.acls:
                created.add(acl)
                records.append(acl.record(context.new_uuid()))
        results.append(result)
    # 6.
    check_records(records)
    return ControllerResult(records=tuple(records), response=CreateAclsResponse(results=results))


def _is_filter(creation: AclCreation) -> bool:
    return (
        creation.resource_type == AclResourceType.ANY
        or creation.resource_pattern_type in (PatternType.ANY, PatternType.MATCH)
        or creation.operation == AclOperation.ANY
        or creation.permission_type == AclPermission.ANY
    )


def _check(creation: AclCreation, context: ControllerContext) -> None:
    # 2.
    name = creation.resource_name
    if creation.resource_type == AclResourceType.CLUSTER and name != CLUSTER_NAME:
        raise _invalid(f"The only resource of type CLUSTER is {CLUSTER_NAME}.")
    if not name:
        raise _invalid("The name of the resource is empty.")
    # 3.
    if creation.resource_type not in RESOURCE_TYPES:
        raise _invalid(f"{creation.resource_type} is no type of resource.")
    if creation.resource_pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise _invalid(f"{creation.resource_pattern_type} is no type of pattern.")
    if creation.operation not in OPERATIONS:
        raise _invalid(f"{creation.operation} is no operation.")
    if creation.permission_type not in (AclPermission.ALLOW, AclPermission.DENY):
        raise _invalid(f"{creation.permission_type} is no permission.")
    if ":" not in creation.principal:
        raise _invalid(f"{creation.principal!r} is no principal such as User:alice.")
    # 4.
    _check_host(creation.host, context)


def _check_host(host: str, context: ControllerContext) -> None:
    """Check an ACL's host. Raises ApiError:

    1. An empty host, or a slash in it and no range of addresses: INVALID_REQUEST.
    2. A range before metadata.version 4.4-IV1: UNSUPPORTED_VERSION.
    """
    # 1.
    if not host:
        raise _invalid("The host is empty.")
    if host == WILDCARD or "/" not in host:
        return
    # 2.
    if not context.metadata_version.supports_cidr_acls:
        text = f"Ranges of addresses as {host} need metadata.version 4.4-IV1."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    # 1.
    if network_of(host) is None:
        raise _invalid(f"{host} is no range of addresses such as 10.1.0.0/16.")


def _acl(creation: AclCreation) -> StandardAcl:
    return StandardAcl(
        resource_type=creation.resource_type,
        resource_name=creation.resource_name,
        pattern_type=creation.resource_pattern_type,
        principal=creation.principal,
        host=creation.host,
        operation=creation.operation,
        permission_type=creation.permission_type,
    )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
