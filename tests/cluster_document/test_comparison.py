"""Differences of two documents: old and new of each key, and nothing that one of them lacks."""

import re
from base64 import b64encode
from hashlib import pbkdf2_hmac
from typing import Any

import pytest

from kwire.cluster_document.comparison import Change, Comparison, compare
from kwire.cluster_document.document import ClusterDocument, DocumentSection
from kwire.cluster_document.from_image import document_of
from kwire.cluster_document.writing import yaml_text
from kwire.observer.stored_metadata import read_checkpoint, read_metadata_folder
from tests.support.paths import FIXTURES

ORDERS = {
    "name": "orders",
    "id": "A",
    "partitions": 3,
    "replicationFactor": 2,
    "configs": {"retention.ms": "1"},
}


def document(**sections: Any) -> ClusterDocument:
    return ClusterDocument.model_validate({"version": 1, **sections})


def told(comparison: Comparison) -> list[tuple[str, str, str, object, object]]:
    return [
        (one.name, one.change.value, one.field, one.old, one.new) for one in comparison.differences
    ]


def topics(old: dict[str, Any], new: dict[str, Any], *, ignore_ids: bool = False) -> list[Any]:
    pair = document(topics=[old]), document(topics=[new])
    return told(compare(*pair, ignore_ids=ignore_ids))


def test_each_key_of_a_topic_has_its_old_and_its_new_value() -> None:
    changed = ORDERS | {
        "partitions": 6,
        "replicationFactor": 3,
        "configs": {"retention.ms": "2", "cleanup.policy": "compact"},
    }
    assert topics(ORDERS, changed) == [
        ("orders", "added", "configs.cleanup.policy", None, "compact"),
        ("orders", "changed", "configs.retention.ms", "1", "2"),
        ("orders", "changed", "partitions", 3, 6),
        ("orders", "changed", "replicationFactor", 2, 3),
    ]


def test_topics_on_one_side_only_are_added_or_removed() -> None:
    fields = {"partitions": 3, "replicationFactor": 2, "configs.retention.ms": "1"}
    one, none = document(topics=[ORDERS]), document(topics=[])
    assert told(compare(none, one)) == [("orders", "added", "", None, fields)]
    assert told(compare(one, none)) == [("orders", "removed", "", fields, None)]


def test_a_topic_of_another_id_was_created_anew() -> None:
    other = ORDERS | {"id": "B"}
    assert topics(ORDERS, other) == [("orders", "recreated", "id", "A", "B")]
    assert topics(ORDERS, other, ignore_ids=True) == []
    without_id = {key: value for key, value in ORDERS.items() if key != "id"}
    assert topics(ORDERS, without_id) == []


@pytest.mark.parametrize(
    ("first", "second", "count"), [("x", "x", 1), ("x", "y", 0), ("x", None, 1)]
)
def test_ids_of_two_clusters_are_not_compared(first: str, second: str | None, count: int) -> None:
    old = document(cluster={"id": first}, topics=[ORDERS])
    new = document(cluster={"id": second}, topics=[ORDERS | {"id": "B"}])
    assert len(compare(old, new).differences) == count


@pytest.mark.parametrize("absent", ["configs", "replicationFactor", "id"])
def test_a_part_of_a_topic_that_one_side_lacks_is_not_compared(absent: str) -> None:
    some = {key: value for key, value in ORDERS.items() if key != absent}
    assert topics(some, ORDERS) == topics(ORDERS, some) == []


def test_assignments_are_compared_where_both_sides_have_them() -> None:
    old = ORDERS | {"assignments": [[1, 2], [2, 1], [1, 2]]}
    new = ORDERS | {"assignments": [[1, 2], [1, 2], [1, 2]]}
    assert topics(old, new) == [("orders", "changed", "assignments.1", [2, 1], [1, 2])]
    assert topics(old, ORDERS) == []


def test_a_replication_factor_is_counted_in_assignments_where_it_is_not_given() -> None:
    mixed = {"name": "orders", "partitions": 3, "assignments": [[1], [1, 2], [1, 2]]}
    assert topics(ORDERS, mixed) == [("orders", "changed", "replicationFactor", 2, "1, 2")]


