"""Metadata (Java: KRaftMetadataCache): nodes at the proxy's addresses, topics from the image."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.error_codes import ErrorCode
from kwire.image import MetadataImage
from kwire.image.partition import NO_LEADER, PartitionRegistration
from kwire.image.topics import TopicImage
from kwire.messages.a03_metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kwire.proxy.serve.cluster_view import ClusterView
from kwire.text.ids import ZERO_UUID

INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


def answer(request: MetadataRequest, version: int, view: ClusterView) -> MetadataResponse:
    """Answer with the nodes at the proxy's addresses and the topics of the image.

    1. Nodes: every controller and every unfenced broker, and the active controller's id.
    2. Topics: all if none are named, which is an empty array in version 0 and null later.
    3. An unknown name: UNKNOWN_TOPIC_OR_PARTITION. An unknown id (KIP-516): UNKNOWN_TOPIC_ID.
    4. A partition without a leader: LEADER_NOT_AVAILABLE.
    No topic is created, and the authorized operations are not filled in.
    """
    # 2.
    topics = request.topics
    everything = topics is None or (version == 0 and not topics)
    image = view.image
    return MetadataResponse(
        # 1.
        brokers=[
            MetadataResponseBroker(
                node_id=id,
                host=view.nodes[id].host,
                port=view.nodes[id].port,
                rack=view.rack(id),
            )
            for id in view.alive
        ],
        cluster_id=view.cluster_id,
        controller_id=view.controller_id,
        topics=[
            *(
                _all_topics(image)
                if everything
                else (_requested(image, topic) for topic in topics or ())
            ),
        ],
    )


def _all_topics(image: MetadataImage) -> Iterator[MetadataResponseTopic]:
    for name in sorted(image.topics.ids):
        yield _topic(image, image.topics.by_id[image.topics.ids[name]])


def _requested(image: MetadataImage, asked: MetadataRequestTopic) -> MetadataResponseTopic:
    # 3.
    if asked.topic_id != ZERO_UUID:
        topic = image.topics.by_id.get(asked.topic_id)
        missing = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic = image.topics.topic(asked.name or "")
        missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic is None:
        return MetadataResponseTopic(error_code=missing, name=asked.name, topic_id=asked.topic_id)
    return _topic(image, topic)


def _topic(image: MetadataImage, topic: TopicImage) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL,
        partitions=[
            _partition(image, number, topic.partitions[number])
            for number in sorted(topic.partitions)
        ],
    )


def _partition(
    image: MetadataImage, number: int, partition: PartitionRegistration
) -> MetadataResponsePartition:
    # 4.
    has_leader = partition.leader != NO_LEADER
    return MetadataResponsePartition(
        error_code=ErrorCode.NONE if has_leader else ErrorCode.LEADER_NOT_AVAILABLE,
        partition_index=number,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replicas,
        isr_nodes=partition.isr,
        offline_replicas=tuple(
            id for id in partition.replicas if _is_offline(image, id, partition)
        ),
    )


def _is_offline(image: MetadataImage, id: int, partition: PartitionRegistration) -> bool:
    broker = image.cluster.brokers.get(id)
    if broker is None or broker.fenced:
        return True
    return not broker.has_online_directory(partition.directory(id))
