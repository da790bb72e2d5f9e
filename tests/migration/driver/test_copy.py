"""ZooKeeper's metadata as records; the expected ones follow ZkMigrationClient.scala (KIP-866)."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.image import EMPTY, apply_all
from kwire.image.client_quotas import Entity
from kwire.image.scram import ScramUser
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.producer_ids import ProducerIdsRecord
from kwire.messages.records.topic import TopicRecord
from kwire.migration.driver.copy import (
    ACLS_AT_ONCE,
    TopicsWithoutIds,
    copied_batches,
    copied_broker_ids,
    copied_groups,
)
from kwire.zookeeper import InvalidZnode
from kwire.zookeeper.password_cipher import PasswordNotDecoded
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.znodes import (
    AclResource,
    AclZnode,
    AclZnodeEntry,
    AssignedReplicas,
    ConfigZnode,
    DelegationTokenZnode,
    PartitionStateZnode,
    ProducerIdsZnode,
    TopicZnode,
)
from kwire.zookeeper.zookeeper_metadata import Stored, TopicInZooKeeper, ZooKeeperMetadata

PLAIN = PasswordEncoder()
SECRET = PasswordEncoder(secret="secret")
NO_ID = UUID(int=0)


def topic(id: int | None, partitions: int = 1) -> TopicInZooKeeper:
    replicas = AssignedReplicas((1, 2), adding=(3,), removing=(2,))
    state = PartitionStateZnode(
        leader=2, leader_epoch=4, isr=(2,), controller_epoch=9, leader_recovery_state=1
    )
    znode = TopicZnode(
        topic_id=None if id is None else UUID(int=id),
        partitions=dict.fromkeys(range(partitions), replicas),
    )
    states = dict.fromkeys(range(partitions), Stored(state, 7))
    return TopicInZooKeeper(topic=Stored(znode, 0), states=states)


def config(**values: str) -> Stored[ConfigZnode]:
    return Stored(ConfigZnode({name.replace("_", "."): value for name, value in values.items()}), 0)


def records_of(
    zookeeper: ZooKeeperMetadata, passwords: PasswordEncoder = PLAIN
) -> list[VersionedRecord]:
    groups = copied_groups(zookeeper, passwords=passwords, new_id=lambda: NO_ID)
    return [record for group in groups for record in group]


def test_a_topic_comes_with_its_configuration_and_its_partitions_as_they_are() -> None:
    zookeeper = ZooKeeperMetadata(
        topics={"a": topic(5)}, topic_configs={"a": config(retention_ms="1")}
    )

    assert [item.record for item in records_of(zookeeper)] == [
        TopicRecord(name="a", topic_id=UUID(int=5)),
        ConfigRecord(resource_type=2, resource_name="a", name="retention.ms", value="1"),
        PartitionRecord(
            partition_id=0,
            topic_id=UUID(int=5),
            replicas=(1, 2),
            adding_replicas=(3,),
            removing_replicas=(2,),
            isr=(2,),
            leader=2,
            leader_epoch=4,
            partition_epoch=7,
            leader_recovery_state=1,
        ),
    ]
    assert {item.version for item in records_of(zookeeper)} == {0}
    assert copied_broker_ids(zookeeper) == {1, 2, 3}


def test_a_partition_without_a_state_is_led_by_its_first_replica() -> None:
    zookeeper = ZooKeeperMetadata(topics={"a": replace(topic(5), states={})})

    record = records_of(zookeeper)[1].record

    assert isinstance(record, PartitionRecord)
    assert (record.isr, record.leader) == ((1, 2), 1)
    assert (record.leader_epoch, record.partition_epoch) == (0, 0)


def test_topics_without_ids_are_named_and_nothing_is_copied() -> None:
    topics = {f"old-{number}": topic(None) for number in range(7)} | {"new": topic(5)}

    with pytest.raises(TopicsWithoutIds) as raised:
        copied_batches(ZooKeeperMetadata(topics=topics), passwords=PLAIN, new_id=lambda: NO_ID)

    assert raised.value.topics == tuple(f"old-{number}" for number in range(7))
    assert "(old-0, old-1, old-2, old-3, old-4 and 2 more)" in str(raised.value)


def test_a_topic_that_is_to_be_deleted_is_left_out_with_or_without_an_id() -> None:
    zookeeper = ZooKeeperMetadata(
        topics={"a": topic(5), "doomed": topic(None)},
        topic_configs={"doomed": config(retention_ms="1")},
        pending_deletions=frozenset({"doomed", "not there"}),
    )
    assert len(records_of(zookeeper)) == 2


def test_a_batch_ends_with_the_group_that_makes_it_large_enough() -> None:
    zookeeper = ZooKeeperMetadata(
        topics={f"t{number}": topic(number + 1, partitions=120) for number in range(5)}
    )

    batches = copied_batches(zookeeper, passwords=PLAIN, new_id=lambda: NO_ID)

    assert [len(batch) for batch in batches] == [242, 242, 121]
    assert isinstance(batches[1][0].record, TopicRecord)


def test_one_topic_of_ten_thousand_partitions_is_one_batch() -> None:
    zookeeper = ZooKeeperMetadata(topics={"large": topic(1, partitions=10_000)})
    batches = copied_batches(zookeeper, passwords=PLAIN, new_id=lambda: NO_ID)
    assert [len(batch) for batch in batches] == [10_001]


def test_an_empty_zookeeper_has_no_batch() -> None:
    assert copied_batches(ZooKeeperMetadata(), passwords=PLAIN, new_id=lambda: NO_ID) == []


def test_passwords_of_brokers_are_decoded_and_all_brokers_have_an_empty_name() -> None:
    encoded = SECRET.encode("visible", bytes)
    zookeeper = ZooKeeperMetadata(
        broker_configs={
            None: config(ssl_key_password=encoded),
            "1": config(log_cleaner_threads="2"),
        }
    )

    image = apply_all(EMPTY, records_of(zookeeper, SECRET))

    assert dict(image.configs.of(ResourceType.BROKER, "")) == {"ssl.key.password": "visible"}
    assert ConfigResource(ResourceType.BROKER, "1") in image.configs.resources
    assert copied_broker_ids(zookeeper) == {1}
    with pytest.raises(PasswordNotDecoded, match="broker <default>"):
        records_of(zookeeper, PasswordEncoder(secret="other"))


def test_quotas_and_credentials_of_a_user_are_told_apart() -> None:
    text = "salt=MQ==,stored_key=Mg==,server_key=Mw==,iterations=4096"
    user = Stored(ConfigZnode({"SCRAM-SHA-512": text, "producer_byte_rate": "10"}), 0)
    zookeeper = ZooKeeperMetadata(
        users={"al ice": user},
        clients={"c": Stored(ConfigZnode({"consumer_byte_rate": "1"}), 0)},
        user_clients={("al ice", None): Stored(ConfigZnode({"request_percentage": "5"}), 0)},
        ips={"::1": Stored(ConfigZnode({"connection_creation_rate": "3"}), 0)},
    )

    image = apply_all(EMPTY, records_of(zookeeper))

    assert set(image.scram.credentials) == {ScramUser(2, "al ice")}
    assert dict(image.client_quotas.entities[Entity({("user", "al ice")})]) == {
        "producer_byte_rate": 10.0
    }
    pair = Entity({("user", "al ice"), ("client-id", None)})
    assert set(image.client_quotas.entities) == {
        Entity({("user", "al ice")}),
        Entity({("client-id", "c")}),
        Entity({("ip", "::1")}),
        pair,
    }


def test_a_credential_of_a_users_client_is_refused() -> None:
    text = "salt=MQ==,stored_key=Mg==,server_key=Mw==,iterations=4096"
    pair = Stored(ConfigZnode({"SCRAM-SHA-256": text, "request_percentage": "5"}), 0)
    with pytest.raises(InvalidZnode, match="/config/users/al%20ice/clients/<default>") as refused:
        records_of(ZooKeeperMetadata(user_clients={("al ice", None): pair}))
    assert "Mg==" not in str(refused.value)


def test_a_quota_that_is_no_number_is_named_with_its_path() -> None:
    zookeeper = ZooKeeperMetadata(clients={"a b": Stored(ConfigZnode({"rate": "much"}), 0)})
    with pytest.raises(InvalidZnode, match="/config/clients/a%20b"):
        records_of(zookeeper)


def test_producer_ids_go_on_after_the_block_in_zookeeper() -> None:
    block = ProducerIdsZnode(broker_id=3, first=1000, last=1999)

    (record,) = records_of(ZooKeeperMetadata(producer_ids=Stored(block, 0)))

    assert record.record == ProducerIdsRecord(broker_id=3, broker_epoch=-1, next_producer_id=2000)


def test_each_rule_is_copied_once_and_gets_an_id() -> None:
    rules = [
        AclZnodeEntry(principal=f"User:{number}", host="*", operation=3, permission_type=3)
        for number in range(ACLS_AT_ONCE + 1)
    ]
    zookeeper = ZooKeeperMetadata(
        acls={AclResource(2, "a"): Stored(AclZnode((*rules, rules[0])), 0)}
    )
    ids = iter(range(1, 1000))

    groups = list(copied_groups(zookeeper, passwords=PLAIN, new_id=lambda: UUID(int=next(ids))))

    assert [len(group) for group in groups if group] == [ACLS_AT_ONCE, 1]
    assert next(ids) == ACLS_AT_ONCE + 2


def test_tokens_are_copied_together() -> None:
    token = DelegationTokenZnode(
        token_id="t",
        owner="User:a",
        requester="User:b",
        renewers=("User:c",),
        issue_timestamp=1,
        max_timestamp=2,
        expiry_timestamp=3,
    )
    zookeeper = ZooKeeperMetadata(delegation_tokens={"t": Stored(token, 0)})

    image = apply_all(EMPTY, records_of(zookeeper))

    copied = image.delegation_tokens.by_id["t"]
    assert (copied.owner, copied.requester, copied.renewers) == ("User:a", "User:b", ("User:c",))
    assert (copied.issue_timestamp, copied.max_timestamp, copied.expiration_timestamp) == (1, 2, 3)
