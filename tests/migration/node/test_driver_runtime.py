"""Controllers that migrate from a ZooKeeper in memory, with brokers that only register."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from kwire.controller.server.node import ControllerNode
from kwire.image.features import ZkMigrationState
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.migration.driver.driver import MOST_QUEUED
from kwire.migration.driver.effects import DriverRequest
from kwire.migration.node.metadata_feed import MetadataFeed
from kwire.migration.node.requests import MigrationRequests
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from kwire.zookeeper import Create, Delete
from kwire.zookeeper.znodes.controller import ControllerZnode
from kwire.zookeeper.znodes.migration import MigrationZnode
from migrating.companions import driver_of, driver_state
from migrating.memory_zookeeper import Loss
from tests.support.eventually import eventually
from tests.support.migration.migrating_cluster import PROPERTIES, ZooKeeperBrokers
from tests.support.virtual_time import in_virtual_time


@pytest.fixture
@asynccontextmanager
async def cluster() -> AsyncIterator[ZooKeeperBrokers]:
    cluster = ZooKeeperBrokers(1, 2)
    cluster.create_topic("old", partitions=3)
    yield cluster
    await cluster.stop()


def state(quorum: Quorum) -> str:
    leader = quorum.leader
    return "" if leader is None else getattr(driver_state(leader), "name", "")


async def dual_writing(quorum: Quorum) -> ControllerNode:
    """Return the leader as soon as it writes to both sides."""
    await eventually(lambda: state(quorum), lambda name: name == "DUAL_WRITE")
    return await quorum.active_controller()


async def create(quorum: Quorum, *names: str) -> None:
    leader = await quorum.active_controller()
    topics = [CreatableTopic(name=name, num_partitions=2, replication_factor=1) for name in names]
    async with await Connection.open(*quorum.addresses[leader.node_id]) as client:
        answer = await client.send(CreateTopicsRequest(topics=topics))
    assert isinstance(answer, CreateTopicsResponse)
    assert [topic.error_code for topic in answer.topics] == [0] * len(names)


@in_virtual_time
async def test_a_cluster_is_copied_and_written_to_both_sides(cluster: ZooKeeperBrokers) -> None:
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        leader = await dual_writing(quorum)
        copied = leader.metadata.image.topics.topic("old")
        assert copied is not None
        assert len(copied.partitions) == 3

        await create(quorum, "new")
        await eventually(lambda: cluster.topics, lambda names: names == ["new", "old"])
        offset = leader.metadata.offset

        def written() -> int:
            data = cluster.zookeeper.read(MigrationZnode.path).data
            return MigrationZnode.parse(data).kraft_metadata_offset

        # A NoOpRecord comes twice a second: ZooKeeper keeps up with the log.
        await eventually(written, lambda at: at > offset)
        # The controller measures a write once it has the answer.
        await eventually(
            lambda: driver_of(leader).sensors.dual_write_offset, lambda at: at > offset
        )


@in_virtual_time
async def test_a_copy_is_counted_in_the_log_as_kafka_counts_it(
    cluster: ZooKeeperBrokers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        await dual_writing(quorum)
    assert "4 records were generated in " in caplog.text
    assert "The record types were {TOPIC_RECORD=1, PARTITION_RECORD=3}." in caplog.text
    assert "Saw 2 brokers in the migrated metadata [1, 2]." in caplog.text


@in_virtual_time
async def test_a_node_that_stops_leaves_no_session(cluster: ZooKeeperBrokers) -> None:
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        await dual_writing(quorum)
        assert [cluster.zookeeper.is_live(session) for session in cluster.sessions] == [True]
    assert [cluster.zookeeper.is_live(session) for session in cluster.sessions] == [False]


@in_virtual_time
async def test_a_zookeeper_that_is_down_at_the_start_is_waited_for(
    cluster: ZooKeeperBrokers,
) -> None:
    cluster.is_down = True
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        await asyncio.sleep(0.5)
        assert state(quorum) == "UNINITIALIZED"
        cluster.is_down = False
        await dual_writing(quorum)


@in_virtual_time
async def test_the_other_controllers_take_over_one_after_the_other(
    cluster: ZooKeeperBrokers,
) -> None:
    async with cluster.quorum(3) as quorum:
        cluster.start_brokers(quorum)
        for number in range(3):
            leader = await dual_writing(quorum)
            await create(quorum, f"topic-{number}")
            await quorum.kill(leader.node_id)
            await quorum.restart(leader.node_id)
        await dual_writing(quorum)
        await eventually(
            lambda: cluster.topics, lambda names: names == ["old", "topic-0", "topic-1", "topic-2"]
        )
        leader = await quorum.active_controller()
        features = leader.metadata.image.features
        assert features.zk_migration_state == ZkMigrationState.MIGRATION


@pytest.mark.parametrize("loss", Loss)
@in_virtual_time
async def test_each_answer_of_zookeeper_may_be_lost_once(
    cluster: ZooKeeperBrokers, loss: Loss
) -> None:
    seen: set[tuple[str, ...]] = set()

    def lose(session: object, operations: object) -> Loss | None:
        assert isinstance(operations, tuple)
        kind = tuple(type(operation).__name__ + operation.path for operation in operations)
        is_new = session is not cluster.own and kind not in seen
        seen.add(kind)
        return loss if is_new else None

    async with cluster.quorum() as quorum:
        cluster.zookeeper.lose = lose
        cluster.start_brokers(quorum)
        await dual_writing(quorum)
        await create(quorum, "new")
        await eventually(lambda: cluster.topics, lambda names: names == ["new", "old"])
        await dual_writing(quorum)
    assert len(seen) > 3


@in_virtual_time
async def test_a_node_that_stands_still_goes_on_where_it_was(cluster: ZooKeeperBrokers) -> None:
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        node = await quorum.active_controller()
        node.suspend()
        await asyncio.sleep(0.3)
        before = state(quorum)
        node.resume()
        await dual_writing(quorum)
        assert before != "DUAL_WRITE"


@in_virtual_time
async def test_a_session_that_expires_is_replaced(cluster: ZooKeeperBrokers) -> None:
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        await dual_writing(quorum)
        session = cluster.sessions[0]
        cluster.zookeeper.expire(session)
        await create(quorum, "new")
        await asyncio.sleep(0.3)
        cluster.zookeeper.reconnect(session)
        await eventually(lambda: cluster.topics, lambda names: names == ["new", "old"])
        await dual_writing(quorum)


@in_virtual_time
async def test_a_topic_without_an_id_is_named_and_nothing_is_written(
    cluster: ZooKeeperBrokers, caplog: pytest.LogCaptureFixture
) -> None:
    """Found before the claim, as by Kafka 3.9: only a ZooKeeper controller gives a topic an id."""
    cluster.write(Create("/brokers/topics/ancient", b'{"version":1,"partitions":{"0":[1]}}'))
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        await eventually(lambda: "ancient" in caplog.text)
        leader = await quorum.active_controller()
        assert state(quorum) == "WAIT_FOR_BROKERS"
        assert leader.metadata.controller.ahead.image.before is None
        assert ControllerZnode.parse(cluster.zookeeper.read("/controller").data).broker_id == 1

        cluster.write(Delete("/brokers/topics/ancient"))
        await dual_writing(quorum)


@pytest.mark.parametrize(
    ("path", "content", "until"),
    [
        ("/migration", b'{"version":9,"kraft_metadata_offset":7}', "UNINITIALIZED"),
        ("/brokers/topics/broken", b"{", "WAIT_FOR_BROKERS"),
        ("/config/topics/gone", b"{", "WAIT_FOR_BROKERS"),
        ("/config/users/eve", b"[]", "WAIT_FOR_BROKERS"),
    ],
)
@in_virtual_time
async def test_a_znode_that_cannot_be_read_is_named_and_nothing_is_copied(
    cluster: ZooKeeperBrokers,
    caplog: pytest.LogCaptureFixture,
    path: str,
    content: bytes,
    until: str,
) -> None:
    cluster.write(Create(path, content))
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        await eventually(lambda: path in caplog.text)
        leader = await quorum.active_controller()
        assert state(quorum) == until
        image = leader.metadata.controller.ahead.image
        assert image.features.zk_migration_state is ZkMigrationState.PRE_MIGRATION
        assert not image.topics.by_id
        assert cluster.zookeeper.read(path).data == content
        # Somebody has to give topics their leaders meanwhile.
        assert ControllerZnode.parse(cluster.zookeeper.read("/controller").data).broker_id == 1

        cluster.write(Delete(path))
        await dual_writing(quorum)


@in_virtual_time
async def test_a_znode_that_is_broken_in_dual_write_does_not_end_it(
    cluster: ZooKeeperBrokers, caplog: pytest.LogCaptureFixture
) -> None:
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        await dual_writing(quorum)
        cluster.write(Create("/config/users/eve", b"{"))
        cluster.zookeeper.lose = lose_once(cluster)
        await create(quorum, "new")
        await eventually(lambda: cluster.topics, lambda names: names == ["new", "old"])
        await dual_writing(quorum)
    assert "/config/users/eve" in caplog.text


def lose_once(cluster: ZooKeeperBrokers) -> Callable[[object, object], Loss | None]:
    lost: list[object] = []

    def lose(session: object, operations: object) -> Loss | None:
        if session is cluster.own or lost:
            return None
        lost.append(session)
        return Loss.AFTER

    return lose


@in_virtual_time
async def test_a_node_that_cannot_follow_its_own_log_ends(
    cluster: ZooKeeperBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        leader = await dual_writing(quorum)

        def fail(self: object, *, with_changes: bool) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(MetadataFeed, "metadata", fail)
        await eventually(leader.runtime.failure.done)
        assert isinstance(leader.runtime.failure.exception(), OSError)


@pytest.mark.parametrize("idle_ms", ["500", "0"])
@in_virtual_time
async def test_changes_for_which_zookeeper_is_too_slow_are_written_together(
    cluster: ZooKeeperBrokers, monkeypatch: pytest.MonkeyPatch, idle_ms: str
) -> None:
    """Also if no NoOpRecord comes after them."""
    monkeypatch.setitem(PROPERTIES, "metadata.max.idle.interval.ms", idle_ms)
    answers = asyncio.Event()
    answers.set()
    perform = MigrationRequests.perform

    async def perform_later(self: MigrationRequests, request: DriverRequest) -> object:
        await answers.wait()
        return await perform(self, request)

    monkeypatch.setattr(MigrationRequests, "perform", perform_later)
    async with cluster.quorum() as quorum:
        cluster.start_brokers(quorum)
        leader = await dual_writing(quorum)
        answers.clear()
        names = [f"topic-{number:02}" for number in range(MOST_QUEUED + 10)]
        for name in names:
            await create(quorum, name)
        answers.set()
        await eventually(lambda: cluster.topics, lambda found: found == ["old", *names])
        (deltas,) = [
            sample.value
            for family in driver_of(leader).sensors.collect()
            for sample in family.samples
            if sample.name.endswith("zkwritedeltatimems_count")
        ]
    # One is under way, and so many wait; all others are one change.
    assert deltas <= MOST_QUEUED + 2
