"""ACLs: questions that real Kafka survives, an outcome for each ACL, many in several requests."""

from dataclasses import replace
from typing import Any

import pytest

from kwire.admin import AdminClient, acls
from kwire.admin.acls import AclBinding, AclFilter
from kwire.admin.errors import MissingFromAnswer, OutcomeUnknown
from kwire.errors import BrokerError, InvalidValue, UnsupportedVersion
from kwire.messages import a29_describe_acls as described
from kwire.messages import a30_create_acls as created
from kwire.messages import a31_delete_acls as deleted
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kwire.net.frames import RequestFrame
from scripted_node import api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers

READ = AclBinding(
    resource_type=AclResourceType.TOPIC,
    resource_name="orders",
    principal="User:alice",
    operation=AclOperation.READ,
)
WRITE = replace(READ, operation=AclOperation.WRITE, permission=AclPermission.DENY, host="10.0.0.1")


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(bootstrap_servers=brokers.addresses, timeout=60)


async def test_by_default_every_acl_is_asked_for() -> None:
    """Zeros, a request's own defaults, make real Kafka close the connection."""

    def script(request: RequestFrame) -> described.DescribeAclsResponse:
        resource = described.DescribeAclsResource(
            resource_type=2,
            resource_name="orders",
            pattern_type=3,
            acls=[
                described.AclDescription(
                    principal="User:alice", host="*", operation=3, permission_type=3
                ),
                described.AclDescription(
                    principal="User:alice", host="10.0.0.1", operation=4, permission_type=2
                ),
                described.AclDescription(
                    principal="User:alice", host="*", operation=99, permission_type=3
                ),
            ],
        )
        return described.DescribeAclsResponse(resources=[resource])

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[described.DescribeAclsRequest] = script
        assert await admin.describe_acls() == (READ, WRITE, replace(READ, operation=99))
        (request,) = brokers.nodes[0].requests(described.DescribeAclsRequest)
    assert request == described.DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )


@pytest.mark.parametrize("field", ["resource_type", "pattern_type", "operation", "permission"])
async def test_a_zero_is_refused_before_it_is_sent(field: str) -> None:
    zero: dict[str, Any] = {field: 0}
    with pytest.raises(InvalidValue, match="UNKNOWN"):
        AclFilter(**zero)
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        with pytest.raises(InvalidValue, match="UNKNOWN"):
            await admin.create_acls([replace(READ, **zero)])
        assert not brokers.nodes[0].asked


async def test_results_are_those_of_the_acls_in_their_order() -> None:
    lost = replace(READ, resource_name="left-out")

    def script(request: RequestFrame) -> created.CreateAclsResponse:
        results = [
            created.AclCreationResult(),
            created.AclCreationResult(error_code=42, error_message="no"),
        ]
        return created.CreateAclsResponse(results=results)

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[created.CreateAclsRequest] = script
        outcomes = await admin.create_acls([READ, WRITE, lost])
    assert list(outcomes) == [READ]
    assert str(outcomes.failed[WRITE]) == "INVALID_REQUEST: no"
    assert isinstance(outcomes.failed[lost], MissingFromAnswer | OutcomeUnknown)


async def test_many_acls_are_created_in_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acls, "BATCH", 2)
    many = [replace(READ, resource_name=f"t{number}") for number in range(5)]

    def script(request: RequestFrame) -> created.CreateAclsResponse:
        assert isinstance(request.body, created.CreateAclsRequest)
        results = [
            created.AclCreationResult(error_code=42 if creation.resource_name == "t3" else 0)
            for creation in request.body.creations
        ]
        return created.CreateAclsResponse(results=results)

    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[created.CreateAclsRequest] = script
        outcomes = await admin.create_acls(many)
        requests = brokers.nodes[0].requests(created.CreateAclsRequest)
    assert [acl.resource_name for acl in outcomes] == ["t0", "t1", "t2", "t4"]
    assert list(outcomes.failed) == [many[3]]
    assert len(requests) == 3


async def test_each_filter_tells_what_it_removed() -> None:
    def script(request: RequestFrame) -> deleted.DeleteAclsResponse:
        def match(acl: AclBinding, code: int = 0) -> deleted.DeleteAclsMatchingAcl:
            return deleted.DeleteAclsMatchingAcl(
                error_code=code,
                resource_type=acl.resource_type,
                resource_name=acl.resource_name,
                pattern_type=acl.pattern_type,
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission,
            )

        return deleted.DeleteAclsResponse(
            filter_results=[
                deleted.DeleteAclsFilterResult(matching_acls=[match(READ), match(WRITE, 29)]),
                deleted.DeleteAclsFilterResult(error_code=54),
            ]
        )

    topics = AclFilter(resource_type=AclResourceType.TOPIC)
    exact = AclFilter.of(WRITE)
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.nodes[0].scripts[deleted.DeleteAclsRequest] = script
        outcomes = await admin.delete_acls([topics, exact])
        (request,) = brokers.nodes[0].requests(deleted.DeleteAclsRequest)
    assert list(outcomes[topics]) == [READ]
    assert list(outcomes[topics].failed) == [WRITE]
    assert isinstance(outcomes.failed[exact], BrokerError)
    assert isinstance(request, deleted.DeleteAclsRequest)
    assert request.filters[1] == deleted.DeleteAclsFilter(
        resource_type_filter=2,
        resource_name_filter="orders",
        pattern_type_filter=3,
        principal_filter="User:alice",
        host_filter="10.0.0.1",
        operation=4,
        permission_type=2,
    )


async def test_a_node_older_than_acls_on_users_is_not_asked_for_them() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        node = brokers.nodes[0]
        node.scripts[described.DescribeAclsRequest] = lambda request: (
            described.DescribeAclsResponse()
        )
        scripts = tuple(node.scripts)
        node.scripts[ApiVersionsRequest] = lambda request: api_versions(
            *scripts, DescribeAcls=(0, 2)
        )
        assert await admin.describe_acls() == ()
        with pytest.raises(UnsupportedVersion, match=r"older than Kafka 3\.3"):
            await admin.describe_acls(AclFilter(resource_type=AclResourceType.USER))


def test_an_acl_reads_as_a_sentence() -> None:
    prefixed = replace(WRITE, pattern_type=PatternType.PREFIXED)
    assert str(prefixed) == "DENY User:alice from 10.0.0.1 WRITE on PREFIXED TOPIC orders"
