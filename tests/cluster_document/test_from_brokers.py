"""The document of scripted brokers: what is set, and what it is not known that it is."""

from collections.abc import AsyncIterator
from typing import cast

import pytest

from kwire.admin import AdminClient
from kwire.cluster_document.document import ClusterDocument, DocumentSection
from kwire.cluster_document.from_brokers import document_of_brokers
from kwire.errors import BrokerError
from kwire.messages import a29_describe_acls as acls
from kwire.messages import a32_describe_configs as configs
from kwire.messages.config_resource import ConfigSource
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers

WANTED = ClusterDocument.model_validate(
    {
        "version": 1,
        "topics": [{"name": "orders", "partitions": 1}, {"name": "new", "partitions": 1}],
        "configs": [{"type": "brokers", "name": "7", "configs": {"log.cleaner.threads": "2"}}],
        "acls": [],
    }
)


def describe(request: RequestFrame) -> configs.DescribeConfigsResponse:
    """Tell one key that is set and one by default, and a password; refuse the topic `secret`."""
    values = [
        ("retention.ms", "5", ConfigSource.TOPIC, False),
        ("a.password", None, ConfigSource.TOPIC, True),
        ("cleanup.policy", "delete", ConfigSource.DEFAULT, False),
    ]
    return configs.DescribeConfigsResponse(
        results=[
            configs.DescribeConfigsResult(
                error_code=29 * (resource.resource_name == "secret"),
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
                configs=[
                    configs.DescribeConfigsResourceResult(
                        name=name, value=value, config_source=source, is_sensitive=is_sensitive
                    )
                    for name, value, source, is_sensitive in values
                ],
            )
            for resource in cast(configs.DescribeConfigsRequest, request.body).resources
        ]
    )


@pytest.fixture
async def brokers() -> AsyncIterator[ScriptedBrokers]:
    async with scripted_brokers(1) as brokers:
        node = brokers.nodes[0]
        node.scripts[configs.DescribeConfigsRequest] = describe
        node.scripts[acls.DescribeAclsRequest] = lambda request: acls.DescribeAclsResponse(
            error_code=54
        )
        brokers.leaders = {("orders", 0): 0, ("orders", 1): 0, ("secret", 0): 0}
        yield brokers


async def test_what_is_set_is_told_and_defaults_are_not(brokers: ScriptedBrokers) -> None:
    async with AdminClient(brokers.addresses[0]) as admin:
        document = await document_of_brokers(admin, WANTED)
    assert document.cluster_id == "scripted"
    assert {topic.name: topic.partitions for topic in document.topics or ()} == {
        "orders": 2,
        "secret": 1,
    }
    told = {topic.name: topic.configs for topic in document.topics or ()}
    assert told == {"orders": {"a.password": None, "retention.ms": "5"}, "secret": None}
    # A broker that is not there, and a cluster without an authorizer, have nothing set.
    assert document.configs == ()
    assert document.acls == ()
    assert document.quotas is None


async def test_configuration_that_may_not_be_read_is_not_taken_for_none(
    brokers: ScriptedBrokers,
) -> None:
    wanted = ClusterDocument.model_validate(
        {"version": 1, "topics": [{"name": "secret", "partitions": 1}]}
    )
    async with AdminClient(brokers.addresses[0]) as admin:
        with pytest.raises(BrokerError, match="AUTHORIZATION_FAILED: configuration of secret: "):
            await document_of_brokers(admin, wanted, [DocumentSection.TOPICS])
