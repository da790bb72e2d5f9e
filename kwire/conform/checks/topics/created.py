"""Topics that CreateTopics makes, and those it does not make a second time (KIP-4, KIP-516)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.topics.creating import create, new_topic, some_broker
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import ConformanceVerdict, Need, ServerRole, guide, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic

SECTION = CheckSection("topics/created", "Topics that are created")

_ORDER = kafka("ReplicationControlManager.createTopics")


async def _exists(server: Server, name: str) -> Any:
    """Return the code of a topic that is created once more: TOPIC_ALREADY_EXISTS if it is there."""
    answer = await create(server, new_topic(name), validate_only=True)
    return answer.topics[0].error_code


@SECTION.refuses(1, guide("Error Codes"), ErrorCode.TOPIC_ALREADY_EXISTS, needs=Need.RESOURCES)
async def _(server: Server) -> Any:
    """A topic that exists gets"""
    name = server.name()
    expect_error(await create(server, new_topic(name)), ErrorCode.NONE)
    return await create(server, new_topic(name))


@SECTION.check(2, _ORDER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """TOPIC_ALREADY_EXISTS is reported before an unknown configuration and bad numbers."""
    name = server.name()
    expect_error(await create(server, new_topic(name)), ErrorCode.NONE)
    wrong = new_topic(name, partitions=0, replicas=0, configs={"no.such.config": "1"})
    expect_error(
        await create(server, wrong),
        ErrorCode.TOPIC_ALREADY_EXISTS,
        differs=(
            ErrorCode.INVALID_PARTITIONS,
            ErrorCode.INVALID_REPLICATION_FACTOR,
            ErrorCode.INVALID_CONFIG,
        ),
    )


@SECTION.refuses(
    3,
    kafka("ReplicationControlManager.validateNewTopicNames"),
    ErrorCode.INVALID_TOPIC_EXCEPTION,
    needs=Need.RESOURCES,
)
async def _(server: Server) -> Any:
    """A name that differs from an existing one only by `.` and `_` gets"""
    name = server.name()
    expect_error(await create(server, new_topic(f"{name}.x")), ErrorCode.NONE)
    return await create(server, new_topic(f"{name}_x"))


@SECTION.check(4, kafka("ControllerApis.createTopics"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A topic that stands twice in a request gets INVALID_REQUEST, and is not created."""
    name = server.name()
    expect_error(await create(server, new_topic(name), new_topic(name)), ErrorCode.INVALID_REQUEST)
    expect_equal("error", await _exists(server, name), ErrorCode.NONE)


@SECTION.check(5, kafka("ControllerApis.createTopics"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A topic that stands twice in a request does not keep the others from being created."""
    name, other = server.name(), server.name()
    answer = await create(server, new_topic(name), new_topic(other), new_topic(name))
    codes = {result.name: result.error_code for result in answer.topics}
    differs = codes == dict.fromkeys((name, other), ErrorCode.INVALID_REQUEST)
    verdict = ConformanceVerdict.DIFFERS if differs else ConformanceVerdict.FAIL
    expect_equal(
        "errors", codes, {name: ErrorCode.INVALID_REQUEST, other: ErrorCode.NONE}, otherwise=verdict
    )


@SECTION.check(6, kip(4, "CreateTopics"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """One topic's error does not keep the other topics from being created."""
    good, bad = server.name(), server.name()
    answer = await create(server, new_topic(bad, partitions=0), new_topic(good))
    codes = {result.name: result.error_code for result in answer.topics}
    expect_equal("errors", codes, {bad: ErrorCode.INVALID_PARTITIONS, good: ErrorCode.NONE})
    expect_equal("error", await _exists(server, good), ErrorCode.TOPIC_ALREADY_EXISTS)


@SECTION.check(7, kip(108, "Public Interfaces"))
async def _(server: Server) -> None:
    """A topic that is only validated is not created."""
    name = server.name()
    for _ in range(2):
        expect_error(await create(server, new_topic(name), validate_only=True), ErrorCode.NONE)


@SECTION.check(8, schema("CreateTopicsRequest"))
async def _(server: Server) -> None:
    """A request without topics gets an answer without topics."""
    expect_equal("topics", (await create(server)).topics, [])


@SECTION.check(12, schema("CreateTopicsResponse", "Topics"))
async def _(server: Server) -> None:
    """Each topic of a request is in the answer once, with its error or without."""
    topics = [new_topic(server.name(), partitions=count) for count in (1, 0, 2, -2)]
    answer = await create(server, *topics, validate_only=True)
    names = sorted(result.name for result in answer.topics)
    expect_equal("names", names, sorted(topic.name for topic in topics))


@SECTION.check(
    13, schema("CreateTopicsRequest", "Assignments"), role=ServerRole.BROKER, needs=Need.RESOURCES
)
async def _(server: Server) -> None:
    """With replicas assigned and both numbers -1, a topic has the assigned partitions."""
    name, broker = server.name(), some_broker(server)
    assignments = {0: (broker,), 1: (broker,)}
    topic = new_topic(name, partitions=-1, replicas=-1, assignments=assignments)
    expect_error(await create(server, topic), ErrorCode.NONE)
    await server.leader(name, 1)
    known = await server.ask(MetadataRequest(topics=[MetadataRequestTopic(name=name)]))
    replicas = {p.partition_index: p.replica_nodes for p in known.topics[0].partitions}
    expect_equal("replicas", replicas, assignments)
