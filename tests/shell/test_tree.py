"""The tree is that of Kafka's MetadataShell 4.3.1, whose outputs on the same logs are fixtures."""

import json
from uuid import UUID

import pytest

from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord
from kwire.image.topics import TopicImage
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.shell import DirectorySource
from kwire.text.ids import uuid_text
from tests.support.paths import FIXTURES
from tests.support.shell.kafka_shell import as_kwire_prints
from tests.support.shell.sessions import Session, session_of

LOGS = FIXTURES / "logdirs"
TOPIC_ID = UUID(int=77)
TOPIC = TopicRecord(name="orders", topic_id=TOPIC_ID)
PARTITION = PartitionRecord(
    partition_id=0, topic_id=TOPIC_ID, replicas=(1, 2), isr=(1,), leader=1, leader_epoch=3
)


@pytest.mark.parametrize("name", ["kafka-4.3.1-brokers", "kafka-4.3.1-without-elr"])
def test_it_is_the_tree_of_kafkas_shell(name: str) -> None:
    with DirectorySource(LOGS / name) as source:
        assert Session(source)("tree /image") == as_kwire_prints(
            (LOGS / name / "shell-tree.txt").read_text()
        )


def test_find_names_the_nodes_of_kafkas_shell() -> None:
    with DirectorySource(LOGS / "kafka-4.3.1-brokers") as source:
        found = Session(source)("find /image/topics/byName/o*")
    assert found[0] == "/image/topics/byName/orders"
    assert found[-2:] == ["/image/topics/byName/orders/id", "/image/topics/byName/orders/name"]


def test_secrets_are_not_shown() -> None:
    session = session_of(
        UserScramCredentialRecord(
            name="alice",
            mechanism=1,
            salt=b"\x5a" * 8,
            stored_key=b"\x5b" * 8,
            server_key=b"\x5c" * 8,
            iterations=4096,
        ),
        config(4, "1", "listener.name.external.ssl.keystore.password", "tell-nobody"),
        config(4, "1", "listener.name.external.sasl.jaas.config", "tell-nobody"),
        config(4, "1", "log.cleaner.threads", "2"),
        config(4, "1", "plugin.of.ours", "tell-nobody"),
    )
    text = "\n".join(session("tree /image") + session("cat --json /image/*/*/*"))
    assert "tell-nobody" not in text
    assert not {"5a" * 8, "5b" * 8, "5c" * 8} & set(text.replace("=", " ").split())
    assert session("cat /image/configs/BROKER:1/*") == [
        "[redacted]",
        "[redacted]",
        "2",
        "[redacted]",
    ]
    assert session("cat /image/scram/SCRAM-SHA-256/alice") == [
        "ScramCredentialData(salt=[redacted], storedKey=[redacted], serverKey=[redacted],"
        " iterations=4096)"
    ]


def config(type: int, resource: str, name: str, value: str) -> ConfigRecord:
    return ConfigRecord(resource_type=type, resource_name=resource, name=name, value=value)


def quota(*entity: tuple[str, str | None]) -> ClientQuotaRecord:
    parts = [EntityData(entity_type=type, entity_name=name) for type, name in entity]
    return ClientQuotaRecord(entity=parts, key="producer_byte_rate", value=1024.0, remove=False)


def test_every_quota_has_a_name_of_its_own() -> None:
    session = session_of(
        quota(("user", "alice"), ("client-id", "c1")),
        quota(("user", "alice"), ("client-id", None)),
        quota(("user", "alice")),
        quota(("user", None)),
        quota(("ip", None)),
        quota(("user", "a(b)\\c")),
        quota(("user", "kafka/host@REALM")),
    )
    names = session("ls /image/clientQuotas")
    assert names == [
        "clientId(c1)_user(alice)",
        "clientId_user(alice)",
        "ip",
        "user",
        "user(a\\(b\\)\\\\c)",
        "user(alice)",
        "user(kafka/host@REALM)",
    ]
    for name in names:
        assert session(f"cat '/image/clientQuotas/{name}/producer_byte_rate'") == ["1024.0"]
    assert len(session("cat /image/clientQuotas/*/*")) == len(names)


