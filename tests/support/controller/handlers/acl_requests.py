"""A controller with an authorizer, and requests about ACLs."""

from typing import Any

from kwire.controller.authorization.standard_authorizer import StandardAuthorizer
from kwire.messages.a30_create_acls import AclCreation, CreateAclsRequest
from kwire.messages.access_control import (
    CLUSTER_NAME,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kwire.net.service import ANONYMOUS
from tests.support.controller.handlers.lab import Lab

ALICE = "User:alice"


def guarded(*, brokers: tuple[int, ...] = (1, 2, 3), **config: Any) -> Lab:
    """A lab in which ANONYMOUS is a super user, with active brokers."""
    lab = Lab(authorizer=StandardAuthorizer(super_users=frozenset({ANONYMOUS})), **config)
    lab.start(*brokers)
    return lab


def creation(operation: AclOperation, name: str = "foo", **changes: Any) -> AclCreation:
    """An ACL that allows alice an operation on a topic."""
    return AclCreation(
        resource_type=AclResourceType.TOPIC,
        resource_name=name,
        resource_pattern_type=PatternType.LITERAL,
        principal=ALICE,
        host="*",
        operation=operation,
        permission_type=AclPermission.ALLOW,
    ).replace(**changes)


def on_cluster(operation: AclOperation, **changes: Any) -> AclCreation:
    """An ACL that allows alice an operation on the cluster."""
    type = AclResourceType.CLUSTER
    return creation(operation, CLUSTER_NAME, resource_type=type, **changes)


def allow(lab: Lab, *creations: AclCreation) -> None:
    """Create ACLs as the super user."""
    response = lab.ask(CreateAclsRequest(creations=list(creations)))
    assert [result.error_code for result in response.results] == [0] * len(creations)
