"""Controllers of kwire's as processes of their own, which `kill -9` ends as it ends Kafka's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from signal import SIGCONT, SIGSTOP
from typing import Self
from uuid import UUID

from kwire.batches import read_batches
from kwire.controller.server.config.node_config import NodeConfig
from kwire.logdir.format import FormatOptions, plan, random_uuid, write
from kwire.logdir.voters import InitialVoter
from kwire.net.address import Address
from kwire.testing.local_kafka.address import answers
from kwire.testing.local_kafka.guard import Guard
from kwire.text.ids import uuid_text
from real_kafka import free_port
from tests.support.controller.live.java_nodes import segment
from tests.support.eventually import eventually_blocking

PROGRAM = "from kwire.cli.main import main; main()"
DEADLINE = 120.0
"""Seconds a controller may take to answer, or to end after SIGTERM."""

TORN = "bytes of a torn write cut off"
"""What a controller says when it opens a log whose last write did not get to the disk whole."""


class ControllerProcess:
    """`kwire controller run` on a folder with server.properties, data/ and node.log."""

    def __init__(self, guard: Guard, folder: Path, node_id: int) -> None:
        self.node_id = node_id
        self.directory_id: UUID = random_uuid()
        self.port = free_port()
        self.data = folder / "data"
        self._folder, self._guard = folder, guard
        self._process: subprocess.Popen[bytes] | None = None

    def configure(self, properties: Mapping[str, str], options: FormatOptions) -> None:
        """Write its server.properties, and format its directory."""
        listener = f"CONTROLLER://127.0.0.1:{self.port}"
        pairs = {
            "process.roles": "controller",
            "node.id": str(self.node_id),
            "log.dirs": str(self.data),
            "listeners": listener,
            "controller.listener.names": "CONTROLLER",
            **properties,
        }
        self._folder.mkdir()
        text = "".join(f"{name}={value}\n" for name, value in pairs.items())
        (self._folder / "server.properties").write_text(text)
        write(plan(NodeConfig.of(pairs).storage, options), datetime.now(UTC))

    def start(self) -> None:
        """Run it; returns when it answers."""
        command = [sys.executable, "-c", PROGRAM, "controller", "run", "server.properties"]
        with (self._folder / "node.log").open("ab") as output:
            process = self._process = self._guard.start(command, folder=self._folder, output=output)

        def listens() -> bool:
            assert process.poll() is None, self.log
            return answers(Address("127.0.0.1", self.port))

        eventually_blocking(listens, timeout=DEADLINE, pause=0.02, report=lambda: self.log)

    def kill(self) -> None:
        """kill -9."""
        if self._process:
            self._process.kill()
            self._ended()

    def stop(self) -> None:
        """SIGTERM; it must end by itself, with exit code 0."""
        assert self._process is not None
        self._process.terminate()
        assert self._ended() == 0, self.log

    def suspend(self) -> None:
        """SIGSTOP."""
        if self._process:
            self._process.send_signal(SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        if self._process:
            self._process.send_signal(SIGCONT)

    def _ended(self) -> int:
        assert self._process is not None
        code = self._process.wait(DEADLINE)
        self._guard.drop("group", str(self._process.pid))
        self._process = None
        return code

    def tear(self, random: Random) -> None:
        """Cut bytes off the end of its log while it is down, as a power cut does to a write.

        Harmless only where every other voter has what it had acknowledged. The first batch of an
        epoch stays, since it was flushed before the epoch was noted.
        """
        file = segment(self.data)
        batches = list(read_batches(file.read_bytes()))
        last = batches[-1].partition_leader_epoch
        of_last = [batch.size for batch in batches if batch.partition_leader_epoch == last]
        with file.open("r+b") as log:
            size = sum(batch.size for batch in batches)
            log.truncate(size - random.randrange(min(sum(of_last[1:]), 199) + 1))

    @property
    def log(self) -> str:
        """Everything it has said."""
        return (self._folder / "node.log").read_text()


class ControllerProcesses:
    """Some that vote, in folders below `folder`; none outlives the `with`, nor the test.

    release: metadata.version of the cluster, as `4.4`.
    """

    def __init__(
        self,
        folder: Path,
        ids: Iterable[int],
        properties: Mapping[str, str],
        *,
        release: str | None = None,
    ) -> None:
        self.cluster_id = uuid_text(random_uuid())
        self._guard = Guard()
        self.members = {id: ControllerProcess(self._guard, folder / f"node-{id}", id) for id in ids}
        voters = tuple(
            InitialVoter(node_id=id, host="127.0.0.1", port=one.port, directory_id=one.directory_id)
            for id, one in self.members.items()
        )
        servers = ",".join(f"127.0.0.1:{member.port}" for member in self.members.values())
        options = FormatOptions(
            cluster_id=self.cluster_id, initial_controllers=voters, release_version=release
        )
        for member in self.members.values():
            member.configure(
                {"controller.quorum.bootstrap.servers": servers, **properties}, options
            )

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        """The address of each controller."""
        return {id: ("127.0.0.1", one.port) for id, one in self.members.items()}

    def __enter__(self) -> Self:
        try:
            for member in self.members.values():
                member.start()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self._close()

    def _close(self) -> None:
        for member in self.members.values():
            member.kill()
        self._guard.close()
