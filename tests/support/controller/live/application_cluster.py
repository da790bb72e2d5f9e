"""A cluster of either quorum whose controllers can be killed, and Java applications on it."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from clients.programs import application_command
from real_kafka import Cluster, Launcher, Layout, RunningNode
from tests.support.controller.live.admin_session import leader_of
from tests.support.controller.live.controller_processes import (
    ControllerProcess,
    ControllerProcesses,
)
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.eventually import eventually_blocking

CONTROLLERS = (3000, 3001, 3002)
BROKERS = (1, 2)
DEADLINE = 240.0
"""Seconds for anything that a program waits for; several test runs share a machine."""

PROPERTIES = {
    "auto.create.topics.enable": "false",
    "default.replication.factor": "2",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "2",
    "transaction.state.log.replication.factor": "2",
    "share.coordinator.state.topic.num.partitions": "3",
    "share.coordinator.state.topic.replication.factor": "2",
    "replica.lag.time.max.ms": "60000",
    "group.share.record.lock.duration.ms": "60000",
}
"""Internal topics on both brokers, and patience for a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationCluster:
    """Two brokers of Kafka and three controllers, each a process of its own.

    servers: `host:port,...` of the brokers. addresses: host and port of each controller, by id.
    """

    servers: str
    controllers: Mapping[int, ControllerProcess | RunningNode]
    addresses: dict[int, tuple[str, int]]

    def kill_leader(self) -> int:
        """Kill -9 the active controller; return its id. The others have not elected yet."""
        leader = self.leader()
        self.controllers[leader].kill()
        return leader

    def leader(self) -> int:
        """Wait until a controller leads; return its id."""
        return asyncio.run(leader_of(self.addresses, DEADLINE))


@contextmanager
def kwire_cluster(
    kafka: Launcher, folder: Path, version: str = "4.3.1"
) -> Iterator[ApplicationCluster]:
    """Controllers of kwire's, and brokers of that version, whose metadata.version they have."""
    release = version.rpartition(".")[0]
    with (
        ControllerProcesses(folder, CONTROLLERS, PROPERTIES, release=release) as kwire,
        closing(JavaNodes(kafka, kwire, version)) as nodes,
    ):
        brokers = [nodes.make(id, "broker", PROPERTIES) for id in BROKERS]
        for broker in brokers:
            broker.start()
        for broker in brokers:
            broker.wait_until_it_lists(len(brokers))
        yield ApplicationCluster(
            servers=",".join(str(broker.broker_address) for broker in brokers),
            controllers=kwire.members,
            addresses=kwire.addresses,
        )


@contextmanager
def java_cluster(kafka: Launcher, version: str = "4.3.1") -> Iterator[ApplicationCluster]:
    """Controllers of Kafka's, of the brokers' version."""
    layout = Layout(
        controllers=CONTROLLERS, brokers=BROKERS, version=version, properties=PROPERTIES
    )
    with Cluster(kafka, layout) as cluster:
        at = {id: node.controller_address for id, node in cluster.controllers.items()}
        yield ApplicationCluster(
            servers=cluster.bootstrap_servers,
            controllers=cluster.controllers,
            addresses={id: (address.host, address.port) for id, address in at.items()},
        )


class Application:
    """A program of fixtures/clients/applications; a context manager that kills it.

    log: a file for what it prints on stderr.
    """

    def __init__(self, log: Path, program: str, *arguments: str) -> None:
        self.lines: list[str] = []
        self._log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [*application_command(program), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                process_group=0,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def until(self, holds: Callable[[list[str]], bool]) -> None:
        """Wait until what it has printed is as wanted."""

        def is_reached() -> bool:
            assert self._process.poll() is None, self._report()
            return holds(self.lines)

        eventually_blocking(is_reached, timeout=DEADLINE, report=self._report)

    def close(self) -> None:
        """End its stdin, and wait until it has left its group; its exit code must be 0."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(DEADLINE) == 0, self._report()

    def _report(self) -> str:
        end = self._log.read_text().splitlines()[-60:]
        return "\n".join([*self.lines[-20:], *end])
