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
    filled,
    of_version,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
)
from kwire.messages.config_resource import ConfigSource, ResourceType

SECTION = CheckSection("answers/topics", "Topics that come, grow and go")

_KEY, _VALUE = "retention.ms", "8000"


async def _configs(server: Server, name: str) -> Any:
    """Return a topic's configurations, as DescribeConfigs names them, for CreateTopics."""
    resource = {"resource_type": ResourceType.TOPIC, "resource_name": name}
    request = filled(DescribeConfigsRequest, resources=[{**resource, "configuration_keys": None}])

    async def known() -> Any:
        answer = await server.ask_controller(request)
        return None if first_error(answer) else answer

    answer = await server.wait_for("the topic's configurations", known)
    own = {"name": _KEY, "value": _VALUE, "config_source": ConfigSource.TOPIC}
    others = [config.name for config in answer.results[0].configs if config.name != _KEY]
    return [own] + [{"name": n, "value": ANYTHING, "config_source": ANYTHING} for n in others]


@SECTION.check(1, schema("CreateTopicsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """CreateTopics answers a topic with its id, size and configurations, in every version."""
    for version in (await server.connection()).offered(CreateTopicsRequest):
        topic = new_topic(server.name(), partitions=2, configs={_KEY: _VALUE})
        answer = await create(server, topic, version=version)
        expect_error(answer, ErrorCode.NONE)
        result = {
            "name": topic.name,
            "topic_id": AN_ID,
            "num_partitions": 2,
            "replication_factor": 1,
            "configs": await _configs(server, topic.name),
        }
        expect_whole(answer, {"topics": [result]}, version)


@SECTION.check(2, schema("DeleteTopicsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """DeleteTopics answers each topic once, by name and id, in every version."""
    missing = _missing(server.name())
    for version in (await server.connection()).offered(DeleteTopicsRequest):
        topic = (await create(server, new_topic(server.name()))).topics[0]
        expect_error(topic, ErrorCode.NONE)
        names = topic.name, missing["name"]
        named = [{"name": name} for name in names]
        request = filled(DeleteTopicsRequest, topics=named, topic_names=names, timeout_ms=10_000)
        answer = await server.ask_controller(of_version(request, version), version)
        results = [{"name": topic.name, "topic_id": topic.topic_id}, missing]
        expect_whole(answer, {"responses": results}, version)


def _missing(name: str) -> dict[str, Any]:
    return {"name": name, "error_code": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


@SECTION.check(3, schema("CreatePartitionsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """CreatePartitions answers each topic once, by name, in every version."""
    name, missing = server.name(), _missing(server.name())
    expect_error(await create(server, new_topic(name)), ErrorCode.NONE)
    topics = [{"name": n, "count": 2, "assignments": None} for n in (name, missing["name"])]
    request = filled(CreatePartitionsRequest, topics=topics, timeout_ms=10_000, validate_only=True)
    expected = {"results": [{"name": name}, missing]}
    connection = await server.connection()
    await expect_in_each_version(connection, request, expected, server.ask_controller)
