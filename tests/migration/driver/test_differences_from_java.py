"""The cases in which kwire writes something else to ZooKeeper than Kafka 3.9, on purpose.

Decision 0078 has the reasons. Each test shows first what becomes of the case in Kafka.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, apply_all
from kwire.image.changes import MetadataChanges
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.migration.driver.dual_write import dual_write
from kwire.migration.driver.synchronisation import synchronise
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.zookeeper.password_encoder import PasswordEncoder
from migrating.memory_zookeeper import ZnodeTree
from migrating.migration_judge import RAFT_EPOCH, JudgeReport, MigrationJudge, PreparedZnode
from tests.support.migration.driver.znode_trees import carried_out, memory_tree, metadata_in

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("migration-judge")]

PASSWORDS = PasswordWriter(PasswordEncoder(), bytes)
EPOCH: PreparedZnode = ("/controller_epoch", b"3", 0)
ID, OTHER_ID = UUID(int=1 << 70), UUID(int=2 << 70)
DIRECTORY = UUID(int=99)

Records = list[MetadataRecord]


def topic(id: UUID = ID, partitions: int = 1) -> Records:
    return [
        TopicRecord(name="a", topic_id=id),
        *(partition(number, id) for number in range(partitions)),
    ]


def partition(number: int, id: UUID = ID) -> PartitionRecord:
    return PartitionRecord(
        partition_id=number,
        topic_id=id,
        replicas=(1,),
        isr=(1,),
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
    )


def acl(name: str) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=UUID(int=len(name) + ord(name[0])),
        resource_type=3,
        resource_name=name,
        pattern_type=3,
        principal="User:a",
        host="*",
        operation=3,
        permission_type=3,
    )


def versioned(records: Records, version: int = 0) -> list[VersionedRecord]:
    return [VersionedRecord(record=record, version=version) for record in records]


def synchronised(
    judge: MigrationJudge, before: Records, after: Records, *changes: PreparedZnode
) -> tuple[JudgeReport, ZnodeTree]:
    """Return ZooKeeper after Java, and after kwire, which both begin with what Java has made.

    before: the metadata that is in ZooKeeper. changes: znodes that are set then.
    """
    judge.prepare([EPOCH])
    start = judge.snapshot(versioned(before))
    assert start.errors == []
    tree = memory_tree(start.tree)
    writes = synchronise(
        metadata_in(tree), apply_all(EMPTY, versioned(after)), RAFT_EPOCH, PASSWORDS
    )
    return judge.snapshot(versioned(after)), carried_out(tree, writes)


def dual_written(
    judge: MigrationJudge, before: Records, changes: Records, *, in_zookeeper: Records
) -> tuple[JudgeReport, ZnodeTree]:
    """Return ZooKeeper after both wrote changes there. in_zookeeper: what it has of `before`."""
    judge.prepare([EPOCH])
    start = judge.snapshot(versioned(in_zookeeper))
    image = apply_all(EMPTY, before)
    after = apply_all(image, changes)
    writes = dual_write(MetadataChanges.of(image, after, changes), RAFT_EPOCH, PASSWORDS)
    by_kwire = carried_out(memory_tree(start.tree), writes)
    return judge.delta(versioned(before), versioned(changes)), by_kwire


def test_partitions_that_zookeeper_has_not_are_created(judge: MigrationJudge) -> None:
    by_java, by_kwire = synchronised(judge, topic(), topic(partitions=3))

    assert "Failed to update partition states" in by_java.errors[0]
    assert by_java.tree.get("/brokers/topics/a/partitions/2/state") is None
    assert b'"leader":1' in by_kwire["/brokers/topics/a/partitions/2/state"].data


def test_partitions_that_zookeeper_alone_has_are_deleted(judge: MigrationJudge) -> None:
    by_java, by_kwire = synchronised(judge, topic(partitions=2), topic())

    assert "NOTEMPTY" in by_java.errors[0]
    assert "/brokers/topics/a/partitions/1" in by_java.tree
    assert "/brokers/topics/a/partitions/1" not in by_kwire
    assert "/brokers/topics/a/partitions/0/state" in by_kwire


def test_a_topic_that_was_created_again_is_there(judge: MigrationJudge) -> None:
    by_java, by_kwire = synchronised(judge, topic(), topic(OTHER_ID))

    assert by_java.errors == []
    assert "/brokers/topics/a" not in by_java.tree
    assert b"AAAAAAAAAI" in by_kwire["/brokers/topics/a"].data


def test_a_state_that_is_missing_is_written_though_it_would_be_the_first_one(
    judge: MigrationJudge,
) -> None:
    data = b'{"version":3,"partitions":{"0":[1]},"topic_id":"AAAAAAAAAEAAAAAAAAAAAA"}'
    start = judge.prepare([EPOCH, ("/brokers/topics/a", data, 0)])
    tree = memory_tree(start.tree)

    by_java = judge.snapshot(versioned(topic()))
    image = apply_all(EMPTY, versioned(topic()))
    by_kwire = carried_out(tree, synchronise(metadata_in(tree), image, RAFT_EPOCH, PASSWORDS))

    assert (by_java.errors, by_java.operations) == ([], [])
    assert b'"isr":[1]' in by_kwire["/brokers/topics/a/partitions/0/state"].data


def test_directories_alone_are_not_written(judge: MigrationJudge) -> None:
    assigned = partition(0)
    assigned.directories = (DIRECTORY,)
    judge.prepare([EPOCH])
    start = judge.snapshot(versioned(topic()))
    records = [*versioned([TopicRecord(name="a", topic_id=ID)]), *versioned([assigned], 1)]

    by_java = judge.snapshot(records)
    zookeeper = metadata_in(memory_tree(start.tree))
    by_kwire = synchronise(zookeeper, apply_all(EMPTY, records), RAFT_EPOCH, PASSWORDS)

    assert by_java.tree["/brokers/topics/a/partitions/0/state"].version == 1
    assert by_kwire == []


def test_configurations_that_zookeeper_has_not_are_left_out(judge: MigrationJudge) -> None:
    metrics = ConfigRecord(resource_type=16, resource_name="m", name="interval.ms", value="1")
    broker = ConfigRecord(resource_type=4, resource_name="1", name="log.cleaner.threads", value="2")

    by_java, by_kwire = synchronised(judge, [], [metrics, broker])

    assert "Unknown config resource type CLIENT_METRICS" in by_java.errors[0]
    assert "/config/brokers/1" not in by_java.tree
    assert "/config/brokers/1" in by_kwire


def test_folders_of_acls_are_created(judge: MigrationJudge) -> None:
    by_java, by_kwire = synchronised(judge, [], [acl("group")])

    assert "Could not write ACLs" in by_java.errors[0]
    assert b"User:a" in by_kwire["/kafka-acl/Group/group"].data


def test_an_acl_whose_name_has_a_slash_does_not_stop_the_others(judge: MigrationJudge) -> None:
    by_java, by_kwire = synchronised(judge, [], [acl("a/b"), acl("other")])

    assert "Could not write ACLs" in by_java.errors[0]
    assert "/kafka-acl/Group/other" in by_kwire
    assert "/kafka-acl/Group/a" not in by_kwire


def test_the_last_quota_of_a_client_can_be_removed(judge: MigrationJudge) -> None:
    entity = [EntityData(entity_type="client-id", entity_name="c")]
    there = ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=1.0, remove=False)
    removal = ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=0.0, remove=True)

    by_java, by_kwire = dual_written(judge, [there], [removal], in_zookeeper=[there])

    assert by_java.errors[0].startswith("java.lang.NullPointerException")
    assert b"producer_byte_rate" in (by_java.tree["/config/clients/c"].data or b"")
    assert by_kwire["/config/clients/c"].data == b'{"version":1,"config":{}}'


def test_a_byte_rate_that_is_no_whole_number_is_cut_off(judge: MigrationJudge) -> None:
    entity = [EntityData(entity_type="client-id", entity_name="c")]
    record = ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=10.5, remove=False)

    by_java, by_kwire = dual_written(judge, [], [record], in_zookeeper=[])

    assert "Configuration producer_byte_rate must be a LONG value" in by_java.errors[0]
    config = b'{"version":1,"config":{"producer_byte_rate":"10"}}'
    assert by_kwire["/config/clients/c"].data == config


def test_a_topic_that_is_gone_already_is_deleted_without_an_error(judge: MigrationJudge) -> None:
    removal = RemoveTopicRecord(topic_id=ID)

    by_java, by_kwire = dual_written(judge, topic(), [removal], in_zookeeper=[])

    assert "Failed to delete topic a" in by_java.errors[0]
    assert "/brokers/topics/a" not in by_kwire


def test_a_topic_that_is_there_already_is_set(judge: MigrationJudge) -> None:
    by_java, by_kwire = dual_written(judge, [], topic(OTHER_ID), in_zookeeper=topic())

    assert by_java.errors == []
    assert b"AAAAAAAAAE" in (by_java.tree["/brokers/topics/a"].data or b"")
    assert b"AAAAAAAAAI" in by_kwire["/brokers/topics/a"].data


def test_partitions_that_are_there_already_are_set(judge: MigrationJudge) -> None:
    new = partition(1)
    new.leader_epoch = 5

    by_java, by_kwire = dual_written(judge, topic(), [new], in_zookeeper=topic(partitions=2))

    path = "/brokers/topics/a/partitions/1/state"
    assert b'"leader_epoch":0' in (by_java.tree[path].data or b"")
    assert b'"leader_epoch":5' in by_kwire[path].data


def test_a_state_that_is_not_there_is_created(judge: MigrationJudge) -> None:
    change = PartitionChangeRecord(partition_id=1, topic_id=ID, leader=1)

    by_java, by_kwire = dual_written(judge, topic(partitions=2), [change], in_zookeeper=topic())

    path = "/brokers/topics/a/partitions/1/state"
    assert "NONODE" in by_java.errors[0]
    assert b'"leader_epoch":1' in by_kwire[path].data
