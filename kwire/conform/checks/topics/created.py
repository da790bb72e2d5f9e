"""Topics that CreateTopics makes, and those it does not make a second time (KIP-4, KIP-516)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kwire.conform.check import CheckSection, scenario
from kwire.conform.checks.topics.creating import create, new_topic, some_broker
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.needs import Need, ServerRole
from kwire.conform.server import Server
from kwire.conform.source import kafka, kip, schema
from kwire.conform.verdict import ConformanceVerdict
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a19_create_topics import CreateTopicsRequest

_ORDER = kafka("ReplicationControlManager.createTopics")
_NIL = UUID(int=0)


async def _exists(server: Server, name: str) -> Any:
    """Return the code of a topic that is created once more: 36 if it exists."""
    answer = await create(server, new_topic(name), validate_only=True)
    return answer.topics[0].error_code


@scenario("A topic that exists gets TOPIC_ALREADY_EXISTS.", _ORDER, needs=Need.RESOURCES)
async def _existing(server: Server) -> None:
    name = server.name()
    expect_error(await create(server, new_topic(name)), 0)
    expect_error(await create(server, new_topic(name)), 36)


@scenario(
    "TOPIC_ALREADY_EXISTS is reported before an unknown configuration and bad numbers.",
    _ORDER,
    needs=Need.RESOURCES,
)
async def _existing_first(server: Server) -> None:
    name = server.name()
    expect_error(await create(server, new_topic(name)), 0)
    wrong = new_topic(name, partitions=0, replicas=0, configs={"no.such.config": "1"})
    expect_error(await create(server, wrong), 36, differs=(37, 38, 40))


@scenario(
    "A name that differs from an existing one only by `.` and `_` gets INVALID_TOPIC_EXCEPTION.",
    kafka("ReplicationControlManager.validateNewTopicNames"),
    needs=Need.RESOURCES,
)
async def _collision(server: Server) -> None:
    name = server.name()
    expect_error(await create(server, new_topic(f"{name}.x")), 0)
    expect_error(await create(server, new_topic(f"{name}_x")), 17)


@scenario(
    "A topic that stands twice in a request gets INVALID_REQUEST, and is not created.",
    kip(4, "CreateTopics"),
    needs=Need.RESOURCES,
)
async def _twice(server: Server) -> None:
    name = server.name()
    expect_error(await create(server, new_topic(name), new_topic(name)), 42)
    expect_equal("error", await _exists(server, name), 0)


@scenario(
    "A topic that stands twice in a request does not keep the others from being created.",
    kafka("ControllerApis.createTopics"),
    needs=Need.RESOURCES,
)
async def _twice_beside_another(server: Server) -> None:
    name, other = server.name(), server.name()
    answer = await create(server, new_topic(name), new_topic(other), new_topic(name))
    codes = {result.name: result.error_code for result in answer.topics}
    differs = codes == {name: 42, other: 42}
    verdict = ConformanceVerdict.DIFFERS if differs else ConformanceVerdict.FAIL
    expect_equal("errors", codes, {name: 42, other: 0}, otherwise=verdict)


@scenario(
    "One topic's error does not keep the other topics from being created.",
    kip(4, "CreateTopics"),
    needs=Need.RESOURCES,
)
async def _one_of_two(server: Server) -> None:
    good, bad = server.name(), server.name()
    answer = await create(server, new_topic(bad, partitions=0), new_topic(good))
    codes = {result.name: result.error_code for result in answer.topics}
    expect_equal("errors", codes, {bad: 37, good: 0})
    expect_equal("error", await _exists(server, good), 36)


@scenario("A topic that is only validated is not created.", kip(4, "CreateTopics"))
async def _validated(server: Server) -> None:
    name = server.name()
    for _ in range(2):
        expect_error(await create(server, new_topic(name), validate_only=True), 0)


@scenario("A request without topics gets an answer without topics.", schema("CreateTopicsRequest"))
async def _none(server: Server) -> None:
    expect_equal("topics", (await create(server)).topics, [])


@scenario(
    "The answer has the number of partitions and the replication factor of a new topic.",
    kip(525, "Public Interfaces"),
    needs=Need.RESOURCES,
)
async def _counts(server: Server) -> None:
    (await server.connection()).demand_since(CreateTopicsRequest, 5)
    result = (await create(server, new_topic(server.name(), partitions=3))).topics[0]
    came = (result.error_code, result.num_partitions, result.replication_factor)
    expect_equal("error, partitions, replicas", came, (0, 3, 1))


@scenario(
    "The answer has the values of a new topic's configurations.",
    kip(525, "Public Interfaces"),
    needs=Need.RESOURCES,
)
async def _configs(server: Server) -> None:
    (await server.connection()).demand_since(CreateTopicsRequest, 5)
    topic = new_topic(server.name(), configs={"retention.ms": "86400000"})
    result = (await create(server, topic)).topics[0]
    values = {config.name: config.value for config in result.configs or ()}
    expect_equal("retention.ms", values.get("retention.ms"), "86400000")


@scenario(
    "The answer has the id by which Metadata then knows a new topic.",
    kip(516, "CreateTopics"),
    role=ServerRole.BROKER,
    needs=Need.RESOURCES,
)
async def _topic_id(server: Server) -> None:
    (await server.connection()).demand_since(CreateTopicsRequest, 7)
    (await server.connection()).demand_since(MetadataRequest, 10)
    name = server.name()
    result = (await create(server, new_topic(name))).topics[0]
    expect(result.topic_id != _NIL, "a topic id other than zero", result.topic_id)
    await server.leader(name)
    known = await server.ask(MetadataRequest(topics=[MetadataRequestTopic(name=name)]))
    expect_equal("topic id", known.topics[0].topic_id, result.topic_id)


@scenario(
    "Each topic of a request is in the answer once, with its error or without.",
    schema("CreateTopicsResponse", "Topics"),
)
async def _each_once(server: Server) -> None:
    topics = [new_topic(server.name(), partitions=count) for count in (1, 0, 2, -2)]
    answer = await create(server, *topics, validate_only=True)
    names = sorted(result.name for result in answer.topics)
    expect_equal("names", names, sorted(topic.name for topic in topics))


@scenario(
    "With replicas assigned and both numbers -1, a topic has the assigned partitions.",
    schema("CreateTopicsRequest", "Assignments"),
    role=ServerRole.BROKER,
    needs=Need.RESOURCES,
)
async def _assigned(server: Server) -> None:
    name, broker = server.name(), some_broker(server)
    assignments = {0: (broker,), 1: (broker,)}
    topic = new_topic(name, partitions=-1, replicas=-1, assignments=assignments)
    expect_error(await create(server, topic), 0)
    await server.leader(name, 1)
    known = await server.ask(MetadataRequest(topics=[MetadataRequestTopic(name=name)]))
    replicas = {p.partition_index: p.replica_nodes for p in known.topics[0].partitions}
    expect_equal("replicas", replicas, assignments)


SECTION = CheckSection(
    "topics/created",
    "Topics that are created",
    {
        1: _existing,
        2: _existing_first,
        3: _collision,
        4: _twice,
        5: _twice_beside_another,
        6: _one_of_two,
        7: _validated,
        8: _none,
        9: _counts,
        10: _configs,
        11: _topic_id,
        12: _each_once,
        13: _assigned,
    },
)
