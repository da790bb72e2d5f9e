"""CreatePartitions (KIP-195; Java: ReplicationControlManager.createPartitions)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.topics.creating import create, new_topic
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, Skipped, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)

SECTION = CheckSection("topics/grow", "Topics that get more partitions")

_SEMANTICS = kip(195, "Proposed Changes")
_JAVA = kafka("ReplicationControlManager.createPartitions")
_ABSENT = 2_000_000_000


async def _grow(
    server: Server,
    counts: dict[str, int] | list[tuple[str, int]],
    *replicas: tuple[int, ...],
    validate_only: bool = False,
) -> Any:
    """Ask for so many partitions of topics; replicas: of each new one, none to leave it open."""
    assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in replicas] or None
    topics = [
        CreatePartitionsTopic(name=name, count=count, assignments=assignments)
        for name, count in (counts.items() if isinstance(counts, dict) else counts)
    ]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=10_000, validate_only=validate_only)
    return await server.ask_controller(request)


async def _topic(server: Server, partitions: int = 2) -> str:
    answer = await create(server, new_topic(server.name(), partitions=partitions))
    expect_error(answer, ErrorCode.NONE)
    name: str = answer.topics[0].name
    return name


@SECTION.refuses(
    2, _JAVA, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, differs=(ErrorCode.INVALID_PARTITIONS,)
)
async def _(server: Server) -> Any:
    """An unknown topic is reported before a bad number of partitions."""
    return await _grow(server, {server.name(): 0})


@SECTION.refuses(3, _SEMANTICS, ErrorCode.INVALID_PARTITIONS, needs=Need.RESOURCES)
async def _(server: Server) -> Any:
    """Fewer partitions get"""
    return await _grow(server, {await _topic(server): 1})


@SECTION.refuses(4, _SEMANTICS, ErrorCode.INVALID_PARTITIONS, needs=Need.RESOURCES)
async def _(server: Server) -> Any:
    """As many partitions as there are get"""
    return await _grow(server, {await _topic(server): 2})


@SECTION.refuses(5, _SEMANTICS, ErrorCode.INVALID_PARTITIONS, needs=Need.RESOURCES)
async def _(server: Server) -> Any:
    """A negative number of partitions gets"""
    return await _grow(server, {await _topic(server): -1})


@SECTION.refuses(6, _SEMANTICS, ErrorCode.INVALID_REPLICA_ASSIGNMENT, needs=Need.RESOURCES)
async def _(server: Server) -> Any:
    """Replicas for more partitions than are new get"""
    broker = next(iter(server.target.nodes), 1)
    return await _grow(server, {await _topic(server): 3}, (broker,), (broker,))


@SECTION.refuses(7, _SEMANTICS, ErrorCode.INVALID_REPLICA_ASSIGNMENT, needs=Need.RESOURCES)
async def _(server: Server) -> Any:
    """Replicas on a broker that does not exist get"""
    return await _grow(server, {await _topic(server): 3}, (_ABSENT,))


@SECTION.refuses(8, _SEMANTICS, ErrorCode.INVALID_REPLICA_ASSIGNMENT, needs=Need.RESOURCES)
async def _(server: Server) -> Any:
    """No replicas for a new partition get"""
    return await _grow(server, {await _topic(server): 3}, ())


@SECTION.refuses(
    9,
    _JAVA,
    ErrorCode.INVALID_PARTITIONS,
    differs=(ErrorCode.INVALID_REPLICA_ASSIGNMENT,),
    needs=Need.RESOURCES,
)
async def _(server: Server) -> Any:
    """A bad number of partitions is reported before bad replicas."""
    return await _grow(server, {await _topic(server): 1}, (_ABSENT,))


@SECTION.refuses(
    10, kafka("ControllerApis.createPartitions"), ErrorCode.INVALID_REQUEST, needs=Need.RESOURCES
)
async def _(server: Server) -> Any:
    """A topic that stands twice in a request gets"""
    name = await _topic(server)
    return await _grow(server, [(name, 3), (name, 4)])


@SECTION.check(11, _SEMANTICS, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """New partitions that are only validated are not created."""
    name = await _topic(server)
    for _ in range(2):  # the second would get 37 if the first had made them
        expect_error(await _grow(server, {name: 3}, validate_only=True), ErrorCode.NONE)


@SECTION.check(12, _SEMANTICS, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """One topic's error does not keep another from growing."""
    name, other = await _topic(server), server.name()
    answer = await _grow(server, {other: 3, name: 3})
    codes = {result.name: result.error_code for result in answer.results}
    expect_equal(
        "errors", codes, {other: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name: ErrorCode.NONE}
    )


@SECTION.check(13, _SEMANTICS, role=ServerRole.BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """Metadata soon has the new partitions, each with a leader."""
    name = await _topic(server)
    expect_error(await _grow(server, {name: 5}), ErrorCode.NONE)
    await server.leader(name, 4)
    known = await server.ask(MetadataRequest(topics=[MetadataRequestTopic(name=name)]))
    indexes = sorted(p.partition_index for p in known.topics[0].partitions)
    expect_equal("partitions", indexes, [0, 1, 2, 3, 4])


@SECTION.broker_refuses(14, _SEMANTICS, ErrorCode.INVALID_REPLICA_ASSIGNMENT)
async def _(server: Server) -> Any:
    """More replicas than the topic has get"""
    brokers = tuple(server.target.nodes)
    if len(brokers) < 2:
        raise Skipped("the cluster has one broker only")
    return await _grow(server, {await server.topic(): 2}, brokers[:2])
