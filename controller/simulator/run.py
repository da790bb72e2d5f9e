"""What every scenario begins with and asks for."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from controller.simulator.cluster import Cluster


class Run:
    """What a scenario is given. random: the one source of chance. cluster: that it made."""

    def __init__(self, seed: int, *, traced: bool = False) -> None:
        self.random = Random(seed)
        self.traced = traced
        self.cluster: Cluster | None = None

    def make(
        self,
        voters: tuple[int, int],
        observers: tuple[int, int],
        *,
        dynamic: bool | None = None,
        bootstrap: bool = False,
        auto_join: bool = False,
        controllers: bool = False,
    ) -> Cluster:
        """A cluster with so many of each, all started. dynamic: None leaves it to chance."""
        is_dynamic = self.random.random() < 0.5 if dynamic is None else dynamic
        self.cluster = Cluster(
            self.random,
            self.random.randint(*voters),
            self.random.randint(*observers),
            dynamic=is_dynamic,
            bootstrap=bootstrap,
            auto_join=auto_join,
            controllers=controllers,
            traced=self.traced,
        )
        self.cluster.start_all()
        return self.cluster

    def warm_up(self, cluster: Cluster) -> int:
        """Elect a leader and commit some records; the leader's id."""
        until = cluster.scheduler.run_until
        until(lambda: cluster.has_consistent_leader, "all know one leader")
        until(lambda: cluster.high_watermark() > 10, "10 offsets are committed")
        assert cluster.leader_id is not None
        return cluster.leader_id

    def progress(self, cluster: Cluster, ids: Iterable[int] | None = None, more: int = 10) -> None:
        """Everybody that runs, or `ids`, gets further than anybody is now."""
        target = cluster.high_watermark() + more
        chosen = None if ids is None else tuple(ids)
        cluster.scheduler.run_until(
            lambda: cluster.all_reached(target, chosen), f"all have committed up to {target}"
        )
