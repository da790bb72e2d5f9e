"""Log directories of brokers and the replicas in them (KIP-113, KIP-827, KIP-1066)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import ReplicaNotFound, raise_for_code, refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.admin.topic_partition import TopicPartition, TopicPartitionReplica, by_topic
from kwire.admin.wire_values import known
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, KwireError
from kwire.messages.a34_alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from kwire.messages.a35_describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)

_CORDONED_SINCE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaInLogDir:
    """A replica in a directory (Java: ReplicaInfo).

    size: bytes of its log segments. offset_lag: records behind the high watermark, or, of a future
    replica, behind the current one. is_future: being moved into this directory.
    """

    size: int
    offset_lag: int
    is_future: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDirDescription:
    """A log directory of a broker.

    error: why the broker cannot use it, KAFKA_STORAGE_ERROR (56) for a disk that failed.
    total_bytes, usable_bytes: of its volume; None before Kafka 3.3 (KIP-827).
    is_cordoned: True if it takes no new replicas (KIP-1066); None before Kafka 4.3.
    """

    error: BrokerError | None
    replicas: Mapping[TopicPartition, ReplicaInLogDir]
    total_bytes: int | None
    usable_bytes: int | None
    is_cordoned: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaLogDirs:
    """The directories of one replica: the current one, and the one it is being moved to.

    Lags count records: behind the high watermark, and behind the current replica. current is None
    while only the new directory has the replica, future without a move.
    """

    current: str | None
    current_offset_lag: int | None
    future: str | None
    future_offset_lag: int | None


LogDirsByPath = Mapping[str, LogDirDescription]
"""The directories of one broker."""


def _log_dirs(response: DescribeLogDirsResponse, since_cordoned: bool) -> LogDirsByPath:
    """Return the directories in an answer. Raises BrokerError if it refuses the request."""
    raise_for_code(response.error_code)
    if not response.results:
        # Before version 3 there is no code for all of it, and every broker has a directory.
        raise_for_code(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    return {result.log_dir: _log_dir(result, since_cordoned) for result in response.results}


def _log_dir(result: DescribeLogDirsResult, since_cordoned: bool) -> LogDirDescription:
    return LogDirDescription(
        error=refusal(result.error_code),
        replicas={
            TopicPartition(topic.name, partition.partition_index): ReplicaInLogDir(
                size=partition.partition_size,
                offset_lag=partition.offset_lag,
                is_future=partition.is_future_key,
            )
            for topic in result.topics
            for partition in topic.partitions
        },
        total_bytes=known(result.total_bytes),
        usable_bytes=known(result.usable_bytes),
        is_cordoned=result.is_cordoned if since_cordoned else None,
    )


def _described(
    response: DescribeLogDirsResponse, call: OperationCall[int, None]
) -> Iterator[tuple[int, LogDirsByPath]]:
    since_cordoned = call.offers(DescribeLogDirsRequest, since=_CORDONED_SINCE)
    for broker_id in call.keys:
        yield broker_id, _log_dirs(response, since_cordoned)


DESCRIBE_LOG_DIRS: Operation[int, None, LogDirsByPath] = Operation(
    row=registry.DESCRIBE_LOG_DIRS,
    build=lambda call: DescribeLogDirsRequest(topics=None),
    parse=_described,
)


def _replicas_request(call: OperationCall[TopicPartitionReplica, None]) -> DescribeLogDirsRequest:
    topics = [
        DescribableLogDirTopic(topic=topic, partitions=partitions)
        for topic, partitions in by_topic(call.keys).items()
    ]
    return DescribeLogDirsRequest(topics=topics)


def _replicas(
    response: DescribeLogDirsResponse, call: OperationCall[TopicPartitionReplica, None]
) -> Iterator[tuple[TopicPartitionReplica, ReplicaLogDirs | KwireError]]:
    directories = _log_dirs(response, since_cordoned=False)
    for replica in call.keys:
        yield replica, _directories_of(replica, directories)


def _directories_of(
    replica: TopicPartitionReplica, directories: LogDirsByPath
) -> ReplicaLogDirs | KwireError:
    current = current_lag = future = future_lag = None
    for path, directory in directories.items():
        found = directory.replicas.get(replica.topic_partition)
        if found is not None and found.is_future:
            future, future_lag = path, found.offset_lag
        elif found is not None:
            current, current_lag = path, found.offset_lag
    if current is None and future is None:
        # A directory that failed lists nothing: the replica may be there.
        failed = [path for path, directory in directories.items() if directory.error]
        hint = f", but {', '.join(failed)} cannot be read" if failed else ""
        return ReplicaNotFound(
            f"broker {replica.broker_id} has no replica of {replica.topic_partition}{hint}"
        )
    return ReplicaLogDirs(
        current=current,
        current_offset_lag=current_lag,
        future=future,
        future_offset_lag=future_lag,
    )


DESCRIBE_REPLICA_LOG_DIRS: Operation[TopicPartitionReplica, None, ReplicaLogDirs] = Operation(
    row=registry.DESCRIBE_REPLICA_LOG_DIRS,
    build=_replicas_request,
    parse=_replicas,
    target=lambda replica, arguments: replica.broker_id,
)


LogDirByReplica = Mapping[TopicPartitionReplica, str]
"""The arguments of ALTER_REPLICA_LOG_DIRS: the directory that each replica shall be in."""


def _move_request(
    call: OperationCall[TopicPartitionReplica, LogDirByReplica],
) -> AlterReplicaLogDirsRequest:
    by_path: defaultdict[str, list[TopicPartitionReplica]] = defaultdict(list)
    for replica in call.keys:
        by_path[call.arguments[replica]].append(replica)
    return AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path,
                topics=[
                    AlterReplicaLogDirTopic(name=topic, partitions=partitions)
                    for topic, partitions in by_topic(replicas).items()
                ],
            )
            for path, replicas in by_path.items()
        ]
    )


def _moved(
    response: AlterReplicaLogDirsResponse,
    call: OperationCall[TopicPartitionReplica, LogDirByReplica],
) -> Iterator[tuple[TopicPartitionReplica, KwireError | None]]:
    replicas = {replica.topic_partition: replica for replica in call.keys}
    for topic in response.results:
        for partition in topic.partitions:
            key = TopicPartition(topic.topic_name, partition.partition_index)
            if key in replicas:
                yield replicas[key], refusal(partition.error_code)


ALTER_REPLICA_LOG_DIRS: Operation[TopicPartitionReplica, LogDirByReplica, None] = Operation(
    row=registry.ALTER_REPLICA_LOG_DIRS,
    build=_move_request,
    parse=_moved,
    target=lambda replica, arguments: replica.broker_id,
)


async def describe_log_dirs(
    driver: Driver, broker_ids: Iterable[int] | None = None, *, timeout: float | None = None
) -> Outcomes[int, LogDirsByPath]:
    """Return the directories of each broker by path, with the replicas in them.

    broker_ids: by default every broker that is not fenced.

    Outcomes: NodeNotFound, CLUSTER_AUTHORIZATION_FAILED (31). A directory that failed has its
    own error.
    """
    if broker_ids is None:
        return await driver.run_everywhere(DESCRIBE_LOG_DIRS, None, timeout=timeout)
    return await driver.run(DESCRIBE_LOG_DIRS, broker_ids, None, timeout=timeout)


async def describe_replica_log_dirs(
    driver: Driver, replicas: Iterable[TopicPartitionReplica], *, timeout: float | None = None
) -> Outcomes[TopicPartitionReplica, ReplicaLogDirs]:
    """Return the directory of each replica, and the one it is being moved to.

    Outcomes: NodeNotFound, ReplicaNotFound, CLUSTER_AUTHORIZATION_FAILED (31).
    """
    return await driver.run(DESCRIBE_REPLICA_LOG_DIRS, replicas, None, timeout=timeout)


async def alter_replica_log_dirs(
    driver: Driver, directories: LogDirByReplica, *, timeout: float | None = None
) -> Outcomes[TopicPartitionReplica, None]:
    """Have brokers move replicas to other directories of theirs; they copy in the background.

    Outcomes: LOG_DIR_NOT_FOUND (57) if the broker has no such directory, KAFKA_STORAGE_ERROR
    (56), CLUSTER_AUTHORIZATION_FAILED (31). REPLICA_NOT_AVAILABLE (9): the broker has no such
    replica yet, and remembers where to create it until it is restarted.
    """
    return await driver.run(ALTER_REPLICA_LOG_DIRS, directories, directories, timeout=timeout)
