"""Reassignments (KIP-455) and elections (KIP-183, KIP-460; Java: ReplicationControlManager)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.checks.topics.creating import create, new_topic
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.needs import Need
from kwire.conform.server import Server
from kwire.conform.source import guide, kafka, kip
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

_ABSENT = 2_000_000_000
_PREFERRED, _UNCLEAN, _NO_ELECTION = 0, 1, 9
_MOVES = kip(455, "Public Interfaces")
_CODES = guide("Error Codes")


async def _topic(server: Server) -> str:
    answer = await create(server, new_topic(server.name()))
    expect_error(answer, 0)
    name: str = answer.topics[0].name
    return name


async def _reassign(server: Server, name: str, **parts: Any) -> Any:
    """Move partition 0; parts: fields of it."""
    partition = ReassignablePartition(**({"partition_index": 0} | parts))
    topic = ReassignableTopic(name=name, partitions=[partition])
    return await server.ask_controller(AlterPartitionReassignmentsRequest(topics=[topic]))


def _refused_move(sentence: str, code: int, **parts: Any) -> Check:
    """Return a check of a move of a new topic's partition."""

    @scenario(sentence, _MOVES, needs=Need.RESOURCES)
    async def check(server: Server) -> None:
        expect_error(await _reassign(server, await _topic(server), **parts), code)

    return check


@scenario("A topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.", _MOVES)
async def _move_of_none(server: Server) -> None:
    answer = await _reassign(server, server.name(), replicas=(next(iter(server.target.nodes), 1),))
    expect_error(answer, 3)


@scenario(
    "An unknown topic is reported before impossible replicas.",
    kafka("ReplicationControlManager.alterPartitionReassignment"),
)
async def _topic_first(server: Server) -> None:
    answer = await _reassign(server, server.name(), replicas=(_ABSENT,))
    expect_error(answer, 3, differs=(39,))


@scenario("A partition that is not being reassigned is not listed.", _MOVES, needs=Need.RESOURCES)
async def _none_moves(server: Server) -> None:
    topic = ListPartitionReassignmentsTopics(name=await _topic(server), partition_indexes=(0,))
    answer = await server.ask_controller(ListPartitionReassignmentsRequest(topics=[topic]))
    expect_error(answer, 0)
    expect_equal("moving partitions", answer.topics, [])


async def _elect(server: Server, name: str, partition: int = 0, kind: int = _PREFERRED) -> Any:
    partitions = [TopicPartitions(topic=name, partitions=(partition,))]
    request = ElectLeadersRequest(election_type=kind, topic_partitions=partitions)
    return await server.ask_controller(request)


@scenario("An election of a topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.", _CODES)
async def _election_of_none(server: Server) -> None:
    expect_error(await _elect(server, server.name()), 3)


@scenario(
    "An election of a partition that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.",
    _CODES,
    needs=Need.RESOURCES,
)
async def _election_of_no_partition(server: Server) -> None:
    expect_error(await _elect(server, await _topic(server), 7), 3)


def _not_needed(sentence: str, kind: int) -> Check:
    @scenario(sentence, kip(460, "Public Interfaces"), needs=Need.RESOURCES)
    async def check(server: Server) -> None:
        (await server.connection()).demand_since(ElectLeadersRequest, 1)
        answer = await _elect(server, await _topic(server), kind=kind)
        expect_error(answer, 84)

    return check


@scenario(
    "A type of election that does not exist gets INVALID_REQUEST.", kip(460, "Public Interfaces")
)
async def _no_election(server: Server) -> None:
    (await server.connection()).demand_since(ElectLeadersRequest, 1)
    answer = await _elect(server, server.name(), kind=_NO_ELECTION)
    expect_error(answer, 42, differs=(3,))


SECTION = CheckSection(
    "admin/replicas",
    "Reassignments and elections",
    {
        1: _move_of_none,
        2: _topic_first,
        3: _refused_move(
            "A partition that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.",
            3,
            partition_index=7,
            replicas=(1,),
        ),
        4: _refused_move(
            "Replicas on a broker that does not exist get INVALID_REPLICA_ASSIGNMENT.",
            39,
            replicas=(_ABSENT,),
        ),
        5: _refused_move(
            "Replicas on a broker with a negative id get INVALID_REPLICA_ASSIGNMENT.",
            39,
            replicas=(-1,),
        ),
        6: _refused_move(
            "A broker twice among the replicas gets INVALID_REPLICA_ASSIGNMENT.",
            39,
            replicas=(1, 1),
        ),
        7: _refused_move("No replicas get INVALID_REPLICA_ASSIGNMENT.", 39, replicas=()),
        8: _refused_move(
            "Cancelling a reassignment that does not exist gets NO_REASSIGNMENT_IN_PROGRESS.", 85
        ),
        9: _none_moves,
        10: _election_of_none,
        11: _election_of_no_partition,
        12: _not_needed(
            "If the preferred replica leads, its election gets ELECTION_NOT_NEEDED.", _PREFERRED
        ),
        13: _not_needed(
            "If there is a leader, an unclean election gets ELECTION_NOT_NEEDED.", _UNCLEAN
        ),
        14: _no_election,
    },
)
