"""The seam of a running node: an extension may do something beside it, as a migration does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prometheus_client.core import Metric

from kwire.controller.rules import Rules
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.environment import Environment
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.controller.server.raft_runtime import RaftRuntime


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeParts:
    """The parts of a node that is about to start."""

    config: NodeConfig
    log: DirectoryLog
    runtime: RaftRuntime
    metadata: MetadataRuntime
    environment: Environment


class Companion:
    """Runs beside a node, from its start to its end: here, nothing does."""

    def start(self) -> None:
        """Begin, once the node listens."""

    def suspend(self) -> None:
        """Stand still until `resume`, as the node does."""

    def resume(self) -> None:
        """Go on after `suspend`."""

    async def stop(self) -> None:
        """Give up what is under way; return when no task is left."""

    def gauges(self) -> Mapping[str, float]:
        """Return values for the metrics of the controller, by Kafka's names."""
        return {}

    def collect(self) -> Iterable[Metric]:
        """Return families of metrics beside the gauges."""
        return ()


class Extension:
    """The rules of a node, and its companion, besides KRaft; this one has neither."""

    rules = Rules()

    def companion(self, parts: NodeParts) -> Companion:
        """Return what runs beside a node, not started."""
        return Companion()
