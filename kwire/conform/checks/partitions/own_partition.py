"""A partition of a topic of the check's own, and AlterPartition for it in its leader's name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from kwire.conform.expectation import expect_error, first_error
from kwire.conform.metadata_log import FetchedLog, read_log
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.image.metadata import MetadataImage
from kwire.image.partition import PartitionRegistration
from kwire.messages import AlterPartitionRequest, CreateTopicsRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPartition:
    """The only partition of a topic, as the metadata log has it."""

    server: Server
    name: str
    topic_id: UUID
    log: FetchedLog
    image: MetadataImage

    @property
    def state(self) -> PartitionRegistration:
        """Replicas, leader, ISR and epochs."""
        return self.image.topics.by_id[self.topic_id].partitions[0]

    def alter(
        self,
        *,
        sender: int | None = None,
        broker_epoch: int | None = None,
        isr: Sequence[int] | None = None,
        isr_epoch: int | None = None,
        topic_id: UUID | None = None,
        **changes: object,
    ) -> AlterPartitionRequest:
        """Return AlterPartition v3 as the leader would send it; changes: of its partition.

        sender: the leader by default. broker_epoch: the sender's own by default.
        """
        leader = self.state.leader if sender is None else sender
        members = self.state.isr if isr is None else isr
        states = [
            {
                "broker_id": member,
                "broker_epoch": self.epoch(member) if isr_epoch is None else isr_epoch,
            }
            for member in members
        ]
        partition = {
            "leader_epoch": self.state.leader_epoch,
            "new_isr_with_epochs": states,
            "leader_recovery_state": self.state.leader_recovery_state,
            "partition_epoch": self.state.partition_epoch,
            **changes,
        }
        return filled(
            AlterPartitionRequest,
            broker_id=leader,
            broker_epoch=self.epoch(leader) if broker_epoch is None else broker_epoch,
            topics=[{"topic_id": topic_id or self.topic_id, "partitions": [partition]}],
        )

    def epoch(self, broker_id: int) -> int:
        """Return a broker's epoch, -1 if it is not registered."""
        broker = self.image.cluster.brokers.get(broker_id)
        return -1 if broker is None else broker.epoch

    async def read(self) -> OwnPartition:
        """Return the partition as the log has it now."""
        return await _read(self.server, self.name)


async def own_partition(server: Server, *replicas: int) -> OwnPartition:
    """Create a topic at the active controller, on one broker or on these. Raises Skipped."""
    connection = await server.active_controller()
    connection.demand(AlterPartitionRequest, 3)
    name = server.name()
    count = -1 if replicas else 1
    topic = {
        "name": name,
        "num_partitions": count,
        "replication_factor": count,
        "assignments": [{"broker_ids": replicas}] if replicas else [],
    }
    server.remove_topic(name)
    answer = await connection.ask(filled(CreateTopicsRequest, topics=[topic], timeout_ms=10_000))
    if first_error(answer) == ErrorCode.INVALID_REPLICATION_FACTOR:
        raise Skipped("the cluster has no broker that could have a topic")
    expect_error(answer, ErrorCode.NONE)
    return await _read(server, name)


async def own_pair(server: Server) -> OwnPartition:
    """Create a topic whose partition is on two brokers that are up. Raises Skipped."""
    brokers = (await read_log(server)).image.cluster.brokers.values()
    up = [broker.id for broker in brokers if not broker.fenced]
    if len(up) < 2:
        raise Skipped("the cluster has one broker only")
    return await own_partition(server, *up[:2])


async def _read(server: Server, name: str) -> OwnPartition:
    log = await read_log(server)
    image = log.image
    topic_id = next(topic.id for topic in image.topics.by_id.values() if topic.name == name)
    return OwnPartition(server=server, name=name, topic_id=topic_id, log=log, image=image)
