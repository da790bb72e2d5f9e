"""Documents of metadata that Kafka wrote: read back they are the same, and show no secret."""

import json
from pathlib import Path
from uuid import UUID

import pytest
import yaml

from kwire.batches.metadata_records import VersionedRecord
from kwire.cluster_document.comparison import compare
from kwire.cluster_document.document import ClusterDocument, DocumentSection
from kwire.cluster_document.from_image import document_of
from kwire.cluster_document.reading import parse_document, read_document
from kwire.cluster_document.writing import FORMS, plain_data, yaml_text
from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, apply_all
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.topic import TopicRecord
from kwire.observer.stored_metadata import StoredMetadata, read_metadata_folder
from tests.support.paths import FIXTURES

LOGDIRS = sorted((FIXTURES / "logdirs").iterdir())
BOTH = FIXTURES / "logdirs" / "kafka-4.3.1-without-elr"
SALT_AND_KEYS = ("salt", "storedkey", "serverkey")


def stored(*records: MetadataRecord | VersionedRecord) -> StoredMetadata:
    return StoredMetadata(image=apply_all(EMPTY, records), offset=len(records))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("folder", LOGDIRS, ids=lambda folder: folder.name)
def test_a_document_equals_itself_read_back(folder: Path, form: str, tmp_path: Path) -> None:
    document = document_of(read_metadata_folder(folder), assignments=True)
    text = FORMS[form](document)
    (tmp_path / "document").write_text(text)
    read = read_document(tmp_path / "document")
    assert read == document
    assert FORMS[form](read) == text
    comparison = compare(document, read)
    assert not comparison.differences
    assert comparison.compared == tuple(DocumentSection)


def test_a_document_has_what_kafka_wrote_down() -> None:
    data = plain_data(document_of(read_metadata_folder(BOTH)))
    assert data["version"] == 1
    assert data["features"]["metadata.version"] == 30
    assert data["topics"][0] == {
        "name": "orders",
        "id": "TE8xNNljRpWozGezVjQDFw",
        "partitions": 4,
        "replicationFactor": 2,
        "configs": {
            "cleanup.policy": "compact",
            "min.insync.replicas": "2",
            "retention.ms": "100000",
        },
    }
    assert data["quotas"] == [
        {"entity": {"client-id": None, "user": "alice"}, "quotas": {"consumer_byte_rate": 2048.0}}
    ]
    assert data["scramCredentials"] == [
        {"user": "alice", "mechanism": "SCRAM-SHA-256", "iterations": 4096}
    ]
    assert data["acls"] == [
        {
            "principal": "User:alice",
            "permission": "ALLOW",
            "operation": "READ",
            "resourceType": "TOPIC",
            "resourceName": "orders",
            "patternType": "LITERAL",
            "host": "*",
        }
    ]


@pytest.mark.parametrize("form", FORMS)
def test_other_programs_read_the_same_from_it(form: str) -> None:
    document = document_of(read_metadata_folder(BOTH), assignments=True)
    text = FORMS[form](document)
    load = json.loads if form == "json" else yaml.safe_load
    assert load(text) == plain_data(document)


def test_only_some_sections_are_written() -> None:
    document = document_of(
        read_metadata_folder(BOTH), [DocumentSection.TOPICS, DocumentSection.ACLS]
    )
    assert list(plain_data(document)) == ["version", "topics", "acls"]


def test_keys_of_credentials_are_not_written() -> None:
    text = yaml_text(document_of(read_metadata_folder(BOTH))).lower()
    assert "iterations" in text
    assert not [word for word in SALT_AND_KEYS if word in text]


@pytest.mark.parametrize(
    ("type", "key", "is_shown"),
    [
        (4, "log.cleaner.threads", True),
        (4, "ssl.keystore.password", False),
        (4, "listener.name.external.ssl.key.password", False),
        (4, "listener.name.external.plain.sasl.jaas.config", False),
        (4, "a.plugin.of.ours", False),
        (2, "retention.ms", True),
        (2, "a.topic.key.of.kafka.5", True),
        (32, "consumer.session.timeout.ms", True),
        (16, "x.api.token", False),
    ],
)
def test_a_value_that_may_be_a_password_is_not_written(type: int, key: str, is_shown: bool) -> None:
    topic = TopicRecord(name="1", topic_id=UUID(int=9))
    partition = PartitionRecord(
        partition_id=0, topic_id=UUID(int=9), replicas=(1,), isr=(1,), leader=1
    )
    config = ConfigRecord(resource_type=type, resource_name="1", name=key, value="xyzzy")
    text = yaml_text(document_of(stored(topic, partition, config)))
    assert key in text
    assert ("xyzzy" in text) is is_shown
    assert parse_document(text, "it") == document_of(stored(topic, partition, config))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name", ["null", "no", "~", "1e3", "007", "- x", "a: b", "müller\n\x1b[2J", "\u2028", "😀", ""]
)
def test_any_name_is_a_name(name: str, form: str) -> None:
    configs = {"a": name}
    document = ClusterDocument.model_validate(
        {"version": 1, "configs": [{"type": "groups", "name": name, "configs": configs}]}
    )
    text = FORMS[form](document)
    assert text.isascii()
    assert "\x1b" not in text
    assert parse_document(text, "it") == document


@pytest.mark.parametrize("form", FORMS)
def test_a_quota_without_limit_is_read_back(form: str) -> None:
    quota = {"entity": {"user": "alice"}, "quotas": {"producer_byte_rate": float("inf")}}
    document = ClusterDocument.model_validate({"version": 1, "quotas": [quota]})
    text = FORMS[form](document)
    load = json.JSONDecoder(parse_constant=pytest.fail).decode if form == "json" else yaml.safe_load
    assert load(text)["quotas"][0]["quotas"] == {"producer_byte_rate": "Infinity"}
    assert parse_document(text, "it") == document


def test_partitions_that_differ_in_their_replicas_are_written_out() -> None:
    id = UUID(int=9)
    partitions = (
        PartitionRecord(
            partition_id=number, topic_id=id, replicas=replicas, isr=replicas, leader=replicas[0]
        )
        for number, replicas in enumerate([(1, 2), (3,)])
    )
    document = document_of(stored(TopicRecord(name="t", topic_id=id), *partitions))
    assert document.topics is not None
    assert document.topics[0].replication_factor is None
    assert document.topics[0].assignments == ((1, 2), (3,))


def test_a_reassignment_shows_where_it_leads() -> None:
    id = UUID(int=9)
    partition = PartitionRecord(
        partition_id=0,
        topic_id=id,
        replicas=(3, 1, 2),
        isr=(1, 2),
        leader=1,
        adding_replicas=(3,),
        removing_replicas=(1,),
    )
    metadata = stored(TopicRecord(name="t", topic_id=id), partition)
    (topic,) = document_of(metadata, assignments=True).topics or ()
    assert topic.assignments == ((3, 2),)
