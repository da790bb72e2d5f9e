"""Access control lists: DescribeAcls, CreateAcls, DeleteAcls (KIP-11, KIP-140, KIP-290, KIP-373).

Any broker takes them, and the active controller (KIP-919). A cluster without an authorizer answers
SECURITY_DISABLED (54).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.codec.declaration import Request
from kwire.errors import InvalidValue, KwireError, UnsupportedVersion
from kwire.messages import a29_describe_acls as described
from kwire.messages import a30_create_acls as created
from kwire.messages import a31_delete_acls as deleted
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    number_name,
)

BATCH = 1000
"""ACLs in one request: a controller writes at most 10,000 records for one."""

_USERS_SINCE = 3
"""The version of all three APIs from which on they know resources of type USER (Kafka 3.3)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class AclBinding:
    """One ACL: a principal is allowed or denied an operation on a resource, from one host or any.

    The numbers are those of kwire.messages.access_control. principal: `User:alice`, `User:*` for
    all. host: an IP address, `*` for all.
    """

    resource_type: int
    resource_name: str
    pattern_type: int = PatternType.LITERAL
    principal: str
    host: str = "*"
    operation: int
    permission: int = AclPermission.ALLOW

    def __str__(self) -> str:
        return (
            f"{number_name(AclPermission, self.permission)} {self.principal} from {self.host}"
            f" {number_name(AclOperation, self.operation)}"
            f" on {number_name(PatternType, self.pattern_type)}"
            f" {number_name(AclResourceType, self.resource_type)} {self.resource_name}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AclFilter:
    """A question for ACLs; by default for all of them.

    None and ANY match everything. A number 0, on which real Kafka closes the connection, is
    refused with InvalidValue.
    """

    resource_type: int = AclResourceType.ANY
    resource_name: str | None = None
    pattern_type: int = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: int = AclOperation.ANY
    permission: int = AclPermission.ANY

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def of(cls, binding: AclBinding) -> AclFilter:
        """Return the filter that matches one ACL and no other."""
        return cls(
            resource_type=binding.resource_type,
            resource_name=binding.resource_name,
            pattern_type=binding.pattern_type,
            principal=binding.principal,
            host=binding.host,
            operation=binding.operation,
            permission=binding.permission,
        )


def _check(acl: AclBinding | AclFilter) -> None:
    if not all((acl.resource_type, acl.pattern_type, acl.operation, acl.permission)):
        raise InvalidValue(f"no type, operation or permission of an ACL may be UNKNOWN: {acl}")


def _describe(call: OperationCall[None, AclFilter]) -> described.DescribeAclsRequest:
    _require_users(call, [call.arguments], described.DescribeAclsRequest)
    acl = call.arguments
    return described.DescribeAclsRequest(
        resource_type_filter=acl.resource_type,
        resource_name_filter=acl.resource_name,
        pattern_type_filter=acl.pattern_type,
        principal_filter=acl.principal,
        host_filter=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )


def _described(
    response: described.DescribeAclsResponse, call: OperationCall[None, AclFilter]
) -> Iterator[tuple[None, tuple[AclBinding, ...]]]:
    raise_for_code(response.error_code, response.error_message)
    yield (
        None,
        tuple(_binding(resource, acl) for resource in response.resources for acl in resource.acls),
    )


def _binding(
    resource: described.DescribeAclsResource | deleted.DeleteAclsMatchingAcl,
    acl: described.AclDescription | deleted.DeleteAclsMatchingAcl,
) -> AclBinding:
    return AclBinding(
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        pattern_type=resource.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission=acl.permission_type,
    )


def _create(
    call: OperationCall[AclBinding, None],
) -> Iterator[tuple[tuple[AclBinding, ...], created.CreateAclsRequest]]:
    _require_users(call, call.keys, created.CreateAclsRequest)
    for bindings in _batches(call.keys):
        creations = [
            created.AclCreation(
                resource_type=acl.resource_type,
                resource_name=acl.resource_name,
                resource_pattern_type=acl.pattern_type,
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission,
            )
            for acl in bindings
        ]
        yield bindings, created.CreateAclsRequest(creations=creations)


def _created(
    response: created.CreateAclsResponse, call: OperationCall[AclBinding, None]
) -> Iterator[tuple[AclBinding, KwireError | None]]:
    # Results have no key: they come in the order of the request.
    for binding, result in zip(call.keys, response.results, strict=False):
        yield binding, refusal(result.error_code, result.error_message)


def _delete(
    call: OperationCall[AclFilter, None],
) -> Iterator[tuple[tuple[AclFilter, ...], deleted.DeleteAclsRequest]]:
    _require_users(call, call.keys, deleted.DeleteAclsRequest)
    for filters in _batches(call.keys):
        yield (
            filters,
            deleted.DeleteAclsRequest(
                filters=[
                    deleted.DeleteAclsFilter(
                        resource_type_filter=acl.resource_type,
                        resource_name_filter=acl.resource_name,
                        pattern_type_filter=acl.pattern_type,
                        principal_filter=acl.principal,
                        host_filter=acl.host,
                        operation=acl.operation,
                        permission_type=acl.permission,
                    )
                    for acl in filters
                ]
            ),
        )


def _deleted(
    response: deleted.DeleteAclsResponse, call: OperationCall[AclFilter, None]
) -> Iterator[tuple[AclFilter, Outcomes[AclBinding, None] | KwireError]]:
    for acl_filter, result in zip(call.keys, response.filter_results, strict=False):
        matches = {
            _binding(acl, acl): refusal(acl.error_code, acl.error_message)
            for acl in result.matching_acls
        }
        yield acl_filter, refusal(result.error_code, result.error_message) or Outcomes(matches)


def _require_users(
    call: OperationCall[Any, Any], acls: Iterable[AclBinding | AclFilter], request: type[Request]
) -> None:
    users = any(acl.resource_type == AclResourceType.USER for acl in acls)
    if users and not call.offers(request, _USERS_SINCE):
        raise UnsupportedVersion("the node has no ACLs on users: it is older than Kafka 3.3")


def _batches(keys: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    rest = iter(keys)
    while batch := tuple(islice(rest, BATCH)):
        yield batch


DESCRIBE_ACLS: Operation[None, AclFilter, tuple[AclBinding, ...]] = Operation(
    row=registry.DESCRIBE_ACLS, build=_describe, parse=_described
)
CREATE_ACLS: Operation[AclBinding, None, None] = Operation(
    row=registry.CREATE_ACLS, build=_create, parse=_created
)
DELETE_ACLS: Operation[AclFilter, None, Outcomes[AclBinding, None]] = Operation(
    row=registry.DELETE_ACLS, build=_delete, parse=_deleted
)


async def describe_acls(
    driver: Driver, acl_filter: AclFilter | None = None, *, timeout: float | None = None
) -> tuple[AclBinding, ...]:
    """Return the ACLs that a filter matches, by default all.

    Raises BrokerError SECURITY_DISABLED (54), CLUSTER_AUTHORIZATION_FAILED (31);
    UnsupportedVersion for users before Kafka 3.3.
    """
    return await driver.ask(DESCRIBE_ACLS, None, acl_filter or AclFilter(), timeout=timeout)


async def create_acls(
    driver: Driver, bindings: Iterable[AclBinding], *, timeout: float | None = None
) -> Outcomes[AclBinding, None]:
    """Add ACLs; one that exists already stays as it is, and counts as done.

    Refused: SECURITY_DISABLED (54), INVALID_REQUEST (42) for ANY, MATCH or an empty name,
    CLUSTER_AUTHORIZATION_FAILED (31). An operation that such a resource does not have is not
    refused, and has no effect.
    """
    keys = list(bindings)
    for binding in keys:
        _check(binding)
    return await driver.run(CREATE_ACLS, keys, None, timeout=timeout)


async def delete_acls(
    driver: Driver, filters: Iterable[AclFilter], *, timeout: float | None = None
) -> Outcomes[AclFilter, Outcomes[AclBinding, None]]:
    """Remove every ACL that a filter matches; return the outcomes of each filter's ACLs.

    A filter that matches nothing is done, with no ACLs. Refused: SECURITY_DISABLED (54),
    CLUSTER_AUTHORIZATION_FAILED (31).
    """
    return await driver.run(DELETE_ACLS, filters, None, timeout=timeout)
