"""AssignReplicasToDirs (KIP-858)."""

from __future__ import annotations

from uuid import UUID

from kwire.controller.errors import ApiError
from kwire.controller.handlers.placement import replication_control
from kwire.controller.handlers.result import ControllerContext, ControllerResult, Records
from kwire.error_codes import ErrorCode
from kwire.image.broker import BrokerRegistration
from kwire.image.partition import PartitionRegistration
from kwire.image.topics import TopicImage
from kwire.messages.a73_assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)


def handle(request: AssignReplicasToDirsRequest, context: ControllerContext) -> ControllerResult:
    """Record in which of its directories a broker has replicas (Java:
    ReplicationControlManager.handleAssignReplicasToDirs).

    1. metadata.version without directories: UNSUPPORTED_VERSION.
    2. Not the broker's latest epoch: STALE_BROKER_EPOCH.
    3. For each partition: topic unknown: UNKNOWN_TOPIC_ID; partition unknown:
       UNKNOWN_TOPIC_OR_PARTITION; the broker has no replica of it: NOT_LEADER_OR_FOLLOWER.
    4. A replica in a directory that is offline leaves the ISR, too.
    """
    # 1.
    if not context.metadata_version.supports_directory_assignment:
        text = f"metadata.version {context.metadata_version.name} has no directories of replicas."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    # 2.
    broker = context.broker(request.broker_id, request.broker_epoch)
    records: Records = []
    directories = []
    for directory in request.directories:
        topics = []
        for topic in directory.topics:
            partitions = []
            for partition in topic.partitions:
                where = topic.topic_id, partition.partition_index
                code = _assign(where, directory.id, broker, context, records)
                partitions.append(ResponsePartitionData(partition_index=where[1], error_code=code))
            topics.append(ResponseTopicData(topic_id=topic.topic_id, partitions=partitions))
        directories.append(ResponseDirectoryData(id=directory.id, topics=topics))
    response = AssignReplicasToDirsResponse(directories=directories)
    return ControllerResult(records=tuple(records), response=response)


def _assign(
    where: tuple[UUID, int],
    directory: UUID,
    broker: BrokerRegistration,
    context: ControllerContext,
    records: Records,
) -> ErrorCode:
    # 3.
    topic = context.image.topics.by_id.get(where[0])
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    partition = topic.partitions.get(where[1])
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if broker.id not in partition.replicas:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    records += _records(topic, where[1], partition, directory, broker, context)
    return ErrorCode.NONE


def _records(
    topic: TopicImage,
    number: int,
    partition: PartitionRegistration,
    directory: UUID,
    broker: BrokerRegistration,
    context: ControllerContext,
) -> Records:
    # 4.
    active = context.image.cluster.is_active
    offline = not broker.has_online_directory(directory)
    isr = tuple(replica for replica in partition.isr if replica != broker.id)
    record = replication_control(context).change(
        (topic, number, partition),
        acceptable=lambda replica: active(replica) and not (offline and replica == broker.id),
        isr=isr if offline else None,
        directories={broker.id: directory},
    )
    return [] if record is None else [record]
