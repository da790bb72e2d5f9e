"""Controllers that do not lead: what they answer themselves, and what they refuse (KIP-919)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kwire.codec.declaration import Request
from kwire.conform.check import Check, CheckSection, Member, family, gets, scenario
from kwire.conform.checks.controllers.requests import CHANGES, TOPIC, describe_config
from kwire.conform.checks.quorum.requests import add_voter, remove_voter, update_voter
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.quorum import (
    KNOWN_CONTROLLERS,
    DescribedQuorum,
    demand_metadata_version,
    describe_quorum,
    features_of,
)
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, Skipped, guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.config_resource import ResourceType

SECTION = CheckSection("controllers/kip-919/inactive", "Controllers that do not lead")

_CONTROLLER, _TWO = ServerRole.CONTROLLER, Need.TWO_VOTERS
_INACTIVE = guide("Error Codes")


async def _inactive(server: Server) -> tuple[CheckedConnection, DescribedQuorum]:
    """Return a connection to a controller that does not lead."""
    quorum = await describe_quorum(server)
    return await server.node(quorum.follower_id), quorum


def _asked(
    sentence: str, source: SentenceSource, send: Callable[[DescribedQuorum], Request], *codes: int
) -> Check:
    @scenario(gets(sentence, *codes), source, role=_CONTROLLER, needs=_TWO)
    async def run(server: Server) -> None:
        connection, quorum = await _inactive(server)
        expect_error(await connection.ask(send(quorum)), *codes)

    return run


def _changes(server: Server) -> Iterator[Member]:
    async def refused(server: Server, name: str) -> None:
        connection, _ = await _inactive(server)
        request = CHANGES[name]
        if type(request).key not in connection.versions.api_versions:
            raise Skipped(f"the server does not offer {name}")
        # Topics are looked up by name before that, which every Kafka does wherever it is asked.
        unknown = [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] if name == "DeleteTopics" else []
        answer = await connection.ask(request)
        expect_error(answer, ErrorCode.NOT_CONTROLLER, *unknown)
        if "error_code" in type(answer).fields:
            expect_equal("error of the whole", answer.error_code, ErrorCode.NOT_CONTROLLER)

    for name in CHANGES:

        async def run(server: Server, name: str = name) -> None:
            await refused(server, name)

        yield Member(id=name, run=run)


SECTION[1] = family(
    "A controller that does not lead refuses every change with NOT_CONTROLLER.",
    _INACTIVE,
    _changes,
    role=_CONTROLLER,
    needs=_TWO,
)


@SECTION.refuses(
    2, kip(919, "DescribeCluster Changes"), ErrorCode.NONE, role=_CONTROLLER, needs=_TWO
)
async def _(server: Server) -> Any:
    """A controller that does not lead lists the controllers."""
    connection, _ = await _inactive(server)
    await demand_metadata_version(connection, KNOWN_CONTROLLERS)
    return await connection.ask(DescribeClusterRequest(endpoint_type=2))


SECTION[3] = _asked(
    "AddRaftVoter at a controller that does not lead gets",
    kip(853, "AddVoter, Handling"),
    add_voter,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
)
SECTION[4] = _asked(
    "RemoveRaftVoter at a controller that does not lead gets",
    kip(853, "RemoveVoter, Handling"),
    remove_voter,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
)
SECTION[5] = _asked(
    "UpdateRaftVoter at a controller that does not lead gets",
    kip(853, "UpdateVoter, Handling"),
    update_voter,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
)
SECTION[6] = _asked(
    "A controller that does not lead describes configurations.",
    kip(919, "New APIs"),
    lambda quorum: describe_config(ResourceType.TOPIC, TOPIC),
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)
SECTION[7] = _asked(
    "A controller that does not lead lists no reassignments, or those it knows.",
    kafka("QuorumController.listPartitionReassignments"),
    lambda quorum: ListPartitionReassignmentsRequest(),
    ErrorCode.NONE,
    ErrorCode.NOT_CONTROLLER,
)


@SECTION.check(8, kip(584, "ApiVersions"), role=_CONTROLLER, needs=_TWO)
async def _(server: Server) -> None:
    """A controller that does not lead has the same finalized features."""
    connection, quorum = await _inactive(server)

    async def caught_up() -> bool:
        ours = (await features_of(quorum.connection)).finalized_features
        return (await features_of(connection)).finalized_features == ours

    # It may be a moment behind the leader.
    expect_equal("same features", await server.wait_for("the same features", caught_up), True)
