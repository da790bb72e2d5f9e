"""Reassignments (KIP-455) and elections (KIP-183, KIP-460; Java: ReplicationControlManager)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import Check, CheckSection, gets, scenario
from kwire.conform.checks.topics.creating import create, new_topic, some_broker
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, guide, kafka, kip
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)

SECTION = CheckSection("admin/replicas", "Reassignments and elections")

_ABSENT = 2_000_000_000
_PREFERRED, _UNCLEAN, _NO_ELECTION = 0, 1, 9
_MOVES = kip(455, "Public Interfaces")
_ELECTIONS = kip(460, "Public Interfaces")
_CODES = guide("Error Codes")


async def _topic(server: Server) -> str:
    answer = await create(server, new_topic(server.name()))
    expect_error(answer, ErrorCode.NONE)
    name: str = answer.topics[0].name
    return name


async def _reassign(server: Server, name: str, **parts: Any) -> Any:
    """Move partition 0; parts: fields of it."""
    topic = {"name": name, "partitions": [parts]}
    return await server.ask_controller(filled(AlterPartitionReassignmentsRequest, topics=[topic]))


def _refused_move(sentence: str, code: int, **parts: Any) -> Check:
    """Return a check of a move of a new topic's partition."""

    @scenario(gets(sentence, code), _MOVES, needs=Need.RESOURCES)
    async def check(server: Server) -> None:
        expect_error(await _reassign(server, await _topic(server), **parts), code)

    return check


@SECTION.refuses(1, _MOVES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
async def _(server: Server) -> Any:
    """A topic that does not exist gets"""
    return await _reassign(server, server.name(), replicas=(next(iter(server.target.nodes), 1),))


@SECTION.refuses(
    2,
    kafka("ReplicationControlManager.alterPartitionReassignment"),
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    differs=(ErrorCode.INVALID_REPLICA_ASSIGNMENT,),
)
async def _(server: Server) -> Any:
    """An unknown topic is reported before impossible replicas."""
    return await _reassign(server, server.name(), replicas=(_ABSENT,))


SECTION[4] = _refused_move(
    "Replicas on a broker that does not exist get",
    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    replicas=(_ABSENT,),
)
SECTION[5] = _refused_move(
    "Replicas on a broker with a negative id get",
    ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    replicas=(-1,),
)


@SECTION.broker_refuses(6, _MOVES, ErrorCode.INVALID_REPLICA_ASSIGNMENT)
async def _(server: Server) -> Any:
    """A broker twice among the replicas gets"""
    broker = some_broker(server)  # one that there is: else it is refused for that
    return await _reassign(server, await server.topic(), replicas=(broker, broker))


SECTION[7] = _refused_move("No replicas get", ErrorCode.INVALID_REPLICA_ASSIGNMENT, replicas=())


@SECTION.check(9, _MOVES, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A partition that is not being reassigned is not listed."""
    topic = {"name": await _topic(server), "partition_indexes": (0,)}
    request = filled(ListPartitionReassignmentsRequest, topics=[topic])
    answer = await server.ask_controller(request)
    expect_error(answer, ErrorCode.NONE)
    expect_equal("moving partitions", answer.topics, [])


async def _elect(server: Server, name: str, partition: int = 0, kind: int = _PREFERRED) -> Any:
    partitions = [{"topic": name, "partitions": (partition,)}]
    request = filled(ElectLeadersRequest, election_type=kind, topic_partitions=partitions)
    return await server.ask_controller(request)


@SECTION.refuses(10, _CODES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
async def _(server: Server) -> Any:
    """An election of a topic that does not exist gets"""
    return await _elect(server, server.name())


@SECTION.refuses(13, _ELECTIONS, ErrorCode.ELECTION_NOT_NEEDED, needs=Need.RESOURCES)
async def _(server: Server) -> Any:
    """If there is a leader, an unclean election gets"""
    (await server.connection()).demand_since(ElectLeadersRequest, 1)
    return await _elect(server, await _topic(server), kind=_UNCLEAN)


@SECTION.refuses(
    14, _ELECTIONS, ErrorCode.INVALID_REQUEST, differs=(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,)
)
async def _(server: Server) -> Any:
    """A type of election that does not exist gets"""
    (await server.connection()).demand_since(ElectLeadersRequest, 1)
    return await _elect(server, server.name(), kind=_NO_ELECTION)
