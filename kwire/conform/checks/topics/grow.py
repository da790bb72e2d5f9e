"""CreatePartitions (KIP-195; Java: ReplicationControlManager.createPartitions)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, scenario
from kwire.conform.checks.topics.creating import create, new_topic
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.needs import Need, ServerRole
from kwire.conform.server import Server
from kwire.conform.source import guide, kafka, kip
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)

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
    expect_error(answer, 0)
    name: str = answer.topics[0].name
    return name


@scenario("A topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.", guide("Error Codes"))
async def _unknown(server: Server) -> None:
    expect_error(await _grow(server, {server.name(): 2}), 3)


@scenario("An unknown topic is reported before a bad number of partitions.", _JAVA)
async def _unknown_first(server: Server) -> None:
    expect_error(await _grow(server, {server.name(): 0}), 3, differs=(37,))


@scenario("Fewer partitions get INVALID_PARTITIONS.", _SEMANTICS, needs=Need.RESOURCES)
async def _fewer(server: Server) -> None:
    expect_error(await _grow(server, {await _topic(server): 1}), 37)


@scenario(
    "As many partitions as there are get INVALID_PARTITIONS.", _SEMANTICS, needs=Need.RESOURCES
)
async def _same(server: Server) -> None:
    expect_error(await _grow(server, {await _topic(server): 2}), 37)


@scenario("A negative number of partitions gets INVALID_PARTITIONS.", _JAVA, needs=Need.RESOURCES)
async def _negative(server: Server) -> None:
    expect_error(await _grow(server, {await _topic(server): -1}), 37)


@scenario(
    "Replicas for more partitions than are new get INVALID_REPLICA_ASSIGNMENT.",
    _SEMANTICS,
    needs=Need.RESOURCES,
)
async def _too_many_assigned(server: Server) -> None:
    broker = next(iter(server.target.nodes), 1)
    answer = await _grow(server, {await _topic(server): 3}, (broker,), (broker,))
    expect_error(answer, 39)


@scenario(
    "Replicas on a broker that does not exist get INVALID_REPLICA_ASSIGNMENT.",
    _SEMANTICS,
    needs=Need.RESOURCES,
)
async def _absent_broker(server: Server) -> None:
    expect_error(await _grow(server, {await _topic(server): 3}, (_ABSENT,)), 39)


@scenario(
    "More or fewer replicas than the topic has get INVALID_REPLICA_ASSIGNMENT.",
    _SEMANTICS,
    needs=Need.RESOURCES,
)
async def _other_factor(server: Server) -> None:
    expect_error(await _grow(server, {await _topic(server): 3}, ()), 39)


@scenario(
    "A bad number of partitions is reported before bad replicas.", _JAVA, needs=Need.RESOURCES
)
async def _number_first(server: Server) -> None:
    expect_error(await _grow(server, {await _topic(server): 1}, (_ABSENT,)), 37, differs=(39,))


@scenario(
    "A topic that stands twice in a request gets INVALID_REQUEST.",
    kafka("ControllerApis.createPartitions"),
    needs=Need.RESOURCES,
)
async def _twice(server: Server) -> None:
    name = await _topic(server)
    expect_error(await _grow(server, [(name, 3), (name, 4)]), 42)


@scenario(
    "New partitions that are only validated are not created.", _SEMANTICS, needs=Need.RESOURCES
)
async def _validated(server: Server) -> None:
    name = await _topic(server)
    for _ in range(2):  # the second would get 37 if the first had made them
        expect_error(await _grow(server, {name: 3}, validate_only=True), 0)


@scenario("One topic's error does not keep another from growing.", _SEMANTICS, needs=Need.RESOURCES)
async def _one_of_two(server: Server) -> None:
    name, other = await _topic(server), server.name()
    answer = await _grow(server, {other: 3, name: 3})
    codes = {result.name: result.error_code for result in answer.results}
    expect_equal("errors", codes, {other: 3, name: 0})


@scenario(
    "Metadata soon has the new partitions, each with a leader.",
    _SEMANTICS,
    role=ServerRole.BROKER,
    needs=Need.RESOURCES,
)
async def _grown(server: Server) -> None:
    name = await _topic(server)
    expect_error(await _grow(server, {name: 5}), 0)
    await server.leader(name, 4)
    known = await server.ask(MetadataRequest(topics=[MetadataRequestTopic(name=name)]))
    indexes = sorted(p.partition_index for p in known.topics[0].partitions)
    expect_equal("partitions", indexes, [0, 1, 2, 3, 4])


SECTION = CheckSection(
    "topics/grow",
    "Topics that get more partitions",
    {
        1: _unknown,
        2: _unknown_first,
        3: _fewer,
        4: _same,
        5: _negative,
        6: _too_many_assigned,
        7: _absent_broker,
        8: _other_factor,
        9: _number_first,
        10: _twice,
        11: _validated,
        12: _one_of_two,
        13: _grown,
    },
)
