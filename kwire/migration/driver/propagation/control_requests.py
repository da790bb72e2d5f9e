"""The requests of one step to every broker, gathered by partition, written by broker.

As kafka.controller.AbstractControllerBrokerRequestBatch of Kafka 3.9 with
kafka.migration.MigrationPropagatorBatch (KIP-866).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar
from uuid import UUID

from msgspec import Struct

from kwire.image import MetadataImage
from kwire.image.endpoint import Endpoint
from kwire.image.partition import PartitionRegistration
from kwire.messages.a04_leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from kwire.messages.a05_stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from kwire.messages.a06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from kwire.messages.control_requests import LEADER_DURING_DELETE, ControlRequestType
from kwire.migration.driver.propagation.broker_changes import is_told

_NO_TOPIC_ID = UUID(int=0)

State = TypeVar("State")

PartitionName: TypeAlias = tuple[str, int]

BrokerControlRequest: TypeAlias = LeaderAndIsrRequest | StopReplicaRequest | UpdateMetadataRequest


class BrokerRequest(Struct, frozen=True, kw_only=True):
    """A request to one broker and its version."""

    broker_id: int
    request: BrokerControlRequest
    version: int


class ControlRequestSender(Struct, frozen=True, kw_only=True):
    """The controller in whose name requests are made.

    zk_epoch: the epoch that it claimed in ZooKeeper, by which brokers know the newest controller.
    inter_broker_listener: the brokers' listener under which they reach each other.
    """

    node_id: int
    zk_epoch: int
    inter_broker_listener: str


class ControlRequestBatch:
    """The requests of one step. Partition states go to every broker of an UpdateMetadata alike.

    raft_epoch: the epoch of the last record of the image, which each partition state has as its
    controller epoch.
    """

    def __init__(
        self,
        sender: ControlRequestSender,
        image: MetadataImage,
        raft_epoch: int,
        type: ControlRequestType,
    ) -> None:
        self._sender = sender
        self._image = image
        self._raft_epoch = raft_epoch
        self._type = type
        self._version = image.features.metadata_version
        self._told = {b.id: b.epoch for b in image.cluster.brokers.values() if is_told(b)}
        self._leader_and_isr: defaultdict[int, dict[PartitionName, LeaderAndIsrPartitionState]]
        self._leader_and_isr = defaultdict(dict)
        self._stopped: defaultdict[int, dict[PartitionName, StopReplicaPartitionState]]
        self._stopped = defaultdict(dict)
        self._updated_brokers: set[int] = set()
        self._updates_all = False
        self._updates: dict[PartitionName, UpdateMetadataPartitionState] = {}
        self._forgotten: set[str] = set()

    def lead_or_follow(
        self, brokers: Iterable[int], topic: str, number: int, partition: PartitionRegistration
    ) -> None:
        """Add a partition to the LeaderAndIsr of these brokers and to every UpdateMetadata."""
        state = LeaderAndIsrPartitionState(
            partition_index=number,
            controller_epoch=self._raft_epoch,
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            isr=partition.isr,
            partition_epoch=partition.partition_epoch,
            replicas=partition.replicas,
            adding_replicas=partition.adding_replicas,
            removing_replicas=partition.removing_replicas,
            is_new=True,
            leader_recovery_state=partition.leader_recovery_state,
        )
        for broker in brokers:
            if broker in self._told:
                self._leader_and_isr[broker][topic, number] = state
        # All brokers cache metadata of partitions of which they have no replica.
        self._updates_all = True
        self.update_partition(topic, number, partition)

    def update_brokers(self, brokers: Iterable[int]) -> None:
        """Have these brokers get an UpdateMetadata: live brokers and what partitions are added."""
        self._updated_brokers.update(self._told.keys() & set(brokers))

    def update_partition(self, topic: str, number: int, partition: PartitionRegistration) -> None:
        """Add a partition to every UpdateMetadata."""
        registered = self._image.cluster.brokers
        self._updates[topic, number] = UpdateMetadataPartitionState(
            partition_index=number,
            controller_epoch=self._raft_epoch,
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            isr=partition.isr,
            zk_version=partition.partition_epoch,
            replicas=partition.replicas,
            offline_replicas=tuple(id for id in partition.replicas if id not in registered),
        )

    def forget_partition(self, topic: str, number: int, partition: PartitionRegistration) -> None:
        """Add a partition of a deleted topic to every UpdateMetadata.

        Its controller epoch is ZooKeeper's, and its offline replicas are those that are registered:
        so they are in Java. A broker that removes a partition reads neither.
        """
        self._forgotten.add(topic)
        registered = self._image.cluster.brokers
        self._updates[topic, number] = UpdateMetadataPartitionState(
            partition_index=number,
            controller_epoch=self._sender.zk_epoch,
            leader=LEADER_DURING_DELETE,
            leader_epoch=0,
            isr=partition.isr,
            zk_version=0,
            replicas=partition.replicas,
            offline_replicas=tuple(id for id in partition.replicas if id in registered),
        )

    def delete_replicas(
        self, brokers: Iterable[int], topic: str, number: int, leader_epoch: int
    ) -> None:
        """Have these brokers delete their replicas of a partition.

        leader_epoch: of the partition, or EPOCH_DURING_DELETE if it is gone; a broker refuses one
        below its own.
        """
        state = StopReplicaPartitionState(
            partition_index=number, leader_epoch=leader_epoch, delete_partition=True
        )
        for broker in self._told.keys() & set(brokers):
            self._stopped[broker][topic, number] = state

    def requests(self) -> Iterator[BrokerRequest]:
        """Yield the requests, in the order in which a broker must get them."""
        yield from self._leader_and_isr_requests()
        yield from self._update_metadata_requests()
        yield from self._stop_replica_requests()

    def _leader_and_isr_requests(self) -> Iterator[BrokerRequest]:
        version = self._version.leader_and_isr_request
        for broker, states in sorted(self._leader_and_isr.items()):
            topic_states = [
                LeaderAndIsrTopicState(
                    topic_name=topic, topic_id=self._topic_id(topic), partition_states=partitions
                )
                for topic, partitions in _by_topic(states)
            ]
            leaders = {state.leader for state in states.values()}
            request = LeaderAndIsrRequest(
                controller_id=self._sender.node_id,
                is_k_raft_controller=version >= 7,
                controller_epoch=self._sender.zk_epoch,
                broker_epoch=self._told[broker],
                type=self._type,
                topic_states=topic_states,
                live_leaders=list(self._live_leaders(leaders)),
            )
            yield BrokerRequest(broker_id=broker, request=request, version=version)

    def _live_leaders(self, ids: Iterable[int]) -> Iterator[LeaderAndIsrLiveLeader]:
        """Yield the leaders that followers connect to.

        One without the listener of the brokers is left out, where Java fails: it cannot have come
        from a registration that a controller of either kind accepted.
        """
        for id in sorted(ids):
            broker = self._image.cluster.brokers.get(id)
            for endpoint in broker.endpoints if broker else ():
                if endpoint.name == self._sender.inter_broker_listener:
                    yield LeaderAndIsrLiveLeader(
                        broker_id=id, host_name=endpoint.host, port=endpoint.port
                    )

    def _update_metadata_requests(self) -> Iterator[BrokerRequest]:
        receivers = sorted(self._told if self._updates_all else self._updated_brokers)
        if not receivers:
            return
        version = self._version.update_metadata_request
        # The same lists for all brokers: nobody changes a request once it is made.
        topic_states = [
            UpdateMetadataTopicState(
                topic_name=topic, topic_id=self._topic_id(topic), partition_states=partitions
            )
            for topic, partitions in _by_topic(self._updates)
        ]
        live_brokers = list(self._live_brokers())
        for broker in receivers:
            request = UpdateMetadataRequest(
                controller_id=self._sender.node_id,
                is_k_raft_controller=version >= 8,
                type=self._type if version >= 8 else ControlRequestType.UNKNOWN,
                controller_epoch=self._sender.zk_epoch,
                broker_epoch=self._told[broker],
                topic_states=topic_states,
                live_brokers=live_brokers,
            )
            yield BrokerRequest(broker_id=broker, request=request, version=version)

    def _live_brokers(self) -> Iterator[UpdateMetadataBroker]:
        """Yield every registered broker, fenced or not, as Java does."""
        for id in sorted(self._image.cluster.brokers):
            broker = self._image.cluster.brokers[id]
            endpoints = [_endpoint(endpoint) for endpoint in broker.endpoints]
            yield UpdateMetadataBroker(id=id, endpoints=endpoints, rack=broker.rack)

    def _stop_replica_requests(self) -> Iterator[BrokerRequest]:
        version = self._version.stop_replica_request
        for broker, states in sorted(self._stopped.items()):
            topic_states = [
                StopReplicaTopicState(topic_name=topic, partition_states=partitions)
                for topic, partitions in _by_topic(states)
            ]
            request = StopReplicaRequest(
                controller_id=self._sender.node_id,
                is_k_raft_controller=version >= 4,
                controller_epoch=self._sender.zk_epoch,
                broker_epoch=self._told[broker],
                topic_states=topic_states,
            )
            yield BrokerRequest(broker_id=broker, request=request, version=version)

    def _topic_id(self, name: str) -> UUID:
        # Another topic may have the name of one that is deleted.
        ids = self._image.topics.ids
        return _NO_TOPIC_ID if name in self._forgotten else ids.get(name, _NO_TOPIC_ID)


def _by_topic(states: Mapping[PartitionName, State]) -> Iterable[tuple[str, list[State]]]:
    """Return the states of each topic, in the order in which they were added."""
    topics: dict[str, list[State]] = {}
    for (topic, _), state in states.items():
        topics.setdefault(topic, []).append(state)
    return topics.items()


def _endpoint(endpoint: Endpoint) -> UpdateMetadataEndpoint:
    return UpdateMetadataEndpoint(
        port=endpoint.port,
        host=endpoint.host,
        listener=endpoint.name,
        security_protocol=endpoint.security_protocol,
    )
