"""The metrics of a migration from ZooKeeper (KIP-866; Java: QuorumControllerMetrics of 3.9)."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import Histogram
from prometheus_client.core import Metric

PREFIX = "kafka_controller_kafkacontroller"

_BUCKETS_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000)


class MigrationSensors:
    """The writes of one node's driver to ZooKeeper.

    dual_write_offset: of the last record that is in ZooKeeper, too; 0 before there is one. The
    times are in no registry of Prometheus, since one process may run several nodes.
    """

    def __init__(self) -> None:
        self.dual_write_offset = 0
        self._snapshots = Histogram(
            f"{PREFIX}_zkwritesnapshottimems",
            "ZkWriteSnapshotTimeMs: to compare the whole of ZooKeeper with an image, and write.",
            registry=None,
            buckets=_BUCKETS_MS,
        )
        self._deltas = Histogram(
            f"{PREFIX}_zkwritedeltatimems",
            "ZkWriteDeltaTimeMs: to write the changes of one committed batch.",
            registry=None,
            buckets=_BUCKETS_MS,
        )

    def wrote_snapshot(self, milliseconds: float) -> None:
        """Take the time of a synchronisation with the whole image."""
        self._snapshots.observe(milliseconds)

    def wrote_delta(self, milliseconds: float) -> None:
        """Take the time of the writes for one batch."""
        self._deltas.observe(milliseconds)

    def lag(self, last_committed: int, *, is_active: bool) -> int:
        """Return ZkWriteBehindLag: committed records that are not in ZooKeeper yet.

        0 while nothing is written to both, or another node leads.
        """
        if not self.dual_write_offset or not is_active:
            return 0
        return last_committed - self.dual_write_offset

    def collect(self) -> Iterator[Metric]:
        """Yield the families of the times."""
        yield from self._snapshots.collect()
        yield from self._deltas.collect()
