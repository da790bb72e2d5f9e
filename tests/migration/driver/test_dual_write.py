"""The writes to ZooKeeper for changes of metadata; the bytes are those of Kafka 3.9.1 (KIP-866)."""

from __future__ import annotations

from uuid import UUID

import pytest

from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.changes import MetadataChanges
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.producer_ids import ProducerIdsRecord
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.migration.driver.dual_write import dual_write
from kwire.migration.driver.znode_write import LARGEST_MULTI, ZnodeWrite
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.zookeeper import Create, Delete, SetData
from kwire.zookeeper.password_encoder import PasswordEncoder

RAFT_EPOCH = 7
ID = UUID(int=12345678901234567890123)
OTHER_ID = UUID(int=2)
PASSWORDS = PasswordWriter(PasswordEncoder(secret="secret"), bytes)

TOPIC = (
    TopicRecord(name="a", topic_id=ID),
    PartitionRecord(
        partition_id=0,
        topic_id=ID,
        replicas=(1, 2),
        isr=(1,),
        leader=1,
        leader_epoch=3,
        partition_epoch=2,
    ),
)
TOPIC_DATA = (
    b'{"version":3,"partitions":{"0":[1,2]},"adding_replicas":{},"removing_replicas":{},'
    b'"topic_id":"AAAAAAAAAp1Ctk52cUJEyw"}'
)
STATE_DATA = b'{"version":1,"leader":1,"leader_epoch":3,"controller_epoch":7,"isr":[1]}'


def image_of(*records: MetadataRecord) -> MetadataImage:
    return apply_all(EMPTY, records)


def writes_of(before: MetadataImage, *records: MetadataRecord) -> list[ZnodeWrite]:
    after = apply_all(before, records)
    return dual_write(MetadataChanges.of(before, after, records), RAFT_EPOCH, PASSWORDS)


def test_a_topic_is_created_with_an_empty_configuration_and_its_partitions() -> None:
    (write,) = writes_of(EMPTY, *TOPIC)

    assert write.type == "CreateTopic"
    assert write.description == "Created Topic a, ID AAAAAAAAAp1Ctk52cUJEyw"
    assert write.operations == (
        Create("/brokers/topics/a", TOPIC_DATA),
        Create("/config/topics/a", b'{"version":1,"config":{}}'),
        Create("/brokers/topics/a/partitions"),
        Create("/brokers/topics/a/partitions/0"),
        Create("/brokers/topics/a/partitions/0/state", STATE_DATA),
    )
    assert write.notifications == ()


def test_a_topic_is_deleted_children_first() -> None:
    (write,) = writes_of(image_of(*TOPIC), RemoveTopicRecord(topic_id=ID))

    assert write.description == "Deleted topic a, ID AAAAAAAAAp1Ctk52cUJEyw"
    assert [operation.path for operation in write.operations] == [
        "/brokers/topics/a/partitions/0/state",
        "/brokers/topics/a/partitions/0",
        "/brokers/topics/a/partitions",
        "/config/topics/a",
        "/brokers/topics/a",
    ]


def test_a_topic_that_is_created_again_is_deleted_before() -> None:
    records = RemoveTopicRecord(topic_id=ID), TopicRecord(name="a", topic_id=OTHER_ID)
    assert [write.type for write in writes_of(image_of(*TOPIC), *records)] == [
        "DeleteTopic",
        "CreateTopic",
    ]


def test_a_state_has_the_epoch_of_raft() -> None:
    change = PartitionChangeRecord(partition_id=0, topic_id=ID, leader=2, isr=(1, 2))
    (write,) = writes_of(image_of(*TOPIC), change)

    assert write.type == "UpdatePartition"
    data = b'{"version":1,"leader":2,"leader_epoch":4,"controller_epoch":7,"isr":[1,2]}'
    assert write.operations == (SetData("/brokers/topics/a/partitions/0/state", data),)


def test_a_reassignment_writes_the_topic_before_the_state() -> None:
    change = PartitionChangeRecord(
        partition_id=0, topic_id=ID, replicas=(1, 2, 3), adding_replicas=(3,)
    )
    writes = writes_of(image_of(*TOPIC), change)

    assert [write.description.partition(" for")[0].partition(" a,")[0] for write in writes] == [
        "Updated Topic",
        "Updated Partitions",
    ]


def test_new_partitions_are_written_after_the_topic() -> None:
    partition = PartitionRecord(partition_id=1, topic_id=ID, replicas=(2,), isr=(2,), leader=2)
    topic, created = writes_of(image_of(*TOPIC), partition)

    assert [operation.path for operation in topic.operations] == ["/brokers/topics/a"]
    assert [operation.path for operation in created.operations] == [
        "/brokers/topics/a/partitions/1",
        "/brokers/topics/a/partitions/1/state",
    ]


