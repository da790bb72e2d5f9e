"""Kafka's raft-metrics (KIP-595, KIP-853) and KafkaController gauges, for Prometheus.

A name is Kafka's domain, type and name in lower case, joined by underscores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from prometheus_client.core import GaugeMetricFamily, Metric

from kwire.controller.raft.metrics import RaftMetrics
from kwire.controller.server.node import ControllerNode
from kwire.controller.server.raft_sensors import RaftSensors
from kwire.image.partition import NO_LEADER
from kwire.text.ids import uuid_text

RAFT, CONTROLLER = "kafka.server:type=raft-metrics", "kafka.controller:type=KafkaController"
NODE = "node_id"

STATES = (
    "unattached",
    "unattached-voted",
    "prospective",
    "prospective-voted",
    "candidate",
    "leader",
    "follower",
    "observer",
)
"""Values of current-state."""

RAFT_GAUGES: Mapping[str, Callable[[RaftMetrics], float]] = MappingProxyType(
    {
        "current-leader": lambda raft: raft.current_leader,
        "current-vote": lambda raft: raft.current_vote,
        "current-epoch": lambda raft: raft.current_epoch,
        "high-watermark": lambda raft: raft.high_watermark,
        "log-end-offset": lambda raft: raft.log_end_offset,
        "log-end-epoch": lambda raft: raft.log_end_epoch,
        "number-of-voters": lambda raft: raft.number_of_voters,
        "uncommitted-voter-change": lambda raft: raft.uncommitted_voter_change,
    }
)
LEADER_GAUGES: Mapping[str, Callable[[RaftMetrics], float]] = MappingProxyType(
    {
        "number-of-observers": lambda raft: raft.number_of_observers,
        "number-of-offline-voters": lambda raft: raft.number_of_offline_voters,
    }
)
"""Gauges that only a leader can know, and only a leader reports."""
SENSOR_GAUGES: Mapping[str, Callable[[RaftSensors, int], float]] = MappingProxyType(
    {
        "commit-latency-avg": lambda sensors, now: sensors.commit_latency.average(now),
        "commit-latency-max": lambda sensors, now: sensors.commit_latency.maximum(now),
        "election-latency-avg": lambda sensors, now: sensors.election_latency.average(now),
        "election-latency-max": lambda sensors, now: sensors.election_latency.maximum(now),
        "append-records-rate": lambda sensors, now: sensors.append_records.rate(now),
        "fetch-records-rate": lambda sensors, now: sensors.fetch_records.rate(now),
        "poll-idle-ratio-avg": lambda sensors, now: sensors.idle_ratio(now),
    }
)
"""Values of the last minute; latencies are milliseconds."""


def controller_gauges(node: ControllerNode, raft: RaftMetrics) -> dict[str, float]:
    """Return values by Kafka's names, from the committed image.

    LastAppliedRecordOffset is ahead of it on the active controller, which applies records when it
    writes them.
    """
    metadata, image = node.metadata, node.metadata.image
    brokers = image.cluster.brokers.values()
    topics = image.topics.by_id.values()
    partitions = [partition for topic in topics for partition in topic.partitions.values()]
    ahead = metadata.controller.end_offset if metadata.is_active else metadata.offset
    return {
        "ActiveControllerCount": metadata.is_active,
        "FencedBrokerCount": sum(broker.fenced for broker in brokers),
        "ActiveBrokerCount": sum(not broker.fenced for broker in brokers),
        "GlobalTopicCount": len(image.topics.by_id),
        "GlobalPartitionCount": len(partitions),
        "OfflinePartitionsCount": sum(partition.leader == NO_LEADER for partition in partitions),
        "PreferredReplicaImbalanceCount": sum(
            partition.leader != partition.replicas[0] for partition in partitions
        ),
        "LastAppliedRecordOffset": ahead - 1,
        "LastCommittedRecordOffset": metadata.offset - 1,
        "IgnoredStaticVoters": raft.ignored_static_voters,
        "IsObserver": raft.is_observer,
    }


def prometheus_name(group: str, name: str) -> str:
    """`kafka_server_raft_metrics_high_watermark` for raft-metrics' high-watermark."""
    return re.sub(r"[^a-z0-9]", "_", f"{group.replace(':type=', '.')}_{name}".lower())


class NodesCollector:
    """A Prometheus collector over the running controllers; every sample has the label node_id."""

    def __init__(self, nodes: Callable[[], Iterable[ControllerNode]]) -> None:
        self._nodes = nodes

    def collect(self) -> Iterator[Metric]:
        """Yield one family for each name, with a sample for each node."""
        # Made anew for each scrape, since nodes of this process start and stop.
        families: dict[str, Metric] = {}
        for node in self._nodes():
            if node.running:
                for family in _families(node):
                    merged = families.setdefault(family.name, family)
                    if merged is not family:
                        merged.samples.extend(family.samples)
        yield from families.values()


def _families(node: ControllerNode) -> Iterator[Metric]:
    id, raft = str(node.node_id), node.raft.metrics
    yield _labelled(id, "current-state", "state", {s: s == raft.current_state for s in STATES})
    directory = uuid_text(raft.current_vote_directory_id)
    yield _labelled(id, "current-vote-directory-id", "directory_id", {directory: 1})
    leads = raft.current_state == "leader"
    gauges = {**RAFT_GAUGES, **LEADER_GAUGES} if leads else RAFT_GAUGES
    for name, value in gauges.items():
        yield _gauge(id, RAFT, name, value(raft))
    for name, read in SENSOR_GAUGES.items():
        yield _gauge(id, RAFT, name, read(node.runtime.sensors, node.runtime.now))
    for name, number in {**controller_gauges(node, raft), **node.companion.gauges()}.items():
        yield _gauge(id, CONTROLLER, name, number)
    yield from _of_node(id, node.companion.collect())
    if node.requests is not None:
        yield from _of_node(id, node.requests.collect())


def _of_node(id: str, families: Iterable[Metric]) -> Iterator[Metric]:
    """Yield families with the label of the node on every sample."""
    for family in families:
        for index, sample in enumerate(family.samples):
            labels = {NODE: id, **sample.labels}
            family.samples[index] = sample._replace(labels=labels)
        yield family


def _gauge(id: str, group: str, name: str, value: float) -> Metric:
    family = GaugeMetricFamily(prometheus_name(group, name), f"{group} {name}", labels=[NODE])
    family.add_metric([id], value)
    return family


def _labelled(id: str, name: str, label: str, values: Mapping[str, float]) -> Metric:
    """Return a gauge for a metric that is a text in Kafka: a sample for each text, as a label."""
    text = f"{RAFT} {name}"
    family = GaugeMetricFamily(prometheus_name(RAFT, name), text, labels=[NODE, label])
    for key, value in values.items():
        family.add_metric([id, key], value)
    return family
