"""The server under test: its address, how to reach it, and what it says of itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from kwire.conform.connection import PATIENCE, CheckedConnection
from kwire.conform.expectation import expect_error
from kwire.conform.reaction import ConnectionState
from kwire.conform.transcript import Transcript
from kwire.conform.vocabulary import Deviation, ServerRole, Skipped
from kwire.error_codes import ErrorCode
from kwire.errors import EncodeError
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.registry import api_key
from kwire.net.address import Address
from kwire.net.negotiation import NodeApiVersions, api_versions_request
from kwire.net.quorum_request import quorum_request
from kwire.net.security import PLAINTEXT, Security

NO_VERSIONS = NodeApiVersions(api_versions={})
EXAMINE_TIMEOUT = 30.0
"""Seconds for each answer."""
LOOKS = 5
"""Further answers that are timed, of ApiVersions."""
ANSWERS_IN_PATIENCE = 10.0
"""The patience as a multiple of the time that the slowest answer took."""
MOST_SLOWNESS = 15.0
"""The patience is no longer than this times PATIENCE."""

_CONTROLLERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A server to check. role: BROKER or CONTROLLER. cluster_id: None if it tells none.

    nodes: the cluster's nodes of that role by id. voters: ids of the quorum's, empty if unknown.
    topics: how many the cluster has that are not internal, None if unknown. ends_early: True if it
    ends the connection at what comes after ApiVersions, as a listener does that wants a login.
    slowness: 1 for a server that answers at once; the times of checks are multiplied by it.
    as_java: True if it has to be like Apache Kafka: what DIFFERS is then FAIL.
    """

    address: Address
    security: Security = PLAINTEXT
    versions: NodeApiVersions = NO_VERSIONS
    role: ServerRole = ServerRole.BROKER
    cluster_id: str | None = None
    nodes: dict[int, Address]
    voters: tuple[int, ...] = ()
    topics: int | None = None
    ends_early: bool = False
    slowness: float = 1.0
    as_java: bool = False


async def examine_target(
    address: Address,
    security: Security = PLAINTEXT,
    role: ServerRole | None = None,
    transcript: Transcript | None = None,
) -> Target:
    """Ask a server what it is. transcript: takes the bytes.

    1. ApiVersions v0.
    2. A server that offers Metadata is a broker, any other a controller, unless the role is given.
    3. DescribeCluster, Metadata and DescribeQuorum where it offers them; each may fail.
    4. The slowest answer says how slow it is.

    Raises Deviation if it does not answer ApiVersions, OSError, TimeoutError, BrokerError.
    """
    connection = await CheckedConnection.open(
        address,
        versions=NO_VERSIONS,
        transcript=transcript or Transcript(),
        security=security,
        timeout=EXAMINE_TIMEOUT,
    )
    try:
        # 1.
        clock = asyncio.get_running_loop().time
        slowest, began = 0.0, clock()
        answer = await connection.ask(api_versions_request(), 0, timeout=EXAMINE_TIMEOUT)
        expect_error(answer, ErrorCode.NONE)
        versions = connection.versions = NodeApiVersions.of(answer)
        # 2.
        if role is None:
            is_broker = api_key("Metadata") in versions.api_versions
            role = ServerRole.BROKER if is_broker else ServerRole.CONTROLLER
        target = Target(address=address, security=security, versions=versions, role=role, nodes={})
        # 3.
        for examine in (_cluster, _topics, _voters, *(_answer_again,) * LOOKS):
            # 4.
            slowest, began = max(slowest, clock() - began), clock()
            try:
                target = await examine(target, connection)
            except (Deviation, Skipped, EncodeError):
                if connection.state is not ConnectionState.OPEN:
                    return replace(target, ends_early=connection.state.ended)
        slowness = max(slowest, clock() - began) * ANSWERS_IN_PATIENCE / PATIENCE
        return replace(target, slowness=min(max(1.0, slowness), MOST_SLOWNESS))
    finally:
        await connection.close()


async def answers_api_versions(target: Target) -> None:
    """Ask ApiVersions v0. Raises what `examine_target` raises."""
    connection = await CheckedConnection.open(
        target.address,
        versions=NO_VERSIONS,
        transcript=Transcript(),
        security=target.security,
        slowness=target.slowness,
    )
    try:
        await connection.ask(api_versions_request(), 0, timeout=EXAMINE_TIMEOUT)
    finally:
        await connection.close()


async def _answer_again(target: Target, connection: CheckedConnection) -> Target:
    await connection.ask(api_versions_request(), 0, timeout=EXAMINE_TIMEOUT)
    return target


async def _cluster(target: Target, connection: CheckedConnection) -> Target:
    request = DescribeClusterRequest()
    if target.role is ServerRole.CONTROLLER:
        request.endpoint_type = _CONTROLLERS
    answer = await connection.ask(request, timeout=EXAMINE_TIMEOUT)
    nodes = {node.broker_id: Address(node.host, node.port) for node in answer.brokers}
    return replace(target, cluster_id=answer.cluster_id or None, nodes=nodes)


async def _topics(target: Target, connection: CheckedConnection) -> Target:
    request = MetadataRequest(topics=None)
    if connection.version_for(request) == 0:
        request.topics = []  # which are all, in v0
    answer = await connection.ask(request, timeout=EXAMINE_TIMEOUT)
    nodes = {node.node_id: Address(node.host, node.port) for node in answer.brokers}
    return replace(
        target,
        cluster_id=target.cluster_id or answer.cluster_id,
        nodes=nodes,
        topics=sum(not topic.is_internal for topic in answer.topics),
    )


async def _voters(target: Target, connection: CheckedConnection) -> Target:
    voters = voter_ids(await connection.ask(quorum_request(), timeout=EXAMINE_TIMEOUT))
    # Only the leader says who votes; a controller that follows names nobody.
    for address in target.nodes.values():
        if voters or target.role is ServerRole.BROKER or address == target.address:
            continue
        try:
            voters = await _voters_at(address, target)
        except (Deviation, Skipped, OSError, TimeoutError):
            continue
    return replace(target, voters=voters)


async def _voters_at(address: Address, target: Target) -> tuple[int, ...]:
    connection = await CheckedConnection.open(
        address,
        versions=target.versions,
        transcript=Transcript(),
        security=target.security,
        timeout=EXAMINE_TIMEOUT,
    )
    try:
        return voter_ids(await connection.ask(quorum_request(), timeout=EXAMINE_TIMEOUT))
    finally:
        await connection.close()


def voter_ids(quorum: DescribeQuorumResponse) -> tuple[int, ...]:
    """Return the ids of the voters that an answer to DescribeQuorum names."""
    partitions = [partition for topic in quorum.topics for partition in topic.partitions]
    return tuple(voter.replica_id for item in partitions for voter in item.current_voters)
