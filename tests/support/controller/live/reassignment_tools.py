"""Tools that move partitions, Kafka's and kwire's, and waits for what the controller has then."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from uuid import UUID

from kwire.admin.reassignment.journal import VARIABLE
from kwire.image import MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.image.partition import PartitionRegistration
from kwire.messages.config_resource import ResourceType
from kwire.testing.quorum import Quorum
from kwire.text.ids import parse_uuid
from real_kafka import RunningNode
from tests.support.cli.command import KWIRE

REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
TOOL_TIMEOUT = 120.0
"""Seconds that one command may take on a busy machine."""

FIRST, SECOND = "data", "more"
"""The log directories of each broker, below its folder."""


class ReassignmentTools:
    """Runs the tools, and waits for what the leader's image has then.

    brokers: by id, with two log directories each. folder: for plans and the throttle's journal.
    """

    def __init__(self, quorum: Quorum, brokers: Mapping[int, RunningNode], folder: Path) -> None:
        self._quorum = quorum
        self._brokers = brokers
        self._folder = folder
        self.bootstrap = ",".join(str(node.broker_address) for node in brokers.values())
        self.by_brokers = ("--bootstrap-server", self.bootstrap)
        self.by_controllers = ("--bootstrap-controller", quorum.bootstrap_controllers)

    def plan(
        self,
        topic: str,
        moves: Sequence[Sequence[int]],
        log_dirs: Sequence[Sequence[str]] | None = None,
    ) -> str:
        """Write the replicas of partitions 0, 1, ... as both tools read them; return the path."""
        partitions: list[dict[str, object]] = [
            {"topic": topic, "partition": number, "replicas": list(replicas)}
            for number, replicas in enumerate(moves)
        ]
        for partition, directories in zip(partitions, log_dirs or (), strict=False):
            partition["log_dirs"] = list(directories)
        path = self._folder / "plan.json"
        path.write_text(json.dumps({"version": 1, "partitions": partitions}))
        return str(path)

    async def kafka(self, *arguments: str, tool: str = REASSIGN) -> str:
        """Run a tool of Kafka's, that of reassignments by default; return its output."""
        broker = next(iter(self._brokers.values()))
        finished = await asyncio.to_thread(broker.tool, tool, *arguments, timeout=TOOL_TIMEOUT)
        return _output(finished)

    async def kwire(self, *arguments: str) -> str:
        """Run a command of kwire's; return its output."""

        def run() -> CompletedProcess[str]:
            return subprocess.run(
                [KWIRE, *arguments],
                cwd=self._folder,
                env={**os.environ, VARIABLE: str(self._folder / "state")},
                capture_output=True,
                text=True,
                timeout=TOOL_TIMEOUT,
                check=False,
            )

        return _output(await asyncio.to_thread(run))

    def directory(self, broker_id: int, name: str) -> tuple[str, UUID]:
        """Return path and id of a log directory."""
        path = Path(self._brokers[broker_id].folder) / name
        lines = (path / "meta.properties").read_text().splitlines()
        values = dict(line.split("=", 1) for line in lines if "=" in line)
        return str(path), parse_uuid(values["directory.id"])

    async def image(self) -> MetadataImage:
        """Return the leader's image."""
        return (await self._quorum.active_controller()).metadata.image

    async def partitions(self, topic: str) -> list[PartitionRegistration]:
        """Return the partitions of a topic, in order of their numbers."""
        return partitions_of(await self.image(), topic)

    async def broker(self, broker_id: int) -> BrokerRegistration:
        """Return the registration of a broker."""
        return (await self.image()).cluster.brokers[broker_id]

    async def throttles(self, topic: str) -> set[str]:
        """Return the names of the settings that throttle moves, of a topic and of all brokers."""
        configs = (await self.image()).configs
        keys = [*configs.of(ResourceType.TOPIC, topic)]
        for broker_id in self._brokers:
            keys += configs.of(ResourceType.BROKER, str(broker_id))
        return {key for key in keys if "throttled" in key or "alter.log.dirs" in key}

    async def until(self, condition: Callable[[MetadataImage], bool], timeout: float = 90) -> None:
        """Wait until the leader's image is as wanted."""
        leader = await self._quorum.active_controller()
        async with asyncio.timeout(timeout):
            await leader.metadata.until(lambda: condition(leader.metadata.image))

    async def until_moved(self, topic: str, *replicas: tuple[int, ...]) -> None:
        """Wait until nothing moves and the partitions have these replicas, all in sync."""

        def moved(image: MetadataImage) -> bool:
            return all(
                not partition.is_reassigning
                and partition.replicas == target
                and set(partition.isr) == set(target)
                for partition, target in zip(partitions_of(image, topic), replicas, strict=True)
            )

        await self.until(moved)


def partitions_of(image: MetadataImage, name: str) -> list[PartitionRegistration]:
    """Return the partitions of a topic in an image, in order of their numbers."""
    topic = image.topics.topic(name)
    assert topic is not None
    return [topic.partitions[number] for number in topic.numbers()]


def _output(finished: CompletedProcess[str]) -> str:
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout
