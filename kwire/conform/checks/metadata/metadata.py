"""Metadata v0-v13 (KIP-4, KIP-430, KIP-516; Java: KafkaApis.handleTopicMetadataRequest)."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from kwire.conform.check import CheckSection, scenario
from kwire.conform.checks.records.log import new_log
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.needs import Need, ServerRole
from kwire.conform.server import Server
from kwire.conform.source import guide, kafka, kip, schema
from kwire.conform.verdict import Skipped
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a23_offset_for_leader_epoch import OffsetForLeaderEpochRequest

_BROKER = ServerRole.BROKER
_UNSET = -(2**31)
_NIL = UUID(int=0)
_OFFSETS = "__consumer_offsets"


async def _ask(server: Server, *names: str, version: int | None = None) -> Any:
    """Ask for topics by name, without having them created."""
    topics = [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    return await server.ask(request, version)


async def _topic_id(server: Server, name: str) -> UUID:
    answer = await _ask(server, name)
    topic_id: UUID = answer.topics[0].topic_id
    return topic_id


@scenario(
    "From v1 on null stands for all topics.",
    schema("MetadataRequest", "Topics"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _all_topics(server: Server) -> None:
    name = await server.topic()
    answer = await server.ask(MetadataRequest(topics=None))
    names = [topic.name for topic in answer.topics]
    expect(name in names, f"{name} among the topics", names)


@scenario(
    "From v1 on an empty list stands for no topics.",
    schema("MetadataRequest", "Topics"),
    role=_BROKER,
)
async def _no_topics(server: Server) -> None:
    answer = await server.ask(MetadataRequest(topics=[]))
    expect_equal("topics", [topic.name for topic in answer.topics], [])
    expect(answer.brokers, "brokers", "none")


@scenario(
    "In v0 an empty list stands for all topics.",
    schema("MetadataRequest", "Topics"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _all_topics_v0(server: Server) -> None:
    (await server.connection()).demand(MetadataRequest, 0)
    name = await server.topic()
    answer = await server.ask(MetadataRequest(topics=[]), 0)
    names = [topic.name for topic in answer.topics]
    expect(name in names, f"{name} among the topics", names)


@scenario(
    "A topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.",
    guide("Error Codes"),
    role=_BROKER,
)
async def _unknown(server: Server) -> None:
    expect_error(await _ask(server, server.name()), 3)


@scenario(
    "Without allow_auto_topic_creation, asking for a topic does not create it.",
    schema("MetadataRequest", "AllowAutoTopicCreation"),
    role=_BROKER,
)
async def _not_created(server: Server) -> None:
    name = server.name()
    server.remove_afterwards(f"topic {name}", lambda: server.delete_topic(name))
    for _ in range(3):
        answer = await _ask(server, name)
        expect_error(answer, 3)
    names = [topic.name for topic in (await server.ask(MetadataRequest(topics=None))).topics]
    expect(name not in names, f"no topic {name}", "one")


@scenario(
    "A name that no topic can have gets INVALID_TOPIC_EXCEPTION.",
    kafka("KRaftMetadataCache.getTopicMetadata"),
    role=_BROKER,
)
async def _bad_name(server: Server) -> None:
    expect_error(await _ask(server, "kwire-conform-bad name"), 17, differs=(3,))


@scenario("An id that no topic has gets UNKNOWN_TOPIC_ID.", kip(516, "Metadata"), role=_BROKER)
async def _unknown_id(server: Server) -> None:
    (await server.connection()).demand_since(MetadataRequest, 12)
    topic = MetadataRequestTopic(topic_id=uuid4(), name=None)
    answer = await server.ask(MetadataRequest(topics=[topic], allow_auto_topic_creation=False))
    expect_error(answer, 100)
    came = (answer.topics[0].topic_id, answer.topics[0].partitions)
    expect_equal("topic id, partitions", came, (topic.topic_id, []))


@scenario(
    "A topic asked for by its id is answered with its name.",
    kip(516, "Metadata"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _by_id(server: Server) -> None:
    (await server.connection()).demand_since(MetadataRequest, 12)
    name = await server.topic()
    topic_id = await _topic_id(server, name)
    topic = MetadataRequestTopic(topic_id=topic_id, name=None)
    answer = await server.ask(MetadataRequest(topics=[topic]))
    expect_error(answer, 0)
    expect_equal("name", answer.topics[0].name, name)


@scenario(
    "One unknown topic does not keep another from being described.",
    guide("Metadata API"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _one_of_two(server: Server) -> None:
    name, other = await server.topic(), server.name()
    answer = await _ask(server, other, name)
    codes = {topic.name: topic.error_code for topic in answer.topics}
    expect_equal("errors", codes, {other: 3, name: 0})


@scenario(
    "A topic that is asked for twice is in the answer once.",
    kafka("KafkaApis.handleTopicMetadataRequest"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _twice(server: Server) -> None:
    name = await server.topic()
    answer = await _ask(server, name, name)
    expect_equal("names", [topic.name for topic in answer.topics], [name])


@scenario(
    "Authorized operations that were not asked for are -2147483648.",
    schema("MetadataResponse", "TopicAuthorizedOperations"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _operations_unset(server: Server) -> None:
    (await server.connection()).demand(MetadataRequest, 8)
    answer = await _ask(server, await server.topic(), version=8)
    came = (answer.topics[0].topic_authorized_operations, answer.cluster_authorized_operations)
    expect_equal("operations on topic, cluster", came, (_UNSET, _UNSET))


@scenario(
    "Authorized operations that were asked for are bits of operations.",
    kip(430, "Public Interfaces"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _operations(server: Server) -> None:
    (await server.connection()).demand(MetadataRequest, 8)
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=await server.topic())],
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
    )
    answer = await server.ask(request, 8)
    on_topic = answer.topics[0].topic_authorized_operations
    on_cluster = answer.cluster_authorized_operations
    expect(_UNSET not in (on_topic, on_cluster), "operations", f"{on_topic}, {on_cluster}")


@scenario(
    "Every leader, replica and controller that Metadata names is a broker of its list.",
    schema("MetadataResponse"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _known_brokers(server: Server) -> None:
    answer = await _ask(server, await server.topic(partitions=3))
    brokers = {broker.node_id for broker in answer.brokers}
    named = {answer.controller_id}
    for partition in answer.topics[0].partitions:
        named |= {partition.leader_id, *partition.replica_nodes, *partition.isr_nodes}
    expect(named <= brokers, f"nodes among {sorted(brokers)}", sorted(named))


@scenario(
    "A topic has one id in every answer, other than zero, from v10 on.",
    kip(516, "Metadata"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _same_id(server: Server) -> None:
    (await server.connection()).demand_since(MetadataRequest, 10)
    name = await server.topic()
    first, second = await _topic_id(server, name), await _topic_id(server, name)
    expect(first == second != _NIL, "the same topic id twice, not zero", f"{first}, {second}")


@scenario(
    "A partition's leader epoch, from v7 on, is that which its leader has.",
    kip(320, "Metadata"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _leader_epoch(server: Server) -> None:
    (await server.connection()).demand_since(MetadataRequest, 7)
    log = await new_log(server)
    epoch = (await _ask(server, log.topic)).topics[0].partitions[0].leader_epoch
    expect(epoch >= 0, "a leader epoch", epoch)
    log.leader.demand_since(OffsetForLeaderEpochRequest, 2)
    codes = [(await log.end_of_epoch(0, current=epoch + step)).error_code for step in (0, 1)]
    expect_equal("errors of this epoch and the next", codes, [0, 75])


@scenario(
    "The ISR of a new topic's partitions is their replicas.",
    schema("MetadataResponse", "IsrNodes"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _isr(server: Server) -> None:
    answer = await _ask(server, await server.topic(partitions=3))
    for partition in answer.topics[0].partitions:
        expect_equal("ISR", sorted(partition.isr_nodes), sorted(partition.replica_nodes))
        expect(partition.isr_nodes, "brokers in the ISR", "none")


@scenario(
    "From v1 on the topic of the groups' offsets is internal, and a topic of clients is not.",
    schema("MetadataResponse", "IsInternal"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _internal(server: Server) -> None:
    name = await server.topic()
    await server.coordinator(server.group())
    answer = await server.ask(MetadataRequest(topics=None))
    internal = {topic.name: topic.is_internal for topic in answer.topics}
    expect_equal("is_internal of a new topic", internal.get(name), False)
    if _OFFSETS not in internal:
        raise Skipped(f"the server has no topic {_OFFSETS}")
    expect_equal(f"is_internal of {_OFFSETS}", internal[_OFFSETS], True)


SECTION = CheckSection(
    "metadata/metadata",
    "Metadata: topics, ids, operations",
    {
        1: _all_topics,
        2: _no_topics,
        3: _all_topics_v0,
        4: _unknown,
        5: _not_created,
        6: _bad_name,
        7: _unknown_id,
        8: _by_id,
        9: _one_of_two,
        10: _twice,
        11: _operations_unset,
        12: _operations,
        13: _known_brokers,
        14: _same_id,
        15: _leader_epoch,
        16: _isr,
        17: _internal,
    },
)
