"""The writes that make ZooKeeper equal to an image, beyond the cases that Java judges (KIP-866)."""

from __future__ import annotations

from uuid import UUID

import pytest

from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.topic import TopicRecord
from kwire.migration.driver.synchronisation import synchronise
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.migration.driver.znode_writes.topics import topic_data
from kwire.zookeeper import Create, Delete, SetData
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.znodes import AclResource, AclZnode, ConfigZnode
from kwire.zookeeper.zookeeper_metadata import Stored, ZooKeeperMetadata
from migrating.memory_zookeeper import MemoryZooKeeper
from tests.support.migration.driver.random_metadata import RandomMetadata
from tests.support.migration.driver.znode_trees import carried_out, metadata_in
from tests.support.seed import SEED

RAFT_EPOCH = 7
PASSWORDS = PasswordWriter(PasswordEncoder(secret="secret"), bytes)

ALWAYS = {"UpdateClientQuota", "UpdateDelegationToken", "UpdateProducerId"}
"""Types of writes that Kafka repeats each time, whether something differs or not."""


def writes_of(zookeeper: ZooKeeperMetadata, image: MetadataImage) -> list[ZnodeWrite]:
    return synchronise(zookeeper, image, RAFT_EPOCH, PASSWORDS)


def random_image(seed: int) -> MetadataImage:
    metadata = RandomMetadata(seed)
    for _ in range(10):
        metadata.records(12)
    return metadata.image


@pytest.mark.parametrize("seed", range(SEED, SEED + 5))
def test_a_second_synchronisation_has_only_the_writes_that_kafka_repeats(seed: int) -> None:
    image = random_image(seed)
    server = MemoryZooKeeper()
    empty = ("/brokers", "/brokers/topics", "/config", "/config/topics", "/config/changes")
    tree = carried_out(server.tree, [folders(*empty)])

    tree = carried_out(tree, writes_of(metadata_in(tree), image))
    again = writes_of(metadata_in(tree), image)

    # A partition's epoch is the version of its state: one that has changed before differs for ever.
    rest = [write for write in again if write.type not in ALWAYS | {"UpdatePartition"}]
    assert rest == []


def folders(*paths: str) -> ZnodeWrite:
    return ZnodeWrite(type="", description="", operations=tuple(Create(path) for path in paths))


def test_pending_deletions_are_cleared_before_everything_else() -> None:
    zookeeper = ZooKeeperMetadata(pending_deletions=frozenset({"b", "a"}))
    first, *_ = writes_of(zookeeper, random_image(1))

    assert first.type == "DeletePendingTopicDeletion"
    assert first.operations == (
        Delete("/admin/delete_topics/a"),
        Delete("/admin/delete_topics/b"),
    )


def test_a_password_that_cannot_be_decoded_is_written_anew() -> None:
    encoded = PasswordEncoder(secret="another").encode("visible", bytes)
    config = Stored(ConfigZnode({"ssl.key.password": encoded}), 0)
    image = apply_all(
        EMPTY,
        [
            ConfigRecord(
                resource_type=4, resource_name="1", name="ssl.key.password", value="visible"
            )
        ],
    )

    (write,) = writes_of(ZooKeeperMetadata(broker_configs={"1": config}), image)

    assert (write.type, write.description) == (
        "UpdateBrokerConfig",
        "Updated configs for BROKER 1",
    )


def test_an_empty_configuration_is_none() -> None:
    zookeeper = ZooKeeperMetadata(topic_configs={"a": Stored(ConfigZnode(), 0)})
    assert writes_of(zookeeper, EMPTY) == []


def test_a_configuration_that_zookeeper_alone_has_is_deleted() -> None:
    config = Stored(ConfigZnode({"retention.ms": "1"}), 0)
    (write,) = writes_of(ZooKeeperMetadata(topic_configs={"a": config}), EMPTY)
    assert write.operations == (Delete("/config/topics/a"),)


def test_a_resource_without_rules_is_deleted() -> None:
    zookeeper = ZooKeeperMetadata(acls={AclResource(2, "a"): Stored(AclZnode(), 0)})
    (write,) = writes_of(zookeeper, EMPTY)
    assert write.operations == (Delete("/kafka-acl/Topic/a"),)


def test_a_quota_that_is_no_number_is_written_as_the_image_has_it() -> None:
    zookeeper = ZooKeeperMetadata(ips={None: Stored(ConfigZnode({"rate": "much"}), 0)})
    (write,) = writes_of(zookeeper, EMPTY)
    assert write.operations == (SetData("/config/ips/<default>", ConfigZnode().encode()),)


@pytest.mark.parametrize("has_folders", [True, False])
def test_many_partitions_without_a_state_get_theirs(has_folders: bool) -> None:
    """As where a controller of ZooKeeper died, or was deposed, in the middle of a new topic."""
    image = apply_all(EMPTY, [TopicRecord(name="wide", topic_id=UUID(int=1)), *_partitions(700)])
    topic = image.topics.topic("wide")
    assert topic is not None
    server = MemoryZooKeeper()
    made = ["/brokers", "/brokers/topics", "/config", "/config/topics", "/config/changes"]
    tree = carried_out(server.tree, [folders(*made)])
    data = [Create("/brokers/topics/wide", topic_data(topic)), Create("/config/topics/wide", b"{}")]
    if has_folders:
        data.append(Create("/brokers/topics/wide/partitions"))
        data += [Create(f"/brokers/topics/wide/partitions/{number}") for number in range(700)]
    whole = ZnodeWrite(type="", description="", operations=tuple(data))
    tree = carried_out(tree, [whole])

    tree = carried_out(tree, writes_of(metadata_in(tree), image))
    states = metadata_in(tree).topics["wide"].states
    assert sorted(states) == list(range(700))


def _partitions(count: int) -> list[PartitionRecord]:
    return [
        PartitionRecord(
            partition_id=number, topic_id=UUID(int=1), replicas=(1,), isr=(1,), leader=1
        )
        for number in range(count)
    ]
