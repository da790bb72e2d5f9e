"""AssignReplicasToDirs, API key 73."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, int64, uuid


class PartitionData(Group):
    partition_index: int = int32


class TopicData(Group):
    topic_id: UUID = uuid
    partitions: list[PartitionData] = array(PartitionData)


class DirectoryData(Group):
    id: UUID = uuid
    topics: list[TopicData] = array(TopicData)


class AssignReplicasToDirsRequest(
    Request, key=73, versions="0", flexible="0+", listeners="controller"
):
    """A broker tells the controller which log directories its replicas are in (KIP-858)."""

    broker_id: int = int32
    broker_epoch: int = field(int64, default=-1)
    directories: list[DirectoryData] = array(DirectoryData)


class ResponsePartitionData(Group):
    partition_index: int = int32
    error_code: int = int16


class ResponseTopicData(Group):
    topic_id: UUID = uuid
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData)


class ResponseDirectoryData(Group):
    id: UUID = uuid
    topics: list[ResponseTopicData] = array(ResponseTopicData)


class AssignReplicasToDirsResponse(Response, key=73, versions="0", flexible="0+"):
    """The controller says which directories of replicas it has recorded (KIP-858)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    directories: list[ResponseDirectoryData] = array(ResponseDirectoryData)
