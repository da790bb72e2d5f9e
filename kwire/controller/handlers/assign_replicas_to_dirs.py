"""AssignReplicasToDirs (KIP-858)."""

from __future__ import annotations

from uuid import UUID

from kwire.controller.handlers.placement import replication_control
from kwire.controller.handlers.result import ControllerContext, ControllerResult, VersionedRecords
from kwire.controller.replicas.replication_control import LocatedPartition
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.broker import BrokerRegistration
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
    4. The directory alone is one record. A replica in a directory that is offline leaves the ISR
       by a second one, after those of all directories.
    """
    # 1.
    if not context.metadata_version.supports_directory_assignment:
        text = f"metadata.version {context.metadata_version.name} has no directories of replicas."
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
    # 2.
    broker = context.broker(request.broker_id, request.broker_epoch)
    replication = replication_control(context)
    records: VersionedRecords = []
    offline: dict[tuple[UUID, int], LocatedPartition] = {}
    directories = []
    for directory in request.directories:
        is_online = broker.has_online_directory(directory.id)
        topics = []
        for topic in directory.topics:
            partitions = []
            for partition in topic.partitions:
                where = topic.topic_id, partition.partition_index
                code = ErrorCode.NONE
                try:
                    located = _located(*where, broker, context)
                except ApiError as error:
                    code = error.code
                else:
                    records += replication.moved_to_directory(located, broker.id, directory.id)
                    if not is_online:
                        offline[where] = located
                partitions.append(ResponsePartitionData(partition_index=where[1], error_code=code))
            topics.append(ResponseTopicData(topic_id=topic.topic_id, partitions=partitions))
        directories.append(ResponseDirectoryData(id=directory.id, topics=topics))
    # 4.
    records += replication.taken_out(broker.id, offline.values())
    response = AssignReplicasToDirsResponse(directories=directories)
    return ControllerResult(records=tuple(records), response=response)


def _located(
    topic_id: UUID, number: int, broker: BrokerRegistration, context: ControllerContext
) -> LocatedPartition:
    # 3.
    topic = context.image.topics.by_id.get(topic_id)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
    partition = topic.partitions.get(number)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if broker.id not in partition.replicas:
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return topic, number, partition