def config(name: str, value: str | None, type: int = 2, resource: str = "a") -> ConfigRecord:
    return ConfigRecord(resource_type=type, resource_name=resource, name=name, value=value)


def test_brokers_are_notified_of_a_configuration() -> None:
    (write,) = writes_of(EMPTY, config("retention.ms", "1"))

    assert write.operations == (
        SetData("/config/topics/a", b'{"version":1,"config":{"retention.ms":"1"}}'),
    )
    assert write.notifications == (
        Create(
            "/config/changes/config_change_",
            b'{"version":2,"entity_path":"topics/a"}',
            sequential=True,
        ),
    )


def test_the_last_value_that_is_removed_removes_the_znode() -> None:
    before = image_of(config("retention.ms", "1"))
    (write,) = writes_of(before, config("retention.ms", None))

    assert write.description == "Deleted configs for ConfigResource(type=TOPIC, name='a')"
    assert write.operations == (Delete("/config/topics/a"),)


@pytest.mark.parametrize("looks_up", [True, False])
def test_a_topic_that_is_created_again_keeps_the_configuration_that_stays(looks_up: bool) -> None:
    """With the old topic its znode is deleted, and nothing differs between the images."""
    before = image_of(*TOPIC, config("retention.ms", "1"))
    again = (
        RemoveTopicRecord(topic_id=ID),
        TopicRecord(name="a", topic_id=OTHER_ID),
        config("retention.ms", "1"),
    )
    after = apply_all(before, again)
    of, between = MetadataChanges.of(before, after, again), MetadataChanges.between(before, after)
    changes = of if looks_up else between

    *_, last = dual_write(changes, RAFT_EPOCH, PASSWORDS)
    data = b'{"version":1,"config":{"retention.ms":"1"}}'
    assert last.operations == (SetData("/config/topics/a", data),)


def test_all_brokers_are_the_default_and_their_passwords_are_encoded() -> None:
    (write,) = writes_of(EMPTY, config("ssl.key.password", "visible", 4, ""))

    (operation,) = write.operations
    assert isinstance(operation, SetData)
    assert operation.path == "/config/brokers/<default>"
    assert b"visible" not in operation.data
    assert b"PBKDF2WithHmacSHA512" in operation.data


def test_resources_that_zookeeper_has_not_are_left_out() -> None:
    assert writes_of(EMPTY, config("interval.ms", "100", 16, "metrics")) == []


def quota(value: float, *entity: tuple[str, str | None], remove: bool = False) -> ClientQuotaRecord:
    parts = [EntityData(entity_type=type, entity_name=name) for type, name in entity]
    key = "connection_creation_rate" if entity[0][0] == "ip" else "producer_byte_rate"
    return ClientQuotaRecord(entity=parts, key=key, value=value, remove=remove)


SCRAM = UserScramCredentialRecord(
    name="al ice", mechanism=1, salt=b"1", stored_key=b"2", server_key=b"3", iterations=4096
)
SCRAM_TEXT = "salt=MQ==,stored_key=Mg==,server_key=Mw==,iterations=4096"


