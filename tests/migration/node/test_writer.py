"""A copy from ZooKeeper is one metadata transaction, which nobody else writes into (KIP-866)."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from kwire.batches import RecordBatch, read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.controller.handlers.result import versioned
from kwire.controller.server.metadata.epoch_writer import FEW_RECORDS
from kwire.controller.server.node import ControllerNode
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image import ReplayError
from kwire.image.features import ZkMigrationState
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.topic import TopicRecord
from kwire.migration.node.extension import MigrationExtension
from kwire.migration.node.writer import MigrationFailed, MigrationWriter
from kwire.net.connection import Connection
from kwire.net.service import RequestContext
from kwire.testing.quorum import Quorum
from tests.support.virtual_time import in_virtual_time

PATIENCE = 60.0
PROPERTIES = {
    "zookeeper.metadata.migration.enable": "true",
    "zookeeper.connect": "127.0.0.1:2181",
    "metadata.max.idle.interval.ms": "0",
}
TOPIC = UUID(int=4711)


def migrating(properties: dict[str, str]) -> Quorum:
    return Quorum(1, release="3.9", properties=properties, extension_of=MigrationExtension.of)


@pytest.fixture
async def quorum() -> AsyncIterator[Quorum]:
    async with migrating(PROPERTIES) as quorum:
        yield quorum


def topic(partitions: int) -> list[VersionedRecord]:
    numbers = range(partitions)
    records = [versioned(TopicRecord(name="t", topic_id=TOPIC))]
    records += [versioned(PartitionRecord(topic_id=TOPIC, partition_id=id)) for id in numbers]
    return records


def registration(cluster_id: str) -> BrokerRegistrationRequest:
    """A broker with ZooKeeper."""
    return BrokerRegistrationRequest(
        broker_id=1,
        cluster_id=cluster_id,
        incarnation_id=UUID(int=1),
        is_migrating_zk_broker=True,
        listeners=[Listener(name="PLAINTEXT", host="localhost", port=9092)],
        features=[
            Feature(name="metadata.version", min_supported_version=21, max_supported_version=21),
            Feature(name="kraft.version", min_supported_version=0, max_supported_version=1),
        ],
        log_dirs=(UUID(int=500),),
    )


def log_since(node: ControllerNode, offset: int) -> list[str]:
    """The types of the records from an offset on."""
    data = node.log.read(offset, 1 << 20, node.raft.end_offset)
    return [
        type(read_metadata_record(record.value).record).__name__
        for batch in read_batches(data)
        if isinstance(batch, RecordBatch) and not batch.is_control
        for record in batch.records()
        if record.value is not None
    ]


async def test_a_copy_is_shown_as_a_whole_when_it_is_complete(quorum: Quorum) -> None:
    node = await quorum.active_controller()
    migration, epoch = MigrationWriter(node.metadata, node.runtime), node.raft.epoch
    start = node.raft.end_offset

    async with asyncio.timeout(PATIENCE):
        await migration.begin(epoch)
        written = await migration.accept_batch(topic(3), epoch)
        assert node.metadata.image.topics.topic("t") is None
        assert node.metadata.image.features.zk_migration_state == ZkMigrationState.PRE_MIGRATION
        last = await migration.complete(epoch)

    copied = node.metadata.image.topics.topic("t")
    assert copied is not None
    assert len(copied.partitions) == 3
    assert node.metadata.image.features.zk_migration_state == ZkMigrationState.MIGRATION
    assert log_since(node, start) == [
        "BeginTransactionRecord",
        "TopicRecord",
        *["PartitionRecord"] * 3,
        "ZkMigrationStateRecord",
        "EndTransactionRecord",
    ]
    assert (written.offset, written.epoch) == (start + 4, epoch)
    assert (last.offset, last.epoch) == (start + 6, epoch)
    assert last.offset == node.raft.end_offset - 1


async def test_a_long_batch_is_written_as_a_short_one(quorum: Quorum) -> None:
    """It is applied and encoded in a thread."""
    node = await quorum.active_controller()
    migration, epoch = MigrationWriter(node.metadata, node.runtime), node.raft.epoch

    async with asyncio.timeout(PATIENCE):
        await migration.begin(epoch)
        await migration.accept_batch(topic(2 * FEW_RECORDS), epoch)
        await migration.complete(epoch)

    copied = node.metadata.image.topics.topic("t")
    assert copied is not None
    assert len(copied.partitions) == 2 * FEW_RECORDS


async def test_other_writes_are_refused_until_the_copy_is_complete(quorum: Quorum) -> None:
    """The writes that Java flags with RUNS_IN_PREMIGRATION are answered in the transaction."""
    node = await quorum.active_controller()
    migration, epoch = MigrationWriter(node.metadata, node.runtime), node.raft.epoch
    create = CreateTopicsRequest(topics=[CreatableTopic(name="x", num_partitions=1)])

    async def codes(connection: Connection) -> tuple[int, str | None, int]:
        created = await connection.send(create)
        assert isinstance(created, CreateTopicsResponse)
        unknown = await connection.send(UnregisterBrokerRequest(broker_id=9))
        assert isinstance(unknown, UnregisterBrokerResponse)
        (answer,) = created.topics
        return answer.error_code, answer.error_message, unknown.error_code

    host, port = quorum.addresses[node.node_id]
    gate = "The controller is in pre-migration mode."
    async with asyncio.timeout(PATIENCE), await Connection.open(host, port) as connection:
        before = await codes(connection)
        await migration.begin(epoch)
        inside = await codes(connection)
        await migration.complete(epoch)
        after = await codes(connection)

    assert before == inside == (ErrorCode.NOT_CONTROLLER, gate, ErrorCode.BROKER_ID_NOT_REGISTERED)
    # There is no broker for the replica.
    assert after[0] == ErrorCode.INVALID_REPLICATION_FACTOR


async def test_only_the_leader_of_the_epoch_writes(quorum: Quorum) -> None:
    """A batch that comes late would stand outside of its transaction."""
    node = await quorum.active_controller()
    start, epoch = node.raft.end_offset, node.raft.epoch

    for wrong in (epoch - 1, epoch + 1):
        with pytest.raises(ApiError, match="does not lead in") as caught:
            await MigrationWriter(node.metadata, node.runtime).accept_batch(topic(1), wrong)
        assert caught.value.code == ErrorCode.NOT_CONTROLLER
    assert node.raft.end_offset == start


async def test_a_batch_that_does_not_fit_is_not_written(quorum: Quorum) -> None:
    node = await quorum.active_controller()
    migration, epoch = MigrationWriter(node.metadata, node.runtime), node.raft.epoch
    await migration.begin(epoch)
    start = node.raft.end_offset

    with pytest.raises(ReplayError):
        await migration.accept_batch(topic(1)[1:], epoch)

    assert node.raft.end_offset == start


async def test_the_next_leader_aborts_half_a_copy(quorum: Quorum) -> None:
    """As in Java: the process ends, and whoever leads then begins anew."""
    node = await quorum.active_controller()
    migration, epoch = MigrationWriter(node.metadata, node.runtime), node.raft.epoch
    await migration.begin(epoch)
    await migration.accept_batch(topic(1), epoch)

    migration.abort("ZooKeeper is gone")
    with pytest.raises(MigrationFailed, match="the copy from ZooKeeper failed: ZooKeeper is gone"):
        await node.failed()
    await node.kill()
    start = node.raft.end_offset

    await quorum.start_node(node.node_id)
    again = await quorum.active_controller()
    async with asyncio.timeout(PATIENCE):
        await again.metadata.until(lambda: again.metadata.image.before is None)
    assert "AbortTransactionRecord" in log_since(again, start)
    assert again.metadata.image.topics.topic("t") is None
    assert again.metadata.image.features.in_pre_migration


async def test_a_broker_with_zookeeper_registers_while_the_copy_is_written(
    quorum: Quorum,
) -> None:
    """The response waits for its commit, not for the end; the registration is part of the copy."""
    node = await quorum.active_controller()
    migration, epoch = MigrationWriter(node.metadata, node.runtime), node.raft.epoch
    await migration.begin(epoch)
    async with asyncio.timeout(PATIENCE):
        answer = await node.metadata.answer(
            registration(quorum.cluster_id), RequestContext(version=4)
        )
        assert isinstance(answer, BrokerRegistrationResponse)
        assert answer.error_code == ErrorCode.NONE
        assert 1 not in node.metadata.image.cluster.brokers
        await migration.complete(epoch)

    broker = node.metadata.image.cluster.brokers[1]
    assert (broker.epoch, broker.is_migrating_zk_broker) == (answer.broker_epoch, True)


@in_virtual_time
async def test_sessions_end_as_soon_as_the_copy_is_complete() -> None:
    """Nothing else would wake the controller: there are no NoOpRecords here."""
    short = {"broker.session.timeout.ms": "100"}
    async with migrating(PROPERTIES | short) as quorum:
        node = await quorum.active_controller()
        migration, epoch = MigrationWriter(node.metadata, node.runtime), node.raft.epoch
        answer = await node.metadata.answer(
            registration(quorum.cluster_id), RequestContext(version=4)
        )
        assert isinstance(answer, BrokerRegistrationResponse)
        beat = BrokerHeartbeatRequest(
            broker_id=1, broker_epoch=answer.broker_epoch, current_metadata_offset=1 << 40
        )
        await node.metadata.answer(beat, RequestContext(version=1))
        await asyncio.sleep(0.2)
        assert not node.metadata.image.cluster.brokers[1].fenced

        await migration.begin(epoch)
        await migration.complete(epoch)

        async with asyncio.timeout(PATIENCE):
            await node.metadata.until(lambda: node.metadata.image.cluster.brokers[1].fenced)


@pytest.mark.parametrize("enabled", ["true", "false"])
async def test_a_controller_tells_others_whether_it_is_ready_to_migrate(enabled: str) -> None:
    """By its registration, which the driver reads, and by the tag of ApiVersions, as 3.9 does."""
    properties = PROPERTIES | {"zookeeper.metadata.migration.enable": enabled}
    async with migrating(properties) as quorum:
        node = await quorum.active_controller()
        async with asyncio.timeout(PATIENCE):
            await node.metadata.until(lambda: 3000 in node.metadata.image.cluster.controllers)
        async with await Connection.open(*quorum.addresses[3000]) as connection:
            asked = ApiVersionsRequest(client_software_name="a", client_software_version="1")
            offered = await connection.send(asked, 3)
        registered = node.metadata.image.cluster.controllers[3000]
    assert isinstance(offered, ApiVersionsResponse)
    assert registered.zk_migration_ready is offered.zk_migration_ready is (enabled == "true")
