"""The messages of the codec benchmark: what a busy cluster sends, at the sizes it sends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

import kwire
from kwire import Message
from kwire.messages import a00_produce as produce
from kwire.messages import a01_fetch as fetch
from kwire.messages import a03_metadata as metadata
from kwire.messages import a18_api_versions as api_versions
from kwire.messages import a55_describe_quorum as quorum
from kwire.messages import a56_alter_partition as alter
from kwire.messages import a80_add_raft_voter as add_voter
from kwire.messages.metadata_topic import METADATA_TOPIC

UUID_START = b"UUID\x40\x00\x80\x00"
"""What the first half of all UUIDs is."""

KIB = bytes(range(256)) * 4
"""What a records field holds: its content does not matter to the codec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """One message at one version. `mixed`: neighbours differ in shape."""

    title: str
    version: int
    make: Callable[[], Message]
    mixed: bool = False

    @property
    def name(self) -> str:
        """Its schema's name."""
        return type(self.make()).__name__

    def data(self) -> bytes:
        """Its bytes."""
        return self.make().encode(self.version)


def payloads() -> Iterator[Payload]:
    """All of them."""
    yield Payload(title="ApiVersions v4 response, 62 APIs", version=4, make=_api_versions)
    yield Payload(title="Metadata v12 response, 100 x 6", version=12, make=_metadata)
    yield Payload(title="Metadata v5 response, 100 x 6", version=5, make=_metadata)
    yield Payload(title="DescribeQuorum v2 response, 3 + 20", version=2, make=_quorum)
    yield Payload(title="AlterPartition v3 request, 200", version=3, make=_alter)
    yield Payload(title="Fetch v13 response, 200 x 1 KiB", version=13, make=_fetch)
    yield Payload(title="AddRaftVoter v1 request", version=1, make=_add_voter)
    yield Payload(title="Produce v9 request, 60 x 1 KiB", version=9, make=_produce)
    mixed = {"mixed": True}
    yield Payload(title="Metadata v12, mixed shapes", version=12, make=_mixed_metadata, **mixed)
    yield Payload(title="AlterPartition v3, mixed shapes", version=3, make=_mixed_alter, **mixed)


def fresh_uuids(data: bytes, number: int) -> bytes:
    """The same message with UUIDs that no other number has."""
    return data.replace(UUID_START, number.to_bytes(8, "big"))


def _uuid(number: int) -> UUID:
    return UUID(bytes=UUID_START + (number * 7919).to_bytes(8, "big"))


def _api_versions() -> Message:
    apis = [
        api_versions.ApiVersion(api_key=key, min_version=0, max_version=key % 13)
        for key in range(62)
    ]
    features = {"metadata.version": 29, "kraft.version": 1, "group.version": 1}
    return api_versions.ApiVersionsResponse(
        api_keys=apis,
        supported_features=[
            api_versions.SupportedFeatureKey(name=name, max_version=level)
            for name, level in features.items()
        ],
        finalized_features_epoch=812,
        finalized_features=[
            api_versions.FinalizedFeatureKey(
                name=name, max_version_level=level, min_version_level=level
            )
            for name, level in features.items()
        ],
    )


def _metadata(mixed: bool = False) -> Message:
    def partition(topic: int, index: int) -> metadata.MetadataResponsePartition:
        brokers = (1 + index % 3, 1 + (index + 1) % 3, 1 + (index + 2) % 3)
        odd = mixed and (topic + index) % 3 == 0
        return metadata.MetadataResponsePartition(
            partition_index=index,
            leader_id=brokers[0],
            leader_epoch=0 if odd else 4,
            replica_nodes=brokers,
            isr_nodes=brokers[:2] if odd else brokers,
            offline_replicas=brokers[2:] if odd else (),
        )

    topics = [
        metadata.MetadataResponseTopic(
            name=f"orders-{number:04d}-events",
            topic_id=_uuid(number),
            partitions=[partition(number, index) for index in range(6)],
        )
        for number in range(100)
    ]
    brokers = [
        metadata.MetadataResponseBroker(
            node_id=node, host=f"broker-{node}.kafka.internal", port=9092, rack=f"zone-{node}"
        )
        for node in (1, 2, 3)
    ]
    return metadata.MetadataResponse(
        brokers=brokers, cluster_id="MkU3OEVBNTcwNTJENDM2Qk", controller_id=1, topics=topics
    )


def _mixed_metadata() -> Message:
    return _metadata(mixed=True)


def _quorum() -> Message:
    def replica(node: int) -> quorum.ReplicaState:
        return quorum.ReplicaState(
            replica_id=node,
            replica_directory_id=_uuid(node),
            log_end_offset=1_234_567 - node,
            last_fetch_timestamp=1_760_000_000_000 + node,
            last_caught_up_timestamp=1_760_000_000_000 - node,
        )

    partition = quorum.ResponsePartitionData(
        leader_id=1,
        leader_epoch=17,
        high_watermark=1_234_560,
        current_voters=[replica(node) for node in range(3)],
        observers=[replica(node) for node in range(100, 120)],
    )
    nodes = [
        quorum.Node(
            node_id=node,
            listeners=[quorum.Listener(name="CONTROLLER", host=f"controller-{node}", port=9093)],
        )
        for node in range(3)
    ]
    topic = quorum.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return quorum.DescribeQuorumResponse(topics=[topic], nodes=nodes)


def _alter(mixed: bool = False) -> Message:
    def partition(index: int) -> alter.PartitionData:
        nodes = (1, 2) if mixed and index % 3 == 0 else (1, 2, 3)
        isr = [alter.BrokerState(broker_id=node, broker_epoch=1000 + node) for node in nodes]
        return alter.PartitionData(
            partition_index=index, leader_epoch=4, new_isr_with_epochs=isr, partition_epoch=9
        )

    topics = [
        alter.TopicData(
            topic_id=_uuid(number), partitions=[partition(index) for index in range(20)]
        )
        for number in range(10)
    ]
    return alter.AlterPartitionRequest(broker_id=1, broker_epoch=1001, topics=topics)


def _mixed_alter() -> Message:
    return _alter(mixed=True)


def _fetch() -> Message:
    partitions = [
        fetch.PartitionData(
            partition_index=index,
            high_watermark=100_000 + index,
            last_stable_offset=100_000 + index,
            log_start_offset=0,
            aborted_transactions=None,
            records=KIB,
        )
        for index in range(20)
    ]
    topics = [
        fetch.FetchableTopicResponse(topic_id=_uuid(number), partitions=partitions)
        for number in range(10)
    ]
    return fetch.FetchResponse(session_id=77, responses=topics)


def _add_voter() -> Message:
    listeners = [add_voter.Listener(name="CONTROLLER", host="controller-3.kafka", port=9093)]
    return add_voter.AddRaftVoterRequest(
        cluster_id="MkU3OEVBNTcwNTJENDM2Qk",
        timeout_ms=30_000,
        voter_id=3,
        voter_directory_id=_uuid(3),
        listeners=listeners,
    )


def _produce() -> Message:
    topics = [
        produce.TopicProduceData(
            name=f"orders-{number}",
            partition_data=[
                produce.PartitionProduceData(index=index, records=KIB) for index in range(6)
            ],
        )
        for number in range(10)
    ]
    return produce.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=topics)


def class_of(payload: Payload) -> type[Message]:
    """The class of a payload's message."""
    return kwire.message(payload.name)