@pytest.mark.parametrize(
    ("entity", "path"),
    [
        ((("user", "al ice"),), "users/al%20ice"),
        ((("user", None),), "users/<default>"),
        ((("user", "<default>"),), "users/%3Cdefault%3E"),
        ((("client-id", "a*"),), "clients/a%2A"),
        ((("user", "u/v"), ("client-id", None)), "users/u%2Fv/clients/<default>"),
        ((("ip", "127.0.0.1"),), "ips/127.0.0.1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_quotas_have_their_path(entity: tuple[tuple[str, str | None], ...], path: str) -> None:
    (write,) = writes_of(EMPTY, quota(100.0, *entity))

    (operation,) = write.operations
    assert operation.path == f"/config/{path}"
    assert f'"{path}"'.encode() in write.notifications[0].data


def test_a_credential_and_quotas_of_a_user_are_written_together() -> None:
    with_quota = image_of(quota(100.0, ("user", "al ice")))
    (write,) = writes_of(with_quota, SCRAM)

    (operation,) = write.operations
    assert isinstance(operation, SetData)
    data = '{"version":1,"config":{"producer_byte_rate":"100","SCRAM-SHA-256":"%s"}}'
    assert operation.data == (data % SCRAM_TEXT).encode()


def test_a_user_may_have_a_credential_only() -> None:
    (write,) = writes_of(EMPTY, SCRAM)

    (operation,) = write.operations
    assert isinstance(operation, SetData)
    assert operation.data == f'{{"version":1,"config":{{"SCRAM-SHA-256":"{SCRAM_TEXT}"}}}}'.encode()
    assert write.description == (
        "Updated scram credentials for ClientQuotaEntity(entries={user=al ice})"
    )


def test_the_last_quota_that_is_removed_leaves_an_empty_znode() -> None:
    entity = ("client-id", "c")
    (write,) = writes_of(image_of(quota(1.0, entity)), quota(0.0, entity, remove=True))
    assert write.operations == (SetData("/config/clients/c", b'{"version":1,"config":{}}'),)


def test_users_are_written_after_everything_else_that_has_quotas() -> None:
    entities = (("user", "b"), ("ip", "::1"), ("user", None), ("client-id", "c"), ("user", "a"))
    writes = writes_of(EMPTY, SCRAM, *(quota(1.0, entity) for entity in entities))

    assert [operation.path for write in writes for operation in write.operations] == [
        "/config/clients/c",
        "/config/ips/%3A%3A1",
        "/config/users/<default>",
        "/config/users/a",
        "/config/users/al%20ice",
        "/config/users/b",
    ]


def acl(id: int, name: str = "one", pattern_type: int = 3) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=UUID(int=id),
        resource_type=2,
        resource_name=name,
        pattern_type=pattern_type,
        principal=f"User:{id}",
        host="*",
        operation=3,
        permission_type=3,
    )


def test_all_rules_of_a_resource_are_written_together() -> None:
    (write,) = writes_of(image_of(acl(1)), acl(2))

    (operation,) = write.operations
    assert isinstance(operation, SetData)
    assert operation.path == "/kafka-acl/Topic/one"
    assert operation.data.count(b"principal") == 2
    assert [item.data for item in write.notifications] == [b"TOPIC:one"]


def test_the_last_rule_that_is_removed_removes_the_resource() -> None:
    removal = RemoveAccessControlEntryRecord(id=UUID(int=1))
    (write,) = writes_of(image_of(acl(1, pattern_type=4)), removal)

    assert write.operations == (Delete("/kafka-acl-extended/prefixed/Topic/one"),)
    assert write.folders == (
        "/kafka-acl-extended",
        "/kafka-acl-extended/prefixed",
        "/kafka-acl-extended/prefixed/Topic",
    )
    assert write.notifications[0].path == "/kafka-acl-extended-changes/acl_changes_"


@pytest.mark.parametrize("name", ["a/b", "..", "\x01"], ids=["slash", "dots", "control"])
def test_a_rule_whose_name_zookeeper_cannot_have_is_left_out(name: str) -> None:
    (write,) = writes_of(EMPTY, acl(1, name))

    assert write.operations == ()
    assert write.notifications == ()
    assert write.description.startswith("Left out, as ZooKeeper has no such names: Wrote 1 for")


def test_a_user_whose_name_zookeeper_cannot_have_is_left_out() -> None:
    (write,) = writes_of(EMPTY, quota(1.0, ("user", "..")))
    assert write.operations == ()


def test_producer_ids_are_written_as_the_block_that_begins_with_them() -> None:
    (write,) = writes_of(
        EMPTY, ProducerIdsRecord(broker_id=1, broker_epoch=1, next_producer_id=5000)
    )

    data = b'{"version":1,"broker":-1,"block_start":"5000","block_end":"5999"}'
    assert write.operations == (SetData("/latest_producer_id_block", data),)


def test_a_renewed_token_is_written_whole() -> None:
    token = DelegationTokenRecord(owner="User:a", requester="User:b", token_id="t")
    before = image_of(token)
    token.expiration_timestamp = 9
    (write,) = writes_of(before, token)

    (operation,) = write.operations
    assert isinstance(operation, SetData)
    assert operation.path == "/delegation_token/tokens/t"
    assert b'"expiryTimestamp":9' in operation.data


def test_ten_thousand_partitions_have_several_multis() -> None:
    partitions = (
        PartitionRecord(partition_id=number, topic_id=ID, replicas=(1,), isr=(1,), leader=1)
        for number in range(10_000)
    )
    (write,) = writes_of(EMPTY, TopicRecord(name="large", topic_id=ID), *partitions)

    parts = write.parts()

    assert sum(len(part.operations) for part in parts) == 20_003
    assert all(
        sum(len(item.path) + len(getattr(item, "data", b"")) for item in part.operations)
        < LARGEST_MULTI
        for part in parts
    )
