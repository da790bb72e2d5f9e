"""The metadata quorum: DescribeQuorum (KIP-595, KIP-836, KIP-853)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import MissingFromAnswer, raise_for_code
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.wire_values import known
from kwire.messages import a55_describe_quorum as wire
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC
from kwire.net.quorum_request import quorum_request
from kwire.text.ids import ZERO_UUID

SILENT_MS = 5_000
"""Milliseconds without a fetch after which a replica counts as down; they fetch twice a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftVoterEndpoint:
    """A listener of a voter for the quorum; `CONTROLLER://127.0.0.1:9093`."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaState:
    """The progress of a replica of the metadata log, as the leader sees it.

    replica_directory_id: None for static voters and before Kafka 3.9.
    log_end_offset: -1 if the leader does not know it.
    last_fetch_timestamp, last_caught_up_timestamp: ms since 1970, None if not known.
    """

    replica_id: int
    replica_directory_id: UUID | None
    log_end_offset: int
    last_fetch_timestamp: int | None
    last_caught_up_timestamp: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumNode:
    """A voter's endpoints."""

    node_id: int
    endpoints: tuple[RaftVoterEndpoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumInfo:
    """The metadata quorum as its leader sees it.

    nodes: the voters' endpoints by node id; empty before Kafka 3.9.
    """

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[ReplicaState, ...]
    observers: tuple[ReplicaState, ...]
    nodes: Mapping[int, QuorumNode] = field(default_factory=dict)

    @property
    def leader(self) -> ReplicaState | None:
        """The leader among the voters; None while it leads without being one, on its way out."""
        return next((voter for voter in self.voters if voter.replica_id == self.leader_id), None)

    def lag(self, replica: ReplicaState) -> int | None:
        """Count the records between a replica's log end and the leader's; None without a leader."""
        return None if self.leader is None else self.leader.log_end_offset - replica.log_end_offset

    def silent_ms(self, replica: ReplicaState) -> int | None:
        """Return how long ago a replica fetched last; None if never since this leader was elected.

        Both times are the leader's: the clock of this machine may differ. A leader that does not
        vote, on its way out, tells none of its own: the latest fetch stands for it. If nobody's
        time is known, as before DescribeQuorum v1, nobody is silent.
        """
        times = [other.last_fetch_timestamp or 0 for other in (*self.voters, *self.observers)]
        now = (self.leader.last_fetch_timestamp if self.leader else None) or max(times, default=0)
        if replica is self.leader or not now:
            return 0
        last = replica.last_fetch_timestamp
        return None if last is None else max(0, now - last)

    @property
    def max_follower_lag(self) -> int | None:
        """The records that the slowest voter is behind, as kafka-metadata-quorum counts them."""
        return self.lag(self._slowest) if self.voters else None

    @property
    def max_follower_lag_time_ms(self) -> int | None:
        """The milliseconds that voter is behind: 0 if it leads, None if times are not known."""
        if self.leader is None:
            return None
        if self._slowest is self.leader:
            return 0
        leader = self.leader.last_caught_up_timestamp
        slowest = self._slowest.last_caught_up_timestamp
        return None if leader is None or slowest is None else leader - slowest

    @property
    def _slowest(self) -> ReplicaState:
        return min(self.voters, key=lambda voter: voter.log_end_offset)


def quorum_of(response: wire.DescribeQuorumResponse) -> QuorumInfo:
    """Return the quorum in an answer. Raises BrokerError for either of its two error codes."""
    raise_for_code(response.error_code, response.error_message)
    partition = _metadata_partition(response)
    raise_for_code(partition.error_code, partition.error_message)
    return QuorumInfo(
        leader_id=partition.leader_id,
        leader_epoch=partition.leader_epoch,
        high_watermark=partition.high_watermark,
        voters=tuple(map(_replica, partition.current_voters)),
        observers=tuple(map(_replica, partition.observers)),
        nodes={node.node_id: _node(node) for node in response.nodes},
    )


def _metadata_partition(response: wire.DescribeQuorumResponse) -> wire.ResponsePartitionData:
    for topic in response.topics:
        for partition in topic.partitions:
            if (topic.topic_name, partition.partition_index) == (
                METADATA_TOPIC,
                METADATA_PARTITION,
            ):
                return partition
    raise MissingFromAnswer(
        f"the answer to DescribeQuorum left out {METADATA_TOPIC}-{METADATA_PARTITION}"
    )


def _replica(state: wire.ReplicaState) -> ReplicaState:
    directory_id = state.replica_directory_id
    return ReplicaState(
        replica_id=state.replica_id,
        replica_directory_id=None if directory_id == ZERO_UUID else directory_id,
        log_end_offset=state.log_end_offset,
        last_fetch_timestamp=known(state.last_fetch_timestamp),
        last_caught_up_timestamp=known(state.last_caught_up_timestamp),
    )


def _node(node: wire.Node) -> QuorumNode:
    return QuorumNode(
        node_id=node.node_id,
        endpoints=tuple(
            RaftVoterEndpoint(name=listener.name, host=listener.host, port=listener.port)
            for listener in node.listeners
        ),
    )


def _described(
    response: wire.DescribeQuorumResponse, call: OperationCall[None, None]
) -> Iterator[tuple[None, QuorumInfo]]:
    yield None, quorum_of(response)


DESCRIBE_METADATA_QUORUM: Operation[None, None, QuorumInfo] = Operation(
    row=registry.DESCRIBE_METADATA_QUORUM, build=lambda call: quorum_request(), parse=_described
)


def is_silent(quorum: QuorumInfo, replica: ReplicaState) -> bool:
    """Return True unless the leader received a fetch of this replica within SILENT_MS."""
    silent = quorum.silent_ms(replica)
    return silent is None or silent > SILENT_MS


async def cluster_id(driver: Driver, *, timeout: float | None = None) -> str | None:
    """Return the id of the cluster that is asked: text, to be compared as such.

    None where controllers do not tell it: before Kafka 3.7, to a principal without ALTER on the
    cluster, and as long as they have found no leader.
    """
    router = driver.router
    cluster = await router.known_cluster(router.deadline(timeout))
    return None if cluster is None else cluster.cluster_id


async def describe_metadata_quorum(driver: Driver, *, timeout: float | None = None) -> QuorumInfo:
    """Return leader, voters and observers of the metadata quorum, from the leader itself.

    1. Ask the active controller, or a broker, which forwards.
    2. A follower answers NOT_LEADER_OR_FOLLOWER (6) with zeros for leader and epoch, whether or
       not there is a leader: such an answer is dropped and the next node asked.

    Raises NoReachableLeader within about a second if too few controllers answer to elect a
    leader, unless one of them has just started; else when time is up; MismatchedEndpointType;
    ConnectionFailed.
    """
    return await driver.ask(DESCRIBE_METADATA_QUORUM, None, None, timeout=timeout)
