"""Asks one node for all it tells of itself: who it is, whom it follows, how it is configured."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from socket import gaierror
from typing import TypeVar, cast

from kwire.admin.cluster_description import ClusterDescription, fetch_description
from kwire.admin.describe_quorum import QuorumInfo, fetch_quorum
from kwire.admin.errors import raise_for_code
from kwire.doctor.evidence import CONFIG_KEYS, FollowedLeader, NodeEvidence, Unreachable
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, ConnectionFailed, KwireError, WireError
from kwire.image.configs import ResourceType
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.security import Security
from kwire.observer import Observer

T = TypeVar("T")

NODE_TIMEOUT = 3.0
"""Seconds in which a node accepts the connection, and again for all its answers."""

NOBODY = -1

_OTHER_ID = re.compile(r"expected (\d{1,10})\b")
"""In the words in which a node refuses to describe the configuration of another one."""


@dataclass(frozen=True, slots=True)
class NodeDialer:
    """Opens connections, as security says, each within `timeout` seconds."""

    security: Security
    timeout: float = NODE_TIMEOUT

    async def open(self, address: Address) -> Connection:
        """Connect to a node. Raises as `Connection.open` does."""
        tls = self.security.tls
        return await Connection.open(
            address.host,
            address.port,
            client_id="kwire-doctor",
            ssl=tls.context() if tls else None,
            server_hostname=tls.name if tls else None,
            sasl=self.security.sasl,
            connect_timeout=self.timeout,
            request_timeout=self.timeout,
        )


async def ask_node(
    dialer: NodeDialer, address: Address, expected_id: int | None = None
) -> NodeEvidence:
    """Return the answers of the node at an address, all requests sent at once; never raises.

    expected_id: the id under which the address is known, if it is.
    """
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        connection = await dialer.open(address)
    except KwireError as error:
        return NodeEvidence(
            address=address,
            failure=str(error),
            unreachable=_reason(error),
            seconds=clock() - began,
            tls=dialer.security.tls is not None,
        )
    seconds = clock() - began
    async with connection:
        questions = _Questions(connection, dialer.timeout)
        cluster, quorum, follows, (node_id, configs) = await asyncio.gather(
            questions.ask("DescribeCluster", questions.cluster),
            questions.ask("DescribeQuorum", questions.quorum),
            questions.ask("Fetch", questions.followed_leader),
            questions.identity(expected_id),
        )
    return NodeEvidence(
        address=address,
        seconds=seconds,
        tls=dialer.security.tls is not None,
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
        except BrokerError as error:
            # A follower refuses DescribeQuorum with this; it is no sign of trouble.
            if error.code != ErrorCode.NOT_LEADER_OR_FOLLOWER:
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
        return await fetch_quorum(self.connection, self.timeout)

    async def followed_leader(self) -> FollowedLeader | None:
        """Fetch in epoch 0, which every controller refuses naming its own leader and epoch.

        The refusal is FENCED_LEADER_EPOCH (74): the epoch is checked before it is checked who
        leads, so that a leader answers it as well, and without records.
        """
        if not self.is_controller:
            return None
        request = cast(FetchRequest, Observer().request())
        request.max_bytes = request.topics[0].partitions[0].partition_max_bytes = 1
        answer = await self.connection.send(request, timeout=self.timeout)
        response = cast(FetchResponse, answer)
        raise_for_code(response.error_code)
        for topic in response.responses:
            for partition in topic.partitions:
                leader = partition.current_leader
                if leader is not None:
                    known = leader.leader_id != NOBODY
                    leader_id = leader.leader_id if known else None
                    return FollowedLeader(leader_id=leader_id, epoch=leader.leader_epoch)
                raise_for_code(partition.error_code)
        return None

    async def identity(self, expected_id: int | None) -> tuple[int | None, dict[str, str | None]]:
        """Return the node's id and configuration, as it tells them itself.

        A node describes only itself: asked for another id it refuses, and the refusal names its
        own.
        """
        name = "DescribeConfigs"
        try:
            return expected_id, await self._configs(NOBODY if expected_id is None else expected_id)
        except BrokerError as error:
            match = _OTHER_ID.search(error.message or "")
            if match is None:
                self.refusals[name] = str(error)
                return None, {}
            own_id = int(match[1])
        except KwireError as error:
            self.refusals[name] = str(error)
            return None, {}
        return own_id, await self.ask(name, lambda: self._configs(own_id)) or {}

    async def _configs(self, node_id: int) -> dict[str, str | None]:
        resource = DescribeConfigsResource(
            resource_type=ResourceType.BROKER,
            resource_name=str(node_id),
            configuration_keys=CONFIG_KEYS,
        )
        request = DescribeConfigsRequest(resources=[resource])
        answer = await self.connection.send(request, timeout=self.timeout)
        response = cast(DescribeConfigsResponse, answer)
        for result in response.results:
            raise_for_code(result.error_code, result.error_message)
            return {config.name: config.value for config in result.configs}
        raise ConnectionFailed(f"{self.connection.peer} left its configuration out")
