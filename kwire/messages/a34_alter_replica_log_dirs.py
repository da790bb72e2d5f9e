"""AlterReplicaLogDirs, API key 34."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, string


class AlterReplicaLogDirTopic(Group):
    name: str = string
    partitions: tuple[int, ...] = array(int32)


class AlterReplicaLogDir(Group):
    path: str = string
    topics: list[AlterReplicaLogDirTopic] = array(AlterReplicaLogDirTopic)


class AlterReplicaLogDirsRequest(
    Request, key=34, versions="0-2", flexible="2+", listeners="broker"
):
    """An admin moves replicas between the log directories of one broker (KIP-113)."""

    dirs: list[AlterReplicaLogDir] = array(AlterReplicaLogDir)


class AlterReplicaLogDirPartitionResult(Group):
    partition_index: int = int32
    error_code: int = int16


class AlterReplicaLogDirTopicResult(Group):
    topic_name: str = string
    partitions: list[AlterReplicaLogDirPartitionResult] = array(AlterReplicaLogDirPartitionResult)


class AlterReplicaLogDirsResponse(Response, key=34, versions="0-2", flexible="2+"):
    """The broker says which replicas it has begun to move (KIP-113)."""

    throttle_time_ms: int = int32
    results: list[AlterReplicaLogDirTopicResult] = array(AlterReplicaLogDirTopicResult)
