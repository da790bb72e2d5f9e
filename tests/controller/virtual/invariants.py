"""What must hold of the nodes at any time, sampled while they run, and at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from kwire.controller.server.node import ControllerNode
from kwire.controller.server.quorum import Quorum
from tests.controller.virtual.timeline import Timeline

INTERVAL = 0.01
WHOLE_LOG = 1 << 30


class Sampler:
    """Looks at every node again and again; `violations` are what it found."""

    def __init__(self, quorum: Quorum, timeline: Timeline) -> None:
        self.violations: list[str] = []
        self.leaders: dict[int, int] = {}
        self._quorum, self._timeline = quorum, timeline
        self._epochs: dict[int, int] = {}
        self._offsets: dict[int, int] = {}

    async def run(self) -> None:
        """Sample until cancelled."""
        while True:
            for node_id, node in self._quorum.nodes.items():
                self._sample(node_id, node)
            await asyncio.sleep(INTERVAL)

    def _sample(self, node_id: int, node: ControllerNode) -> None:
        epoch, offset = node.raft.epoch, node.metadata.offset
        if epoch < self._epochs.get(node_id, -1):
            self._found(f"EPOCH: node {node_id} went from {self._epochs[node_id]} back to {epoch}")
        if offset < self._offsets.get(node_id, -1):
            before = self._offsets[node_id]
            self._found(f"OFFSET: node {node_id} had committed {before}, and now {offset}")
        self._epochs[node_id], self._offsets[node_id] = epoch, offset
        if node.raft.role == "leader":
            other = self.leaders.setdefault(epoch, node_id)
            if other != node_id:
                self._found(f"LEADERS: nodes {other} and {node_id} both lead epoch {epoch}")

    def _found(self, violation: str) -> None:
        self._timeline.say(violation)
        self.violations.append(violation)


def topics(node: ControllerNode) -> set[str]:
    """Return the names of the topics that a node has committed."""
    return {topic.name for topic in node.metadata.image.topics.by_id.values()}


def differing(nodes: Mapping[int, ControllerNode], end: int) -> Iterator[str]:
    """Yield the nodes whose logs differ from the first one's below an offset."""
    logs = {node_id: node.log.read(0, WHOLE_LOG, end) for node_id, node in nodes.items()}
    first = next(iter(logs))
    for node_id, log in logs.items():
        if log != logs[first]:
            yield f"LOGS: those of nodes {first} and {node_id} differ below offset {end}"