def test_a_section_that_one_side_lacks_is_not_compared() -> None:
    comparison = compare(document(topics=[], acls=[]), document(topics=[], quotas=[]))
    assert comparison.compared == (DocumentSection.TOPICS,)
    assert DocumentSection.ACLS in comparison.not_compared
    only = compare(
        document(topics=[], acls=[]), document(topics=[], acls=[]), [DocumentSection.ACLS]
    )
    assert (only.compared, only.not_compared) == ((DocumentSection.ACLS,), ())


def test_values_that_are_not_shown_are_compared_as_set_or_not() -> None:
    def broker(**configs: str | None) -> ClusterDocument:
        entry = {"type": "brokers", "name": None, "configs": configs}
        return document(configs=[entry])

    assert not compare(broker(password=None), broker(password="x")).differences
    assert told(compare(broker(password=None), broker())) == [
        ("brokers <default>", "removed", "password", None, None)
    ]


def test_every_section_is_compared() -> None:
    """Kafka's logs with and without eligible leader replicas, of the same commands."""
    logdirs = FIXTURES / "logdirs"
    old = document_of(read_metadata_folder(logdirs / "kafka-4.3.1-brokers"))
    new = document_of(read_metadata_folder(logdirs / "kafka-4.3.1-without-elr"))
    assert [difference[:3] for difference in told(compare(old, new, ignore_ids=True))] == [
        ("eligible.leader.replicas.version", "removed", ""),
        ("client-id <default>, user alice", "added", ""),
        ("alice SCRAM-SHA-256", "added", ""),
    ]
    acl = {"principal": "User:a", "permission": "DENY", "operation": "READ", "host": "*"} | {
        "resourceType": "TOPIC",
        "resourceName": "t",
        "patternType": "PREFIXED",
    }
    assert told(compare(document(acls=[]), document(acls=[acl]))) == [
        ("User:a DENY READ on PREFIXED TOPIC t from *", "added", "", None, {})
    ]


def test_a_salted_password_is_compared_with_the_key_that_kafka_stored() -> None:
    """The log has alice's salt, and the key that Kafka made of the word "secret"."""
    metadata = read_metadata_folder(FIXTURES / "logdirs" / "kafka-4.3.1-without-elr")
    (stored,) = metadata.image.scram.credentials.values()
    with_keys = document_of(metadata, keys=True)

    def alice(password: bytes, iterations: int = 4096) -> ClusterDocument:
        salted = pbkdf2_hmac("sha256", password, stored.salt, iterations)
        credential = {
            "user": "alice",
            "mechanism": "SCRAM-SHA-256",
            "iterations": iterations,
            "salt": b64encode(stored.salt).decode(),
            "saltedPassword": b64encode(salted).decode(),
        }
        return document(scramCredentials=[credential])

    assert not compare(with_keys, alice(b"secret")).differences
    (changed,) = told(compare(with_keys, alice(b"other")))
    assert changed[:3] == ("alice SCRAM-SHA-256", "changed", "saltedPassword")
    assert all(re.fullmatch("sha256:[0-9a-f]{8}", str(value)) for value in changed[3:])
    # One that does not tell its keys is compared by the iterations alone.
    assert not compare(document_of(metadata), alice(b"other")).differences
    assert len(compare(document_of(metadata), alice(b"other", 8192)).differences) == 1
    assert yaml_text(with_keys) == yaml_text(document_of(metadata))


def test_a_log_differs_from_its_own_earlier_checkpoint() -> None:
    folder = FIXTURES / "logdirs" / "kafka-4.3.1-without-elr"
    checkpoint = folder / "__cluster_metadata-0" / "00000000000000000132-0000000001.checkpoint"
    old, new = document_of(read_checkpoint(checkpoint)), document_of(read_metadata_folder(folder))
    changes = {difference.change for difference in compare(old, new).differences}
    assert changes <= {Change.ADDED, Change.REMOVED, Change.CHANGED}
