"""The metric families of a quorum and its cluster; docs/operators/exporter.md lists them.

Values of which nobody is sure any more are left out: `up` then tells that they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from kwire.admin.quorum import QuorumInfo, ReplicaState
from kwire.exporter.cluster_watch import ClusterCounts, ClusterWatch
from kwire.exporter.partition_counts import PartitionCounts
from kwire.exporter.quorum_watch import QuorumWatch
from kwire.image.broker import BrokerRegistration
from kwire.messages.metadata_versions import KRAFT_VERSION, METADATA_VERSION, NAMES
from kwire.text.ids import uuid_text
from kwire.text.untrusted import harmless

QUORUM, CLUSTER = "kafka_quorum_", "kafka_cluster_"

REPLICA_LIMIT = 1000
"""Replicas of the metadata log that have series of their own; all are counted."""

LABEL_LENGTH = 256
"""Characters of a label that came over the wire; topics have up to 249."""

REPLICA = ("node_id", "directory_id", "role")

PARTITIONS: Mapping[str, tuple[str, Callable[[PartitionCounts], int]]] = MappingProxyType(
    {
        "partitions": ("Partitions.", lambda counts: counts.partitions),
        "leaderless_partitions": (
            "Partitions without a leader: nobody can read or write them.",
            lambda counts: counts.leaderless,
        ),
        "under_replicated_partitions": (
            "Partitions with fewer replicas in sync than they have.",
            lambda counts: counts.under_replicated,
        ),
        "under_min_isr_partitions": (
            "Partitions with fewer replicas in sync than min.insync.replicas.",
            lambda counts: counts.under_min_isr,
        ),
        "at_min_isr_partitions": (
            "Partitions with exactly min.insync.replicas in sync.",
            lambda counts: counts.at_min_isr,
        ),
    }
)
"""Kinds of partitions by the name of their metric, of the cluster and of a topic."""

CLUSTER_PARTITIONS: Mapping[str, tuple[str, Callable[[PartitionCounts], int]]] = MappingProxyType(
    {
        **PARTITIONS,
        "not_preferred_leader_partitions": (
            "Partitions whose leader is not their preferred one.",
            lambda counts: counts.not_preferred_leader,
        ),
        "reassigning_partitions": (
            "Partitions whose replicas are being moved.",
            lambda counts: counts.reassigning,
        ),
        "eligible_leader_replica_partitions": (
            "Partitions with eligible leader replicas beside the replicas in sync (KIP-966).",
            lambda counts: counts.with_elr,
        ),
        "replicas": ("Replicas of all partitions.", lambda counts: counts.replicas),
        "offline_replicas": (
            "Replicas in log directories that their brokers do not have online (KIP-858).",
            lambda counts: counts.offline_replicas,
        ),
    }
)


class ExporterCollector:
    """Collects what the two watches know at the moment of a scrape.

    cluster: None where only brokers are asked, which do not give the metadata log.
    """

    def __init__(self, quorum: QuorumWatch, cluster: ClusterWatch | None) -> None:
        self._quorum = quorum
        self._cluster = cluster

    def collect(self) -> Iterator[Metric]:
        """Yield each family once; those of which nothing is known have no samples."""
        quorum = self._quorum.quorum
        yield _value(QUORUM, "up", "1 if a leader answered the last poll.", quorum is not None)
        yield from _polls(self._quorum)
        yield from _quorum(quorum)
        yield from _replicas(quorum)
        if self._cluster is not None:
            counts = self._cluster.counts
            up = "1 while the metadata log of a leader is followed."
            yield _value(CLUSTER, "up", up, counts is not None)
            yield _info(self._quorum.cluster_id)
            yield from _image(self._cluster, counts)
            yield from _nodes(counts)
            yield from _partitions(counts)
            yield from _features(self._cluster, counts)
            yield from _topics(counts)


def _gauge(prefix: str, name: str, help: str, labels: Iterable[str] = ()) -> GaugeMetricFamily:
    return GaugeMetricFamily(prefix + name, help, labels=list(labels))


def _value(prefix: str, name: str, help: str, value: float | None) -> Metric:
    """Return a gauge without labels; without a sample if the value is None."""
    family = _gauge(prefix, name, help)
    if value is not None:
        family.add_metric([], value)
    return family


def _label(text: str) -> str:
    return harmless(text[:LABEL_LENGTH])


def _polls(watch: QuorumWatch) -> Iterator[Metric]:
    polls = CounterMetricFamily(f"{QUORUM}polls", "DescribeQuorum polls.", labels=["result"])
    polls.add_metric(["answered"], watch.answered)
    polls.add_metric(["failed"], watch.failed)
    yield polls
    took = "Seconds that the last poll took."
    yield _value(QUORUM, "poll_duration_seconds", took, watch.seconds)
    when = "Unix time of the last answer of a leader."
    yield _value(QUORUM, "last_answer_timestamp_seconds", when, watch.answered_at)
    elections = CounterMetricFamily(
        f"{QUORUM}elections", "Leader epochs that began since the exporter's first answer."
    )
    elections.add_metric([], watch.elections)
    yield elections


def _quorum(quorum: QuorumInfo | None) -> Iterator[Metric]:
    values: dict[str, tuple[str, Callable[[QuorumInfo], float]]] = {
        "leader_id": ("Node id of the leader.", lambda info: info.leader_id),
        "leader_epoch": ("Epoch of the leader.", lambda info: info.leader_epoch),
        "high_watermark": (
            "Offset up to which the metadata log is committed.",
            lambda info: info.high_watermark,
        ),
        "voters": ("Voters of the quorum.", lambda info: len(info.voters)),
        "observers": ("Observers that fetch from the leader.", lambda info: len(info.observers)),
    }
    for name, (help, read) in values.items():
        yield _value(QUORUM, name, help, None if quorum is None else read(quorum))


def _replicas(quorum: QuorumInfo | None) -> Iterator[Metric]:
    end = _gauge(QUORUM, "replica_log_end_offset", "Log end offset of a replica.", REPLICA)
    lag = _gauge(QUORUM, "replica_lag_records", "Records it is behind the leader.", REPLICA)
    clock = ", by the leader's clock"
    fetch = _gauge(
        QUORUM, "replica_last_fetch_age_seconds", f"Seconds since it fetched{clock}.", REPLICA
    )
    caught_up = _gauge(
        QUORUM,
        "replica_last_caught_up_age_seconds",
        f"Seconds since it had all that the leader had{clock}.",
        REPLICA,
    )
    for labels, replica in _labelled(quorum) if quorum is not None else ():
        assert quorum is not None
        known = replica.log_end_offset >= 0
        _add(end, labels, replica.log_end_offset if known else None)
        _add(lag, labels, quorum.lag(replica) if known else None)
        _add(fetch, labels, _age(quorum, replica.last_fetch_timestamp))
        _add(caught_up, labels, _age(quorum, replica.last_caught_up_timestamp))
    yield from (end, lag, fetch, caught_up)


def _labelled(quorum: QuorumInfo) -> Iterator[tuple[tuple[str, ...], ReplicaState]]:
    """Yield replicas with their labels, each label set once."""
    replicas: dict[tuple[str, ...], ReplicaState] = {}
    for role, states in (("voter", quorum.voters), ("observer", quorum.observers)):
        for state in states:
            directory = state.replica_directory_id
            labels = (str(state.replica_id), uuid_text(directory) if directory else "", role)
            if len(replicas) < REPLICA_LIMIT:
                replicas.setdefault(labels, state)
    yield from replicas.items()


def _add(family: GaugeMetricFamily, labels: Iterable[str], value: float | None) -> None:
    if value is not None:
        family.add_metric(list(labels), value)


def _age(quorum: QuorumInfo, timestamp: int | None) -> float | None:
    """Return how long ago that was when the leader answered; None if it is not known.

    The leader gives the time of its answer as its own last fetch (KIP-836).
    """
    leader = quorum.leader
    now = None if leader is None else leader.last_fetch_timestamp
    return None if now is None or timestamp is None else (now - timestamp) / 1000


def _info(cluster_id: str) -> Metric:
    family = _gauge(CLUSTER, "info", "1, with the id of the cluster.", ["cluster_id"])
    if cluster_id:
        family.add_metric([_label(cluster_id)], 1)
    return family


def _image(watch: ClusterWatch, counts: ClusterCounts | None) -> Iterator[Metric]:
    known = counts is not None
    offset = "Offset after the last committed record that the exporter has read."
    yield _value(CLUSTER, "image_offset", offset, watch.offset if known else None)
    age = "Seconds since the metadata changed, at most since the exporter's start."
    seconds = watch.seconds_since_change if known else None
    yield _value(CLUSTER, "last_change_age_seconds", age, seconds)


def _state(broker: BrokerRegistration) -> str:
    if broker.fenced:
        return "fenced"
    return "controlled_shutdown" if broker.in_controlled_shutdown else "active"


def _nodes(counts: ClusterCounts | None) -> Iterator[Metric]:
    brokers = _gauge(CLUSTER, "brokers", "Registered brokers by state.", ["state"])
    active = _gauge(CLUSTER, "broker_active", "1 if the broker is active.", ["node_id"])
    cluster = None if counts is None else counts.image.cluster
    if cluster is not None:
        states = {id: _state(cluster.brokers[id]) for id in sorted(cluster.brokers)}
        totals = Counter(states.values())
        for state in ("active", "fenced", "controlled_shutdown"):
            brokers.add_metric([state], totals[state])
        for id, state in states.items():
            active.add_metric([str(id)], state == "active")
    yield from (brokers, active)
    registered = None if cluster is None else len(cluster.controllers)
    yield _value(CLUSTER, "controllers", "Registered controllers.", registered)


def _partitions(counts: ClusterCounts | None) -> Iterator[Metric]:
    topics = None if counts is None else len(counts.image.topics.ids)
    yield _value(CLUSTER, "topics", "Topics.", topics)
    for name, (help, read) in CLUSTER_PARTITIONS.items():
        yield _value(CLUSTER, name, help, None if counts is None else read(counts.totals))
    help = "Log directories with replicas that their brokers do not have online."
    directories = None if counts is None else counts.offline_directories
    yield _value(CLUSTER, "offline_log_directories", help, directories)


def _features(watch: ClusterWatch, counts: ClusterCounts | None) -> Iterator[Metric]:
    levels = _gauge(CLUSTER, "feature_level", "Finalised level of a feature.", ["feature"])
    info = _gauge(CLUSTER, "metadata_version_info", "1, with its name.", ["version"])
    if counts is not None:
        found = {KRAFT_VERSION: watch.kraft_version, **dict(counts.image.features.levels.items())}
        for name, level in sorted(found.items()):
            levels.add_metric([_label(name)], level)
        if METADATA_VERSION in found:
            level = found[METADATA_VERSION]
            info.add_metric([NAMES.get(level, str(level))], 1)
    yield from (levels, info)


def _topics(counts: ClusterCounts | None) -> Iterator[Metric]:
    if counts is None or not counts.topics:
        return
    for name, (help, read) in PARTITIONS.items():
        family = _gauge(f"{CLUSTER}topic_", name, f"{help[:-1]}, of a topic.", ["topic"])
        for topic, of_topic in counts.topics.items():
            family.add_metric([_label(topic)], read(of_topic))
        yield family
