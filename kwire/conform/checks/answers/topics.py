"""Whole answers about topics: what is created, grown and deleted."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.topics.creating import create, new_topic
from kwire.conform.expectation import expect_error, first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, schema
from kwire.conform.whole_answer import (
    AN_ID,
    ANYTHING,
    expect_in_each_version,
    expect_whole,
    of_version,
)
from kwire.error_codes import ErrorCode
from kwire.messages import a19_create_topics as created
from kwire.messages import a20_delete_topics as deleted
from kwire.messages import a32_describe_configs as described
from kwire.messages import a37_create_partitions as grown
from kwire.messages.config_resource import ConfigSource, ResourceType

SECTION = CheckSection("answers/topics", "Topics that come, grow and go")

_KEY, _VALUE = "retention.ms", "8000"


async def _configs(server: Server, name: str) -> Any:
    """Return a topic's configurations, as DescribeConfigs names them, for CreateTopics."""
    resource = described.DescribeConfigsResource(
        resource_type=ResourceType.TOPIC, resource_name=name, configuration_keys=None
    )
    request = described.DescribeConfigsRequest(resources=[resource])

    async def known() -> Any:
        answer = await server.ask_controller(request)
        return None if first_error(answer) else answer

    answer = await server.wait_for("the topic's configurations", known)
    configs = [
        created.CreatableTopicConfigs(
            name=config.name,
            value=_VALUE if config.name == _KEY else ANYTHING,
            config_source=ConfigSource.TOPIC if config.name == _KEY else ANYTHING,
        )
        for config in answer.results[0].configs
    ]
    return configs


@SECTION.check(1, schema("CreateTopicsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """CreateTopics answers a topic with its id, size and configurations, in every version."""
    connection = await server.connection()
    for version in connection.offered(created.CreateTopicsRequest):
        topic = new_topic(server.name(), partitions=2, configs={_KEY: _VALUE})
        answer = await create(server, topic, version=version)
        expect_error(answer, ErrorCode.NONE)
        result = created.CreatableTopicResult(
            name=topic.name,
            topic_id=AN_ID,
            num_partitions=2,
            replication_factor=1,
            configs=await _configs(server, topic.name),
        )
        expect_whole(answer, created.CreateTopicsResponse(topics=[result]), version)


@SECTION.check(2, schema("DeleteTopicsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """DeleteTopics answers each topic once, by name and id, in every version."""
    connection = await server.connection()
    missing = server.name()
    for version in connection.offered(deleted.DeleteTopicsRequest):
        topic = (await create(server, new_topic(server.name()))).topics[0]
        expect_error(topic, ErrorCode.NONE)
        names = (topic.name, missing)
        request = deleted.DeleteTopicsRequest(
            topics=[deleted.DeleteTopicState(name=name) for name in names],
            topic_names=names,
            timeout_ms=10_000,
        )
        answer = await server.ask_controller(of_version(request, version), version)
        results = [
            deleted.DeletableTopicResult(name=topic.name, topic_id=topic.topic_id),
            deleted.DeletableTopicResult(
                name=missing, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            ),
        ]
        expect_whole(answer, deleted.DeleteTopicsResponse(responses=results), version)


@SECTION.check(3, schema("CreatePartitionsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """CreatePartitions answers each topic once, by name, in every version."""
    name, missing = server.name(), server.name()
    expect_error(await create(server, new_topic(name)), ErrorCode.NONE)
    topics = [
        grown.CreatePartitionsTopic(name=each, count=2, assignments=None)
        for each in (name, missing)
    ]
    results = [
        grown.CreatePartitionsTopicResult(name=name),
        grown.CreatePartitionsTopicResult(
            name=missing, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        ),
    ]
    await expect_in_each_version(
        await server.connection(),
        grown.CreatePartitionsRequest(topics=topics, timeout_ms=10_000, validate_only=True),
        grown.CreatePartitionsResponse(results=results),
        server.ask_controller,
    )
