"""The permissions of the sender of one request, as handlers ask for them (Java: AuthHelper)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.access_control import CLUSTER_NAME, AclOperation, AclResourceType


class Access(Protocol):
    """Tells what the sender of a request may do."""

    def permits(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        """Return True if the operation on that resource is allowed."""
        ...


class FullAccess:
    """The access of everybody, where no authorizer is configured."""

    def permits(self, operation: AclOperation, resource_type: AclResourceType, name: str) -> bool:
        """Return True."""
        return True


FULL_ACCESS = FullAccess()

_CLUSTER_OPERATIONS = (
    AclOperation.CREATE,
    AclOperation.ALTER,
    AclOperation.DESCRIBE,
    AclOperation.CLUSTER_ACTION,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
    AclOperation.IDEMPOTENT_WRITE,
)
"""The operations that ACLs of the cluster may have (Java: AclEntry.supportedOperations)."""

AUTHORIZATION_FAILED: Mapping[AclResourceType, ErrorCode] = MappingProxyType(
    {
        AclResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        AclResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
        AclResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    }
)
"""The error of a denied operation, by the type of its resource."""


def permits_on_cluster(access: Access, operation: AclOperation) -> bool:
    """Return True if the operation on the cluster is allowed."""
    return access.permits(operation, AclResourceType.CLUSTER, CLUSTER_NAME)


def permitted_topics(access: Access, operation: AclOperation, names: Iterable[str]) -> set[str]:
    """Return those of the topics on which the operation is allowed."""
    return {name for name in names if access.permits(operation, AclResourceType.TOPIC, name)}


def check_cluster(access: Access, operation: AclOperation) -> None:
    """Raise CLUSTER_AUTHORIZATION_FAILED unless the operation on the cluster is allowed."""
    if not permits_on_cluster(access, operation):
        text = f"{operation.name} on the cluster is not allowed."
        raise ApiError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, text)


def check_resource(
    access: Access, operation: AclOperation, resource_type: AclResourceType, name: str
) -> None:
    """Raise the `AUTHORIZATION_FAILED` of a resource unless the operation on it is allowed."""
    if not access.permits(operation, resource_type, name):
        text = f"{operation.name} on {resource_type.name.lower()} {name} is not allowed."
        raise ApiError(AUTHORIZATION_FAILED[resource_type], text)


def cluster_operations(access: Access) -> int:
    """Return the operations on the cluster that are allowed, as bits; 0 if DESCRIBE is not."""
    if not permits_on_cluster(access, AclOperation.DESCRIBE):
        return 0
    permitted = (op for op in _CLUSTER_OPERATIONS if permits_on_cluster(access, op))
    return sum(1 << operation for operation in permitted)
