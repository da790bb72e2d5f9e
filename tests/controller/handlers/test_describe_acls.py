"""DescribeAcls, after Kafka's StandardAuthorizerTest and ResourcePatternFilter."""

from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from tests.support.controller.handlers.acl_requests import allow, creation, guarded, on_cluster
from tests.support.controller.handlers.lab import Lab

READ = AclOperation.READ
PREFIXED, LITERAL = PatternType.PREFIXED, PatternType.LITERAL


def describe(lab: Lab, **changes: Any) -> list[tuple[int, str, int]]:
    """Type, name and pattern type of the resources whose ACLs a filter matches."""
    request = DescribeAclsRequest(
        resource_type_filter=AclResourceType.ANY,
        resource_name_filter=None,
        principal_filter=None,
        host_filter=None,
        pattern_type_filter=PatternType.ANY,
        operation=AclOperation.ANY,
        permission_type=AclPermission.ANY,
    ).replace(**changes)
    response = lab.ask(request)
    assert (response.error_code, response.error_message) == (0, "")
    return sorted(
        (resource.resource_type, resource.resource_name, resource.pattern_type)
        for resource in response.resources
    )


@pytest.fixture
def rules() -> Lab:
    """A lab with an ACL of each kind."""
    lab = guarded()
    allow(
        lab,
        creation(READ, "foo"),
        creation(READ, "foo", host="10.0.0.1"),
        creation(READ, "fo", resource_pattern_type=PREFIXED),
        creation(READ, "bar", resource_pattern_type=PREFIXED, principal="User:bob"),
        creation(READ, "*", permission_type=AclPermission.DENY),
        on_cluster(AclOperation.ALTER),
    )
    return lab


FOO, FO, BAR = (2, "foo", LITERAL), (2, "fo", PREFIXED), (2, "bar", PREFIXED)
STAR, CLUSTER = (2, "*", LITERAL), (4, "kafka-cluster", LITERAL)


@pytest.mark.parametrize(
    ("changes", "resources"),
    [
        ({}, [STAR, BAR, FO, FOO, CLUSTER]),
        ({"resource_type_filter": AclResourceType.TOPIC}, [STAR, BAR, FO, FOO]),
        ({"pattern_type_filter": PREFIXED}, [BAR, FO]),
        ({"resource_name_filter": "foo"}, [FOO]),
        ({"resource_name_filter": "foo", "pattern_type_filter": PREFIXED}, []),
        (
            {"resource_name_filter": "foo", "pattern_type_filter": PatternType.MATCH},
            [STAR, FO, FOO],
        ),
        ({"pattern_type_filter": PatternType.MATCH}, [STAR, BAR, FO, FOO, CLUSTER]),
        ({"principal_filter": "User:bob"}, [BAR]),
        ({"host_filter": "10.0.0.1"}, [FOO]),
        ({"operation": AclOperation.ALTER}, [CLUSTER]),
        ({"permission_type": AclPermission.DENY}, [STAR]),
        ({"operation": 99}, []),
        ({"resource_type_filter": 99}, []),
    ],
    ids=str,
)
def test_a_filter_matches(
    rules: Lab, changes: dict[str, Any], resources: list[tuple[int, str, int]]
) -> None:
    assert describe(rules, **changes) == resources


def test_the_acls_of_a_resource_are_together(rules: Lab) -> None:
    request = DescribeAclsRequest(
        resource_type_filter=AclResourceType.TOPIC,
        resource_name_filter="foo",
        principal_filter=None,
        host_filter=None,
        operation=AclOperation.ANY,
        permission_type=AclPermission.ANY,
    )

    (resource,) = rules.ask(request).resources

    assert sorted(acl.host for acl in resource.acls) == ["*", "10.0.0.1"]


def test_every_controller_answers(rules: Lab) -> None:
    rules.controller.resign()

    assert len(describe(rules)) == 5


def test_without_an_authorizer_there_are_no_acls_to_describe(lab: Lab) -> None:
    response = lab.ask(DescribeAclsRequest(resource_type_filter=1, operation=1, permission_type=1))

    assert response.error_code == ErrorCode.SECURITY_DISABLED