def test_a_default_has_no_name_behind_its_type() -> None:
    session = session_of(
        config(4, "", "log.cleaner.threads", "1"),
        config(4, "3", "a", "2"),
        config(99, "x", "b", "3"),
    )
    assert session("ls /image/configs") == ["99:x", "BROKER", "BROKER:3"]
    assert session("cat /image/configs/BROKER/log.cleaner.threads") == ["1"]


def test_a_token_has_its_times_and_no_password() -> None:
    token = DelegationTokenRecord(
        owner="User:a",
        requester="User:b",
        renewers=("User:c",),
        issue_timestamp=1,
        max_timestamp=3,
        expiration_timestamp=2,
        token_id="id-1",
    )
    assert session_of(token)("cat /image/delegationToken/id-1") == [
        "DelegationTokenData(tokenId=id-1, owner=User:a, tokenRequester=User:b, renewers=[User:c],"
        " issueTimestamp=1, maxTimestamp=3, expiryTimestamp=2)"
    ]


def test_what_kafka_has_not_told_is_not_made_up() -> None:
    session = session_of()
    assert session("cat /image/features/metadataVersion") == ["-"]
    assert '"value": null' in "".join(session("cat --json /image/producerIds/nextProducerId"))
    assert session("ls /image/features") == ["metadataVersion"]


def test_the_state_of_a_migration_shows_in_logs_that_have_one() -> None:
    session = session_of(
        FeatureLevelRecord(name="metadata.version", feature_level=99),
        ZkMigrationStateRecord(zk_migration_state=1),
    )
    assert session("cat /image/features/*") == ["level 99", "MIGRATION"]


def test_a_record_that_nobody_knows_has_a_node() -> None:
    unknown = VersionedRecord(record=OpaqueRecord(type=300, body=b"abc"), version=2)
    assert session_of(unknown)("cat /image/unknownRecords/0") == ["record type 300, version 2"]


@pytest.mark.parametrize("name", ["00", "-1", "2", "\u0661", "9" * 30, "x"])
def test_a_partition_has_one_name(name: str) -> None:
    session = session_of(TOPIC, PARTITION)
    assert not session(f"cat /image/topics/byName/orders/{name}")
    assert not session.succeeded


def test_a_topic_is_the_same_by_name_and_by_id() -> None:
    session = session_of(TOPIC, PARTITION)
    by_name, by_id = "/image/topics/byName/orders", f"/image/topics/byId/{uuid_text(TOPIC_ID)}"
    assert session(f"tree {by_name}") == session(f"tree {by_id}")
    assert "leader=1" in session(f"cat {by_id}/0")[0]


def test_topics_that_nobody_asked_for_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(
        *(TopicRecord(name=f"t{number}", topic_id=UUID(int=number)) for number in range(1, 500))
    )
    looked_at: list[str] = []
    numbers = TopicImage.__getattribute__

    def watched(topic: TopicImage, name: str) -> object:
        if name == "partitions":
            looked_at.append(numbers(topic, "name"))
        return numbers(topic, name)

    monkeypatch.setattr(TopicImage, "__getattribute__", watched, raising=False)
    assert session("ls /image/topics/byName/t7") == ["id", "name"]
    assert len(session("ls /image/topics/byName")) == 499
    assert set(looked_at) == {"t7"}


def test_directories_that_a_broker_has_not_told_of_are_not_none() -> None:
    """A log of Kafka 3.9.1 in Kafka's shell has `cordonedDirectories=null`."""
    broker = RegisterBrokerRecord(broker_id=1, incarnation_id=UUID(int=9), broker_epoch=8)
    session = session_of(broker)
    assert session("cat /image/cluster/brokers/1")[0].endswith("cordonedDirectories=null)")
    answer = json.loads("".join(session("cat --json /image/cluster/brokers/1")))
    assert answer["nodes"][0]["value"]["cordonedDirectories"] is None
