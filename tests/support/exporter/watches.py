"""Watches of the exporter with given values: a quorum, and the metadata that Kafka wrote."""

from types import SimpleNamespace
from typing import cast
from uuid import UUID

from kwire.admin.quorum import QuorumInfo, ReplicaState
from kwire.exporter.cluster_watch import ClusterCounts, ClusterWatch
from kwire.exporter.collector import ExporterCollector
from kwire.exporter.partition_counts import PartitionCounter
from kwire.exporter.quorum_watch import QuorumWatch
from kwire.observer.stored_metadata import StoredMetadata, read_metadata_folder
from tests.support.paths import FIXTURES

STORED = read_metadata_folder(FIXTURES / "logdirs" / "kafka-4.3.1-brokers")


def replica(id: int, end: int, fetched: int | None, caught_up: int | None) -> ReplicaState:
    """Return a replica; times are milliseconds."""
    return ReplicaState(
        replica_id=id,
        replica_directory_id=UUID(int=id),
        log_end_offset=end,
        last_fetch_timestamp=fetched,
        last_caught_up_timestamp=caught_up,
    )


LED = QuorumInfo(
    leader_id=3000,
    leader_epoch=7,
    high_watermark=90,
    voters=(
        replica(3000, 100, 50_000, 50_000),
        replica(3001, 90, 49_750, 48_500),
        replica(3002, -1, None, None),
    ),
    observers=(replica(1, 95, 49_000, 49_000),),
)


def quorum_watch(quorum: QuorumInfo | None) -> QuorumWatch:
    """Return a watch that has polled four times and knows this quorum."""
    values = {"answered": 3, "failed": 1, "seconds": 0.25, "answered_at": 1e9, "elections": 2}
    return cast(QuorumWatch, SimpleNamespace(quorum=quorum, cluster_id="c", **values))


def cluster_watch(stored: StoredMetadata | None = STORED) -> ClusterWatch:
    """Return a watch that has counted this metadata, with series for each topic."""
    counts = None
    if stored is not None:
        counter = PartitionCounter()
        for _ in counter.count(stored.image):
            pass
        counts = ClusterCounts(
            image=stored.image,
            totals=counter.totals,
            offline_directories=counter.offline_directories,
            topics={
                name: counter.topics[id].counts
                for name, id in sorted(stored.image.topics.ids.items())
            },
        )
    values = {"offset": 7, "kraft_version": 1, "seconds_since_change": 1.5}
    return cast(ClusterWatch, SimpleNamespace(counts=counts, **values))


def collector(quorum: QuorumInfo | None = LED) -> ExporterCollector:
    """Return a collector of everything there is."""
    return ExporterCollector(quorum_watch(quorum), cluster_watch())
