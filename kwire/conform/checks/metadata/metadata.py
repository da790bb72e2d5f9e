"""Metadata v0-v13 (KIP-4, KIP-430, KIP-516; Java: KafkaApis.handleTopicMetadataRequest)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from kwire.conform.check import CheckSection
from kwire.conform.checks.records.log import new_log
from kwire.conform.expectation import expect, expect_equal, expect_error, expect_operations
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, Skipped, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a23_offset_for_leader_epoch import OffsetForLeaderEpochRequest

SECTION = CheckSection("metadata/metadata", "Metadata: topics, ids, operations")

_BROKER = ServerRole.BROKER
_UNSET = -(2**31)
_OFFSETS = "__consumer_offsets"


async def _ask(server: Server, *names: str, version: int | None = None) -> Any:
    """Ask for topics by name, without having them created."""
    topics = [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    return await server.ask(request, version)


@SECTION.check(1, schema("MetadataRequest", "Topics"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """From v1 on null stands for all topics."""
    name = await server.topic()
    answer = await server.ask(MetadataRequest(topics=None))
    names = [topic.name for topic in answer.topics]
    expect(name in names, f"{name} among the topics", names)


@SECTION.check(2, schema("MetadataRequest", "Topics"), role=_BROKER)
async def _(server: Server) -> None:
    """From v1 on an empty list stands for no topics."""
    answer = await server.ask(MetadataRequest(topics=[]))
    expect_equal("topics", [topic.name for topic in answer.topics], [])
    expect(answer.brokers, "brokers", "none")


@SECTION.check(3, schema("MetadataRequest", "Topics"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """In v0 an empty list stands for all topics."""
    (await server.connection()).demand(MetadataRequest, 0)
    name = await server.topic()
    answer = await server.ask(MetadataRequest(topics=[]), 0)
    names = [topic.name for topic in answer.topics]
    expect(name in names, f"{name} among the topics", names)


@SECTION.check(5, schema("MetadataRequest", "AllowAutoTopicCreation"), role=_BROKER)
async def _(server: Server) -> None:
    """Without allow_auto_topic_creation, asking for a topic does not create it."""
    name = server.name()
    server.remove_afterwards(f"topic {name}", lambda: server.delete_topic(name))
    for _ in range(3):
        answer = await _ask(server, name)
        expect_error(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    names = [topic.name for topic in (await server.ask(MetadataRequest(topics=None))).topics]
    expect(name not in names, f"no topic {name}", "one")


@SECTION.refuses(
    6,
    kafka("Topic.validate"),
    ErrorCode.INVALID_TOPIC_EXCEPTION,
    differs=(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,),
    role=_BROKER,
)
async def _(server: Server) -> Any:
    """A name that no topic can have gets"""
    return await _ask(server, "kwire-conform-bad name")


@SECTION.check(7, kip(516, "Metadata"), role=_BROKER)
async def _(server: Server) -> None:
    """An id that no topic has gets UNKNOWN_TOPIC_ID."""
    (await server.connection()).demand_since(MetadataRequest, 12)
    topic = MetadataRequestTopic(topic_id=uuid4(), name=None)
    answer = await server.ask(MetadataRequest(topics=[topic], allow_auto_topic_creation=False))
    expect_error(answer, ErrorCode.UNKNOWN_TOPIC_ID)
    came = (answer.topics[0].topic_id, answer.topics[0].partitions)
    expect_equal("topic id, partitions", came, (topic.topic_id, []))


@SECTION.check(8, kip(516, "Metadata"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A topic asked for by its id is answered with its name."""
    (await server.connection()).demand_since(MetadataRequest, 12)
    name = await server.topic()
    topic_id = await server.topic_id(name)
    topic = MetadataRequestTopic(topic_id=topic_id, name=None)
    answer = await server.ask(MetadataRequest(topics=[topic]))
    expect_error(answer, ErrorCode.NONE)
    expect_equal("name", answer.topics[0].name, name)


@SECTION.check(9, schema("MetadataResponse", "ErrorCode"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """One unknown topic does not keep another from being described."""
    name, other = await server.topic(), server.name()
    answer = await _ask(server, other, name)
    codes = {topic.name: topic.error_code for topic in answer.topics}
    expect_equal(
        "errors", codes, {other: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name: ErrorCode.NONE}
    )


@SECTION.check(
    10, kafka("KafkaApis.handleTopicMetadataRequest"), role=_BROKER, needs=Need.RESOURCES
)
async def _(server: Server) -> None:
    """A topic that is asked for twice is in the answer once."""
    name = await server.topic()
    answer = await _ask(server, name, name)
    expect_equal("names", [topic.name for topic in answer.topics], [name])


@SECTION.check(
    11, schema("MetadataResponse", "TopicAuthorizedOperations"), role=_BROKER, needs=Need.RESOURCES
)
async def _(server: Server) -> None:
    """Authorized operations that were not asked for are -2147483648."""
    (await server.connection()).demand(MetadataRequest, 8)
    answer = await _ask(server, await server.topic(), version=8)
    came = (answer.topics[0].topic_authorized_operations, answer.cluster_authorized_operations)
    expect_equal("operations on topic, cluster", came, (_UNSET, _UNSET))


@SECTION.check(12, kip(430, "Public Interfaces"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """Authorized operations that were asked for are bits of operations."""
    (await server.connection()).demand(MetadataRequest, 8)
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=await server.topic())],
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
    )
    answer = await server.ask(request, 8)
    topic = answer.topics[0]
    expect_operations(topic.topic_authorized_operations, answer.cluster_authorized_operations)


@SECTION.check(13, schema("MetadataResponse"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """Every leader, replica and controller that Metadata names is a broker of its list."""
    answer = await _ask(server, await server.topic(partitions=3))
    brokers = {broker.node_id for broker in answer.brokers}
    named = {answer.controller_id} - {-1}
    for partition in answer.topics[0].partitions:
        named |= {partition.leader_id, *partition.replica_nodes, *partition.isr_nodes}
    expect(named <= brokers, f"nodes among {sorted(brokers)}", sorted(named))


@SECTION.check(15, kip(320, "Metadata"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A partition's leader epoch, from v7 on, is that which its leader has."""
    (await server.connection()).demand_since(MetadataRequest, 7)
    log = await new_log(server)
    epoch = (await _ask(server, log.topic)).topics[0].partitions[0].leader_epoch
    expect(epoch >= 0, "a leader epoch", epoch)
    log.leader.demand_since(OffsetForLeaderEpochRequest, 2)
    codes = [(await log.end_of_epoch(0, current=epoch + step)).error_code for step in (0, 1)]
    expect_equal(
        "errors of this epoch and the next", codes, [ErrorCode.NONE, ErrorCode.UNKNOWN_LEADER_EPOCH]
    )


@SECTION.check(17, schema("MetadataResponse", "IsInternal"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """From v1 on the topic of the groups' offsets is internal, and a topic of clients is not."""
    name = await server.topic()
    await server.coordinator(server.group())
    answer = await server.ask(MetadataRequest(topics=None))
    internal = {topic.name: topic.is_internal for topic in answer.topics}
    expect_equal("is_internal of a new topic", internal.get(name), False)
    if _OFFSETS not in internal:
        raise Skipped(f"the server has no topic {_OFFSETS}")
    expect_equal(f"is_internal of {_OFFSETS}", internal[_OFFSETS], True)
