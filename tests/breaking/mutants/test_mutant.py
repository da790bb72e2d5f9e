"""Mutants of declared fields: what is changed, and what is left alone."""

from uuid import UUID

import pytest

from breaking.mutants.mutant import Mutant, MutantKind, fields_of, mutants_of
from breaking.mutants.values import AN_HOUR, OTHER_ID
from kwire.messages.a03_metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

METADATA, DESCRIBE_CONFIGS, VERSIONS = 3, 32, range(14)


def mutant(path: str, kind: MutantKind, below: int | None = None) -> Mutant:
    (field,) = (f for f in fields_of(METADATA, VERSIONS) if f.path == path)
    return Mutant(field=field, kind=kind, below=below)


def response() -> MetadataResponse:
    partition = MetadataResponsePartition(leader_id=1, leader_epoch=4, isr_nodes=(1, 2))
    topic = MetadataResponseTopic(name="topic", topic_id=UUID(int=5), partitions=[partition])
    broker = MetadataResponseBroker(node_id=1, host="here", port=9092)
    return MetadataResponse(brokers=[broker], topics=[topic], cluster_id="cluster")


@pytest.mark.parametrize(
    ("path", "kind", "come"),
    [
        ("cluster_id", MutantKind.NEUTRAL, lambda r: r.cluster_id is None),
        ("cluster_id", MutantKind.OTHER, lambda r: r.cluster_id == "cluster-other"),
        ("topics[].topic_id", MutantKind.OTHER, lambda r: r.topics[0].topic_id == OTHER_ID),
        ("topics[].error_code", MutantKind.OTHER, lambda r: r.topics[0].error_code == -1),
        ("topics[].is_internal", MutantKind.OTHER, lambda r: r.topics[0].is_internal),
        ("brokers", MutantKind.DROP, lambda r: r.brokers == []),
        ("brokers", MutantKind.DOUBLE, lambda r: [b.node_id for b in r.brokers] == [1, 1]),
        ("brokers[].port", MutantKind.OTHER, lambda r: r.brokers[0].port == 9093),
    ],
)
def test_one_field_is_changed_and_nothing_else(path, kind, come) -> None:  # type: ignore[no-untyped-def]
    changed = response()
    assert mutant(path, kind).change(changed, 12)
    assert come(changed)
    for name in MetadataResponse.fields:
        if not path.startswith(name):
            assert getattr(changed, name) == getattr(response(), name)


def test_each_element_is_changed() -> None:
    changed = response()
    changed.topics[0].partitions *= 2
    path = "topics[].partitions[].leader_epoch"
    assert mutant(path, MutantKind.NEUTRAL).change(changed, 12)
    assert [p.leader_epoch for p in changed.topics[0].partitions] == [-1, -1]


@pytest.mark.parametrize("version", [6, 13])
def test_a_version_without_the_field_and_one_above_the_range_are_left_alone(version: int) -> None:
    path = "topics[].partitions[].leader_epoch"
    assert not mutant(path, MutantKind.NEUTRAL, below=13).change(response(), version)


def test_a_value_that_is_neutral_already_makes_no_mutant() -> None:
    assert not mutant("throttle_time_ms", MutantKind.NEUTRAL).change(response(), 12)
    assert not mutant("topics[].partitions[].offline_replicas", MutantKind.DROP).change(
        response(), 12
    )


def test_an_array_of_numbers_has_another_element_where_it_was_empty() -> None:
    changed = response()
    path = "topics[].partitions[].offline_replicas"
    assert mutant(path, MutantKind.OTHER).change(changed, 12)
    assert changed.topics[0].partitions[0].offline_replicas == (1,)


def test_every_field_of_the_offered_versions_has_mutants_in_all_and_in_the_lower_ones() -> None:
    fields = list(fields_of(DESCRIBE_CONFIGS, range(1, 5)))
    assert "results[].configs[].is_default" not in [field.path for field in fields]
    synonyms = next(f for f in fields if f.path == "results[].configs[].synonyms")
    found = [(m.kind, m.below) for m in mutants_of(synonyms, range(1, 5))]
    drop, double = MutantKind.DROP, MutantKind.DOUBLE
    assert found == [(drop, None), (drop, 4), (double, None), (double, 4)]


def test_fields_of_requests_are_only_taken_away() -> None:
    kinds = {field.kinds for field in fields_of(METADATA, VERSIONS, is_request=True)}
    assert kinds == {(MutantKind.NEUTRAL,), (MutantKind.DROP,)}


def test_times_are_wrong_by_more_than_clocks_are() -> None:
    assert AN_HOUR == 60 * 60 * 1000
