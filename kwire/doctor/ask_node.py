"""Asks one node for all it tells of itself: who it is, whom it follows, how it is configured."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from socket import gaierror
from typing import TypeVar, cast

from kwire.admin.cluster_description import ClusterDescription, fetch_description
from kwire.admin.controller_state import (
    NOBODY,
    FollowedLeader,
    described_configs,
    followed_leader,
    id_in_refusal,
)
from kwire.admin.errors import MetadataNotRead
from kwire.admin.quorum import QuorumInfo, quorum_of
from kwire.doctor.evidence import CONFIG_KEYS, NodeEvidence, Unreachable
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, KwireError, WireError
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.quorum_request import quorum_request
from kwire.net.secure_connect import SecureConnect

T = TypeVar("T")


async def ask_node(
    connect: SecureConnect, address: Address, expected_id: int | None = None
) -> NodeEvidence:
    """Return the answers of the node at an address; never raises for what the node does.

    expected_id: the id under which the address is known, if it is.
    """
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        connection = await connect(address)
    except KwireError as error:
        return NodeEvidence(
            address=address,
            failure=str(error),
            unreachable=_reason(error),
            seconds=clock() - began,
            tls=connect.security.tls is not None,
        )
    seconds = clock() - began
    async with connection:
        questions = _Questions(connection, connect.timeouts.request_seconds)
        cluster, quorum, (node_id, configs) = await asyncio.gather(
            questions.ask("DescribeCluster", questions.cluster),
            questions.ask("DescribeQuorum", questions.quorum),
            questions.identity(expected_id),
        )
        # A node answers in the order of the requests: this one, which a node might keep back, must
        # not stand before the others.
        follows = await questions.ask("Fetch", questions.followed_leader)
    if node_id is None and quorum is not None and questions.is_controller:
        node_id = quorum.leader_id  # a controller describes the quorum only while it leads
    return NodeEvidence(
        address=address,
        seconds=seconds,
        tls=connect.security.tls is not None,
        node_id=node_id,
        api=connection.node,
        cluster=cluster,
        quorum=quorum,
        follows=follows,
        configs=configs,
        refusals=questions.refusals,
    )


def _reason(error: KwireError) -> Unreachable:
    cause = error.__cause__
    if isinstance(cause, gaierror | UnicodeError):
        return Unreachable.UNRESOLVED
    if isinstance(error, WireError | BrokerError):
        return Unreachable.NOT_KAFKA
    if isinstance(cause, ConnectionRefusedError):
        return Unreachable.REFUSED
    return Unreachable.SILENT


@dataclass(slots=True)
class _Questions:
    """The requests to one node; `refusals` gets a reason for each answer that is missing."""

    connection: Connection
    timeout: float
    refusals: dict[str, str] = field(default_factory=dict)

    @property
    def is_controller(self) -> bool:
        return VoteRequest.key in self.connection.node.api_versions

    async def ask(self, name: str, question: Callable[[], Awaitable[T]]) -> T | None:
        """Return the answer to a question, None if it was refused."""
        try:
            return await question()
        except MetadataNotRead:
            pass  # `lacks_metadata` says so: it is asked again when it has found a leader
        except BrokerError as error:
            # A follower refuses DescribeQuorum with this; it is no sign of trouble.
            if (name, error.code) != ("DescribeQuorum", ErrorCode.NOT_LEADER_OR_FOLLOWER):
                self.refusals[name] = str(error)
        except (KwireError, TimeoutError) as error:
            self.refusals[name] = str(error)
        return None

    async def cluster(self) -> ClusterDescription:
        kind = EndpointType.CONTROLLER if self.is_controller else EndpointType.BROKER
        return await fetch_description(
            self.connection, DescribeClusterRequest(), kind, self.timeout
        )

    async def quorum(self) -> QuorumInfo:
        answer = await self.connection.send(quorum_request(), timeout=self.timeout)
        return quorum_of(cast(DescribeQuorumResponse, answer))

    async def followed_leader(self) -> FollowedLeader | None:
        """Return the leader that a controller names; None for a broker, which is not asked."""
        return await followed_leader(self.connection, self.timeout) if self.is_controller else None

    async def identity(self, expected_id: int | None) -> tuple[int | None, dict[str, str | None]]:
        """Return the node's id and configuration, as it tells them itself.

        A node describes only itself: asked for another id it refuses, and the refusal names its
        own.
        """
        name = "DescribeConfigs"
        try:
            return expected_id, await self._configs(NOBODY if expected_id is None else expected_id)
        except BrokerError as error:
            own_id = id_in_refusal(error)
            if own_id is None:
                self.refusals[name] = str(error)
                return None, {}
        except KwireError as error:
            self.refusals[name] = str(error)
            return None, {}
        return own_id, await self.ask(name, lambda: self._configs(own_id)) or {}

    async def _configs(self, node_id: int) -> dict[str, str | None]:
        return await described_configs(self.connection, node_id, CONFIG_KEYS, self.timeout)
