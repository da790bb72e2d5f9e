"""The state of one controller as it tells it itself, whether it leads, follows or does neither.

DescribeQuorum is answered by the leader alone; these questions are answered by every controller.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar, cast

from kwire.admin.errors import raise_for_code
from kwire.errors import BrokerError, ConnectionFailed, KwireError
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.net.address import Address
from kwire.net.connection import Connection

T = TypeVar("T")

NOBODY = -1

BROKER = 4
"""The resource type of a node's configuration, a controller's too."""

_OTHER_ID = re.compile(r"expected (\d{1,10})\b")
"""In the words in which a node refuses to describe the configuration of another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedLeader:
    """The leader and the epoch that a node itself knows.

    leader_id: None if it knows no leader. Without a majority a controller may go on naming its last
    one (KIP-996). address: None before Kafka 3.9, which does not tell it.
    """

    leader_id: int | None
    epoch: int
    address: Address | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerState:
    """A controller that answers and does not lead.

    node_id, follows: None if it would not tell. lacks_metadata: True if it has read no metadata
    since it started.
    """

    peer: str
    node_id: int | None = None
    follows: FollowedLeader | None = None
    lacks_metadata: bool = False

    def __str__(self) -> str:
        name = self.peer if self.node_id is None else f"{self.node_id} at {self.peer}"
        unread = ", has read no metadata since it started" if self.lacks_metadata else ""
        if self.follows is None:
            knows = "does not lead"
        elif self.follows.leader_id is None:
            knows = f"knows no leader in epoch {self.follows.epoch}"
        elif self.follows.leader_id == self.node_id:
            knows = f"led epoch {self.follows.epoch} and does not lead now"
        else:
            knows = (
                f"names {self.follows.leader_id} as leader of epoch {self.follows.epoch}, which was"
                " not reached"
            )
        return f"controller {name} runs{unread} and {knows}"


async def controller_state(connection: Connection, timeout: float) -> ControllerState:
    """Return what a controller tells of itself; what it refuses is left out."""
    return ControllerState(
        peer=connection.peer,
        node_id=await _or_none(own_id(connection, timeout)),
        follows=await _or_none(followed_leader(connection, timeout)),
        lacks_metadata=connection.node.lacks_metadata,
    )


async def _or_none(answer: Awaitable[T]) -> T | None:
    try:
        return await answer
    except KwireError:
        return None


async def followed_leader(connection: Connection, timeout: float) -> FollowedLeader:
    """Fetch in epoch 0, which every controller refuses naming its own leader and epoch.

    The refusal is FENCED_LEADER_EPOCH (74): the epoch is checked before it is checked who leads, so
    that a leader answers it as well, and without records. It takes CLUSTER_ACTION on the cluster.

    Raises BrokerError if it is refused otherwise, ConnectionFailed.
    """
    # Observers fetch as replica -1, which leaders answer and do not count.
    partition = FetchPartition(current_leader_epoch=0, last_fetched_epoch=0, partition_max_bytes=1)
    topic = FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
    request = FetchRequest(max_bytes=1, topics=[topic])
    answer = await connection.send(request, timeout=timeout)
    response = cast(FetchResponse, answer)
    raise_for_code(response.error_code)
    addresses = {
        endpoint.node_id: Address(endpoint.host, endpoint.port)
        for endpoint in response.node_endpoints
    }
    for answers in response.responses:
        for partition_data in answers.partitions:
            if (leader := partition_data.current_leader) is not None:
                known = leader.leader_id != NOBODY
                return FollowedLeader(
                    leader_id=leader.leader_id if known else None,
                    epoch=leader.leader_epoch,
                    address=addresses.get(leader.leader_id),
                )
            raise_for_code(partition_data.error_code)
    raise ConnectionFailed(f"{connection.peer} named no leader in its answer")


async def own_id(connection: Connection, timeout: float) -> int | None:
    """Return the id of a node, which it names when asked for the configuration of another.

    None if its refusal has no id. Raises ConnectionFailed, and UnsupportedVersion for controllers
    before Kafka 3.7.
    """
    try:
        await described_configs(connection, NOBODY, (), timeout)
    except BrokerError as error:
        return id_in_refusal(error)
    return None


async def described_configs(
    connection: Connection, node_id: int, keys: tuple[str, ...], timeout: float
) -> dict[str, str | None]:
    """Return these keys of the configuration of the node. Raises BrokerError, ConnectionFailed."""
    resource = DescribeConfigsResource(
        resource_type=BROKER,
        resource_name=str(node_id),
        configuration_keys=keys,
    )
    request = DescribeConfigsRequest(resources=[resource])
    answer = await connection.send(request, timeout=timeout)
    response = cast(DescribeConfigsResponse, answer)
    for result in response.results:
        raise_for_code(result.error_code, result.error_message)
        return {config.name: config.value for config in result.configs}
    raise ConnectionFailed(f"{connection.peer} left its configuration out")


def id_in_refusal(error: BrokerError) -> int | None:
    """Return the id that a node names as its own when it refuses to describe another."""
    match = _OTHER_ID.search(error.message or "")
    return int(match[1]) if match else None
