"""Real brokers of 3.9.1 in migration mode are told by kwire what Java's controller has told them.

Java's controllers migrate the cluster and are killed; then kwire's requests decide what the brokers
lead, list, keep and delete (KIP-866).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from kwire.admin.sync import AdminClient
from kwire.admin.topics import NewTopic
from kwire.batches import RecordBatch, read_batches
from kwire.batches.metadata_records import read_metadata_record
from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.changes import MetadataChanges
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.migration.node.broker_channels import BrokerChannels
from kwire.net.connection import Connection
from kwire.net.security import PLAINTEXT
from kwire.text.ids import parse_uuid
from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.layout import MigratingLayout
from migrating.real_clusters.zookeeper_session import zookeeper_session
from tests.support.eventually import eventually

pytestmark = pytest.mark.migrations

TOPICS = [
    NewTopic(name="orders", assignments=[[0, 1], [1, 0]]),
    NewTopic(name="old", assignments=[[0, 1]]),
]


@pytest.fixture(scope="module")
def migrated() -> Iterator[MigratingCluster]:
    """Two brokers in dual write whose controllers are dead."""
    with MigratingCluster(MigratingLayout(brokers=(0, 1))) as cluster:
        with AdminClient(cluster.bootstrap_servers, timeout=60) as admin:
            admin.create_topics(TOPICS).all()
        cluster.provision_controllers()
        cluster.enter_migration_mode()
        cluster.wait_for_dual_write()
        for controller in cluster.controllers.values():
            controller.kill()
        yield cluster


class KwireController:
    """Sends in the place of the dead controller. raft_epoch: the one after its last."""

    def __init__(self, cluster: MigratingCluster) -> None:
        self.image, epoch = _log(cluster)
        self.raft_epoch = epoch + 1
        self.zk_epoch = _zk_epoch(cluster) + 1
        self.failures: list[Exception] = []
        self.channels = BrokerChannels.secured(3000, "PLAINTEXT", PLAINTEXT, self.failures.append)

    def send(self) -> None:
        self.channels.send_full(self.image, self.raft_epoch, self.zk_epoch)

    def change(self, *records: MetadataRecord) -> None:
        after = apply_all(self.image, records)
        changes = MetadataChanges.of(self.image, after, records)
        self.image = after
        self.channels.send_changes(changes, self.raft_epoch, self.zk_epoch)


def _log(cluster: MigratingCluster) -> tuple[MetadataImage, int]:
    [controller] = cluster.controllers.values()
    image, epoch = EMPTY, 0
    for segment in Path(controller.folder, "data", "__cluster_metadata-0").glob("*.log"):
        for batch in read_batches(segment.read_bytes()):
            assert isinstance(batch, RecordBatch)
            epoch = batch.partition_leader_epoch
            if not batch.is_control:
                records = [read_metadata_record(record.value or b"") for record in batch.records()]
                image = apply_all(image, records)
    return image, epoch


def _zk_epoch(cluster: MigratingCluster) -> int:
    with zookeeper_session(cluster.zookeeper.connect) as client:
        return int(client.get("/controller_epoch")[0])


@pytest.fixture
async def kwire(migrated: MigratingCluster) -> AsyncIterator[KwireController]:
    controller = await asyncio.to_thread(KwireController, migrated)
    yield controller
    await controller.channels.close()


Leaders = dict[int, tuple[int, int]]
"""Leader and leader epoch by partition."""


async def listed(cluster: MigratingCluster, topic: str) -> dict[int, tuple[UUID, Leaders] | None]:
    """Return what each broker says of a topic; None where it knows none."""
    answers: dict[int, tuple[UUID, Leaders] | None] = {}
    for node_id, broker in cluster.brokers.items():
        address = broker.broker_address
        async with await Connection.open(address.host, address.port) as connection:
            request = MetadataRequest(
                topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
            )
            answer = await connection.send(request)
        assert isinstance(answer, MetadataResponse)
        [found] = answer.topics
        leaders = {p.partition_index: (p.leader_id, p.leader_epoch) for p in found.partitions}
        answers[node_id] = None if found.error_code else (found.topic_id, leaders)
    return answers


def folders(cluster: MigratingCluster, topic: str) -> dict[int, list[str]]:
    """Return the folders of a topic's replicas on each broker, those that are set aside, too."""
    return {
        node_id: sorted(
            path.name for path in Path(broker.folder, "data").iterdir()
            if path.name.startswith((f"{topic}-", f"{topic}."))
        )
        for node_id, broker in cluster.brokers.items()
    }  # fmt: skip


