"""The metadata quorum as a check needs it: its leader, epoch and voters, and requests for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Request
from kwire.conform.check import Check, gets
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import Expectation, expect_equal, expect_error, judge
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, Skipped
from kwire.error_codes import ErrorCode
from kwire.messages.a55_describe_quorum import Listener, ReplicaState, ResponsePartitionData
from kwire.messages.metadata_versions import METADATA_VERSION, NAMES
from kwire.net.address import Address
from kwire.net.negotiation import NodeApiVersions, api_versions_request
from kwire.net.quorum_request import quorum_request

OTHER_CLUSTER = "kwire-conform-cluster0"
"""The id of a cluster that no server is of."""
OTHER_DIRECTORY = UUID(int=(0x6B77697265 << 64) + 1)
"""The id of a directory that no server has."""
NOBODY = 987_654
"""The id of a node that no cluster has."""
NO_DIRECTORY = UUID(int=0)
SCRAM, KNOWN_CONTROLLERS, DIRECTORIES = 11, 15, 17
"""Levels of metadata.version that have credentials of SCRAM (3.5-IV2), controllers that know one
another (3.7-IV0) and log directories of brokers (3.7-IV2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedQuorum:
    """The quorum as its leader describes it.

    connection: to the leader. listeners: of each node, empty before DescribeQuorum v2.
    """

    server: Server
    connection: CheckedConnection
    partition: ResponsePartitionData
    listeners: dict[int, list[Listener]]

    @property
    def leader_id(self) -> int:
        """The id of the node that leads."""
        return self.partition.leader_id

    @property
    def epoch(self) -> int:
        """The leader's epoch."""
        return self.partition.leader_epoch

    @property
    def voters(self) -> dict[int, ReplicaState]:
        """The voters by id."""
        return {voter.replica_id: voter for voter in self.partition.current_voters}

    @property
    def follower_id(self) -> int:
        """The id of a voter that does not lead, for checks with Need.TWO_VOTERS."""
        return next(id for id in self.voters if id != self.leader_id)

    @property
    def leader_directory(self) -> UUID:
        """The id of the leader's directory, 0 where the quorum knows none."""
        return self.voters[self.leader_id].replica_directory_id

    @property
    def address(self) -> Address | None:
        """The leader's address, None where it is the server under test or not known."""
        target = self.server.target
        leads = self.connection.peer == str(target.address)
        return None if leads else target.nodes.get(self.leader_id)

    @property
    def cluster_id(self) -> str:
        """The cluster's id. Raises Skipped if the server tells none."""
        return self.server.cluster_id()

    async def demand_kraft_version(self, level: int) -> None:
        """Raise Skipped unless kraft.version is finalized at this level."""
        finalized = (await features_of(self.connection)).finalized_features.get("kraft.version")
        came = finalized.max_version if finalized is not None else 0
        if came != level:
            raise Skipped(f"it needs kraft.version {level}, and here it is {came}")


async def demand_metadata_version(connection: CheckedConnection, level: int) -> None:
    """Raise Skipped where a lower metadata.version is finalized: Kafka cannot do as much there."""
    finalized = (await features_of(connection)).finalized_features.get(METADATA_VERSION)
    if finalized is not None and finalized.max_version < level:
        came = finalized.max_version
        raise Skipped(f"it needs metadata.version {level} ({NAMES[level]}), and here it is {came}")


def leader_named_in(response: Any) -> tuple[int, int]:
    """Return leader and epoch that an answer about the metadata log names; -1 for none.

    They stand in the only partition, or in the whole, as fields of their own or in one.
    """
    topics = getattr(response, "topics", ()) or getattr(response, "responses", ())
    part = topics[0].partitions[0] if topics else response
    leader = getattr(part, "current_leader", part)
    return (-1, -1) if leader is None else (leader.leader_id, leader.leader_epoch)


async def features_of(connection: CheckedConnection) -> NodeApiVersions:
    """Ask ApiVersions in its highest version, which names features."""
    request = api_versions_request()
    answer = await connection.ask(request, min(4, connection.version_for(request)))
    expect_error(answer, ErrorCode.NONE)
    return NodeApiVersions.of(answer)


async def describe_quorum(server: Server) -> DescribedQuorum:
    """Ask the active controller, or a broker, for the quorum.

    The check's connection is the one to the active controller from then on.
    """
    connection = await server.active_controller()
    answer = await connection.ask(quorum_request())
    expect_error(answer, ErrorCode.NONE)
    listeners = {node.node_id: node.listeners for node in answer.nodes}
    partition = answer.topics[0].partitions[0]
    return DescribedQuorum(
        server=server, connection=connection, partition=partition, listeners=listeners
    )


def leader_exchange(
    sentence: str,
    source: SentenceSource,
    *,
    send: Callable[[DescribedQuorum], Request],
    expect: Expectation,
    differs: Expectation | None = None,
    version: int | None = None,
    kraft_version: int | None = None,
    role: ServerRole = ServerRole.CONTROLLER,
    needs: Need = Need.NOTHING,
    alone: bool = False,
    names_leader: bool = False,
) -> Check:
    """Return a check that sends one request to the quorum's leader and judges the reaction.

    version: SKIPPED if it is not offered; by default the highest that both have. kraft_version:
    the level that the quorum must have. names_leader: the answer has to, with the epoch.
    """

    async def run(server: Server) -> None:
        quorum = await describe_quorum(server)
        if kraft_version is not None:
            await quorum.demand_kraft_version(kraft_version)
        request = send(quorum)
        quorum.connection.demand(type(request), *([] if version is None else [version]))
        server.allow(expect, differs)
        # A voter change may have to wait until the leader gives up.
        reaction = await quorum.connection.exchange(request, version, patience=10.0)
        judge(reaction, expect, differs)
        if names_leader:
            came = leader_named_in(reaction.body)
            expect_equal("leader and epoch", came, (quorum.leader_id, quorum.epoch))

    return Check(
        sentence=gets(sentence, expect.code),
        source=source,
        run=run,
        role=role,
        needs=needs,
        alone=alone,
    )
