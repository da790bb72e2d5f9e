"""Log directories: a broker's answer by directory, replicas found in them, moves between them."""

from typing import cast

import pytest

from kwire.admin import AdminClient
from kwire.admin.errors import NodeNotFound, ReplicaNotFound
from kwire.admin.logdirs import ReplicaInLogDir, ReplicaLogDirs
from kwire.admin.topic_partition import TopicPartition, TopicPartitionReplica
from kwire.codec.declaration import Response
from kwire.errors import BrokerError, InvalidValue
from kwire.messages import a34_alter_replica_log_dirs as moving
from kwire.messages import a35_describe_log_dirs as dirs
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.frames import RequestFrame
from scripted_node import api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers

ORDERS_0 = TopicPartition("orders", 0)


def replica(text: str) -> TopicPartitionReplica:
    return TopicPartitionReplica.parse(text)


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(brokers.addresses, timeout=60)


def directory(
    path: str, size: int = -1, *, is_future: bool = False, error_code: int = 0, total: int = -1
) -> dirs.DescribeLogDirsResult:
    """A directory with a replica of orders-0 of that size; with none for -1."""
    partition = dirs.DescribeLogDirsPartition(
        partition_size=size, offset_lag=size // 10, is_future_key=is_future
    )
    topic = dirs.DescribeLogDirsTopic(name="orders", partitions=[partition])
    return dirs.DescribeLogDirsResult(
        log_dir=path,
        error_code=error_code,
        topics=[topic] if size >= 0 else [],
        total_bytes=total,
        usable_bytes=total,
        is_cordoned=total > 0,
    )


def answering(brokers: ScriptedBrokers, *results: dirs.DescribeLogDirsResult) -> None:
    for node in brokers.nodes:
        node.scripts[dirs.DescribeLogDirsRequest] = lambda request: dirs.DescribeLogDirsResponse(
            results=list(results)
        )


async def test_every_broker_tells_its_directories_those_that_failed_with_their_error() -> None:
    async with scripted_brokers(2) as two, client(two) as admin:
        answering(two, directory("/a", 70, total=100), directory("/b", error_code=56))
        outcomes = await admin.describe_log_dirs()
    assert [*outcomes] == [0, 1]
    good, bad = outcomes[1]["/a"], outcomes[1]["/b"]
    assert good.replicas == {ORDERS_0: ReplicaInLogDir(size=70, offset_lag=7, is_future=False)}
    assert (good.error, good.total_bytes, good.usable_bytes, good.is_cordoned) == (
        None,
        100,
        100,
        True,
    )
    assert str(bad.error) == "KAFKA_STORAGE_ERROR: a disk of the broker failed"
    assert (bad.total_bytes, bad.usable_bytes, bad.replicas) == (None, None, {})


async def test_an_old_broker_does_not_say_whether_a_directory_is_cordoned() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        answering(brokers, directory("/a"))
        [node] = brokers.nodes
        offered = api_versions(*node.scripts, DescribeLogDirs=(1, 4))
        node.scripts[ApiVersionsRequest] = lambda request: offered
        outcomes = await admin.describe_log_dirs([0])
    assert outcomes[0]["/a"].is_cordoned is None


async def test_no_directory_at_all_means_that_the_user_may_not_see_them() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        answering(brokers)
        outcomes = await admin.describe_log_dirs()
    assert (
        str(outcomes.failed[0])
        == "CLUSTER_AUTHORIZATION_FAILED: the client has no right to this on the cluster"
    )


async def test_a_replica_is_in_one_directory_and_may_be_moving_to_another() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        answering(brokers, directory("/a", 70), directory("/b", 30, is_future=True))
        outcomes = await admin.describe_replica_log_dirs(
            [replica("orders-0@0"), replica("orders-0@9"), replica("orders-5@0")]
        )
        requests = brokers.nodes[0].requests(dirs.DescribeLogDirsRequest)
    assert outcomes[replica("orders-0@0")] == ReplicaLogDirs(
        current="/a", current_offset_lag=7, future="/b", future_offset_lag=3
    )
    assert isinstance(outcomes.failed[replica("orders-0@9")], NodeNotFound)
    missing = outcomes.failed[replica("orders-5@0")]
    assert isinstance(missing, ReplicaNotFound)
    assert str(missing) == "broker 0 has no replica of orders-5"
    topic = dirs.DescribableLogDirTopic(topic="orders", partitions=(0, 5))
    assert requests == [dirs.DescribeLogDirsRequest(topics=[topic])]


async def test_a_replica_that_is_not_found_may_be_on_a_disk_that_failed() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        answering(brokers, directory("/a"), directory("/b", error_code=56))
        outcomes = await admin.describe_replica_log_dirs([replica("orders-0@0")])
    [error] = outcomes.failed.values()
    assert str(error) == "broker 0 has no replica of orders-0, but /b cannot be read"


async def test_moves_are_grouped_by_broker_directory_and_topic() -> None:
    def moved(request: RequestFrame) -> Response:
        body = cast(moving.AlterReplicaLogDirsRequest, request.body)
        return moving.AlterReplicaLogDirsResponse(
            results=[
                moving.AlterReplicaLogDirTopicResult(
                    topic_name=topic.name,
                    partitions=[
                        moving.AlterReplicaLogDirPartitionResult(
                            partition_index=index, error_code=57 if wanted.path == "/nosuch" else 0
                        )
                        for index in topic.partitions
                    ],
                )
                for wanted in body.dirs
                for topic in wanted.topics
            ]
        )

    async with scripted_brokers(2) as two, client(two) as admin:
        for node in two.nodes:
            node.scripts[moving.AlterReplicaLogDirsRequest] = moved
        outcomes = await admin.alter_replica_log_dirs(
            {
                replica("orders-0@0"): "/a",
                replica("orders-1@0"): "/a",
                replica("orders-2@0"): "/nosuch",
                replica("orders-0@1"): "/b",
            }
        )
        [request] = two.nodes[0].requests(moving.AlterReplicaLogDirsRequest)
    assert [str(key) for key in outcomes] == ["orders-0@0", "orders-1@0", "orders-0@1"]
    with pytest.raises(BrokerError, match="LOG_DIR_NOT_FOUND"):
        outcomes[replica("orders-2@0")]
    paths = {d.path: d.topics for d in cast(moving.AlterReplicaLogDirsRequest, request).dirs}
    assert paths == {
        "/a": [moving.AlterReplicaLogDirTopic(name="orders", partitions=(0, 1))],
        "/nosuch": [moving.AlterReplicaLogDirTopic(name="orders", partitions=(2,))],
    }


def test_a_replica_is_written_with_its_broker() -> None:
    found = replica("my-topic-12@3")
    assert found == TopicPartitionReplica("my-topic", 12, 3)
    assert str(found) == "my-topic-12@3"
    for wrong in ("orders-0", "orders@1", "orders-0@", "orders-0@x"):
        with pytest.raises(InvalidValue):
            replica(wrong)