def ids(cluster: MigratingCluster, replica: str) -> dict[int, UUID | None]:
    """Return the topic id that the folder of a replica has on each broker."""
    found: dict[int, UUID | None] = {}
    for node_id, broker in cluster.brokers.items():
        file = Path(broker.folder, "data", replica, "partition.metadata")
        text = file.read_text() if file.exists() else ""
        found[node_id] = parse_uuid(text.split()[-1]) if "topic_id:" in text else None
    return found


def strays(cluster: MigratingCluster) -> list[Path]:
    return [
        path
        for broker in cluster.brokers.values()
        for path in Path(broker.folder, "data").glob("*-stray")
    ]


async def until_listed(
    cluster: MigratingCluster, topic: str, expected: tuple[UUID, Leaders] | None
) -> None:
    everywhere = dict.fromkeys(cluster.brokers, expected)
    await eventually(lambda: listed(cluster, topic), lambda found: found == everywhere)


def topic(name: str, id: UUID, *, epoch: int = 0) -> list[MetadataRecord]:
    partition = PartitionRecord(
        topic_id=id, partition_id=0, replicas=(0, 1), isr=(0, 1), leader=0, leader_epoch=epoch,
        partition_epoch=0,
    )  # fmt: skip
    return [TopicRecord(name=name, topic_id=id), partition]


async def test_brokers_follow_kwires_requests_and_set_nothing_aside(
    migrated: MigratingCluster, kwire: KwireController
) -> None:
    """1. A full one that moves a leader. 2. A new topic. 3. A deletion. 4. One with a new topic of
    the name, in one change. 5. All of it again.
    """
    # 1.
    orders = kwire.image.topics.ids["orders"]
    second = kwire.image.topics.by_id[orders].partitions[1]
    moved = PartitionChangeRecord(topic_id=orders, partition_id=0, leader=1)
    kwire.image = apply_all(kwire.image, [moved])
    first = kwire.image.topics.by_id[orders].partitions[0]
    kwire.send()
    leaders = {0: (1, first.leader_epoch), 1: (second.leader, second.leader_epoch)}
    await until_listed(migrated, "orders", (orders, leaders))

    # 2.
    fresh = uuid4()
    kwire.change(*topic("fresh", fresh))
    await until_listed(migrated, "fresh", (fresh, {0: (0, 0)}))
    await eventually(lambda: folders(migrated, "fresh") == {0: ["fresh-0"], 1: ["fresh-0"]})

    # 3.
    kwire.change(RemoveTopicRecord(topic_id=kwire.image.topics.ids["old"]))
    await until_listed(migrated, "old", None)
    await eventually(
        lambda: all("old-0" not in names for names in folders(migrated, "old").values())
    )

    # 4.
    again = uuid4()
    kwire.change(RemoveTopicRecord(topic_id=fresh), *topic("fresh", again))
    await until_listed(migrated, "fresh", (again, {0: (0, 0)}))
    await eventually(lambda: ids(migrated, "fresh-0") == {0: again, 1: again})

    # 5.
    kwire.send()
    kwire.change(*topic("last", uuid4()))
    await eventually(lambda: folders(migrated, "last") == {0: ["last-0"], 1: ["last-0"]})
    assert strays(migrated) == []


async def test_brokers_set_aside_what_a_full_request_does_not_list(
    migrated: MigratingCluster, kwire: KwireController
) -> None:
    """So the test above would have seen it."""
    orders = kwire.image.topics.ids["orders"]
    kwire.raft_epoch += 1
    kwire.image = apply_all(kwire.image, [RemoveTopicRecord(topic_id=orders), *topic("x", uuid4())])
    kwire.send()

    await eventually(
        lambda: {path.name[:8] for path in strays(migrated)} >= {"orders-0", "orders-1"}
    )


async def test_brokers_refuse_the_epoch_of_a_former_controller(
    migrated: MigratingCluster, kwire: KwireController, caplog: pytest.LogCaptureFixture
) -> None:
    kwire.zk_epoch = 1
    kwire.change(*topic("stale", uuid4()))

    await eventually(lambda: caplog.text.count("by STALE_CONTROLLER_EPOCH") >= 4)
    assert await listed(migrated, "stale") == {0: None, 1: None}
