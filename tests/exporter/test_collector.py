"""The metrics of the exporter: values of an image and of a quorum, and none that is not known."""

import re
from dataclasses import replace
from typing import cast

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from kwire.admin import AdminClient
from kwire.exporter.collector import REPLICA_LIMIT, ExporterCollector
from kwire.exporter.quorum_watch import QuorumWatch
from tests.support.exporter.metric_names import metric_table, served_families
from tests.support.exporter.watches import (
    LED,
    STORED,
    cluster_watch,
    collector,
    quorum_watch,
    replica,
)
from tests.support.paths import DOCS


def page(collector: ExporterCollector) -> str:
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry).decode()


def scrape(collector: ExporterCollector) -> dict[str, float]:
    """Return values by the text of their series."""
    return {
        sample.name + str(sorted(sample.labels.items()) or ""): sample.value
        for family in text_string_to_metric_families(page(collector))
        for sample in family.samples
    }


def test_a_quorum_is_measured_by_the_clock_of_its_leader() -> None:
    found = scrape(ExporterCollector(quorum_watch(LED), None))
    assert found["kafka_quorum_up"] == 1
    assert found["kafka_quorum_leader_id"] == 3000
    assert found["kafka_quorum_elections_total"] == 2
    by_node = {
        (match[1], match[2]): value
        for series, value in found.items()
        if (match := re.match(r"kafka_quorum_replica_(\w+)\[.*'node_id', '(\d+)'", series))
    }
    assert by_node["lag_records", "3001"] == 10
    assert by_node["last_fetch_age_seconds", "3001"] == 0.25
    assert by_node["last_caught_up_age_seconds", "3001"] == 1.5
    assert by_node["log_end_offset", "1"] == 95
    assert not [name for name, node in by_node if node == "3002"]
    assert not [series for series in found if series.startswith("kafka_cluster")]


def test_without_a_leader_nothing_of_the_quorum_is_told() -> None:
    found = scrape(ExporterCollector(quorum_watch(None), cluster_watch(None)))
    assert found["kafka_quorum_up"] == found["kafka_cluster_up"] == 0
    assert {series.partition("[")[0] for series in found} == {
        "kafka_quorum_up",
        "kafka_quorum_polls_total",
        "kafka_quorum_poll_duration_seconds",
        "kafka_quorum_last_answer_timestamp_seconds",
        "kafka_quorum_elections_total",
        "kafka_cluster_up",
        "kafka_cluster_info",
    }


def test_before_the_first_poll_no_time_is_told() -> None:
    watch = QuorumWatch(cast(AdminClient, None), 5.0)
    families = {series.partition("[")[0] for series in scrape(ExporterCollector(watch, None))}
    assert families == {
        "kafka_quorum_up",
        "kafka_quorum_polls_total",
        "kafka_quorum_elections_total",
    }


def test_a_cluster_of_kafka_is_counted() -> None:
    found = scrape(collector())
    topics = STORED.image.topics
    partitions = topics.partitions(lambda partition: True)
    moved = topics.partitions(lambda partition: partition.leader != partition.replicas[0])
    assert found["kafka_cluster_topics"] == len(topics.ids) == 2
    assert found["kafka_cluster_partitions"] == len(partitions)
    assert found["kafka_cluster_not_preferred_leader_partitions"] == len(moved) > 0
    assert found["kafka_cluster_topic_partitions[('topic', 'orders')]"] == 4
    assert sum(value for name, value in found.items() if "_brokers[" in name) == 2
    assert found["kafka_cluster_metadata_version_info[('version', '4.3-IV0')]"] == 1
    assert found["kafka_cluster_feature_level[('feature', 'kraft.version')]"] == 1


def test_series_of_replicas_are_bounded() -> None:
    observers = tuple(replica(id, 1, 1, 1) for id in range(10 * REPLICA_LIMIT))
    found = scrape(collector(replace(LED, observers=observers)))
    ends = [series for series in found if series.startswith("kafka_quorum_replica_log_end")]
    assert len(ends) == REPLICA_LIMIT - 1  # one voter has an end that is not known
    assert found["kafka_quorum_observers"] == 10 * REPLICA_LIMIT


def test_a_replica_that_is_listed_twice_is_served_once() -> None:
    text = page(collector(replace(LED, voters=LED.voters + LED.voters)))
    series = [line.rpartition(" ")[0] for line in text.splitlines() if line[0] != "#"]
    assert len(series) == len(set(series))


def test_the_guide_lists_every_metric_with_its_labels() -> None:
    assert metric_table(DOCS / "operators" / "exporter.md") == served_families(collector())
