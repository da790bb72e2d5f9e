"""An operator who does what `kwire doctor --fix-plan` prints, to the letter, on real Kafka."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kwire.doctor.examine import examine
from kwire.doctor.finding import Finding, FindingVerdict
from kwire.doctor.gather import gather
from kwire.net.address import Address
from kwire.testing.local_kafka.node import KafkaVoter, KnownQuorum
from real_kafka import Cluster
from tests.support.cli.command import KWIRE
from tests.support.eventually import eventually_blocking

BAD = (FindingVerdict.WARNING, FindingVerdict.PROBLEM)


class Operator:
    """Follows advice: runs commands in a terminal of their own, does all other steps in Python.

    folder: in which commands run, and leave their files.
    """

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.addresses = cluster.bootstrap_controllers
        self.done: list[str] = []
        self._actions: dict[str, Callable[..., None]] = {
            r"start (?:controllers?|brokers?) ([\d, and]+?)(?:, until .*)?": self._start,
            r"format controller (\d+) with --no-initial-controllers and start it": self._new_disk,
            r"start (\d) controllers? formatted with --no-initial-controllers, .*": (
                self._new_controllers
            ),
            r"stop controller (\d+)": lambda id: self.cluster.nodes[int(id)].stop(),
            r"start 1 further broker": self._new_broker,
            r"leave the address ([\d.:]+) out where it is used": self._leave_out,
            r"in the properties of controller (\d+) set (\S+?)=(\S*)(?: if .*)?(?:,| and) .*": (
                self._configure
            ),
            r"mend .*|wait|wait if .*": lambda *_: None,
        }

    def findings(self) -> dict[str, Finding]:
        """Return what doctor finds, by id."""
        addresses = [Address.parse(text) for text in self.addresses.split(",")]
        return {finding.id: finding for finding in examine(asyncio.run(gather(addresses)))}

    def wait_for(self, *ids: str) -> dict[str, Finding]:
        """Ask until exactly these are found, and no other bad ones."""
        return eventually_blocking(
            self.findings, lambda found: bad(found) == set(ids), pause=0.3, timeout=90
        )

    def wait_with(self, *ids: str) -> dict[str, Finding]:
        """Ask until these are found among others."""
        return eventually_blocking(
            self.findings, lambda found: set(ids) <= set(found), pause=0.3, timeout=90
        )

    def follow(self, id: str, when: str | None = None) -> None:
        """Do each step that is printed for a finding in a case; then it must be gone."""
        self.begin(id, when)
        eventually_blocking(self.findings, lambda found: id not in found, pause=0.3)

    def begin(self, id: str, when: str | None = None) -> None:
        """Do each step that is printed for a finding in a case."""
        command = f"kwire doctor --fix-plan -o json --only {id}"
        printed = self._run(f"{command} --bootstrap-controller {self.addresses}", codes=(0, 1))
        rows = json.loads(printed)["steps"]
        steps = [row for row in rows if row["finding"] == id and _is_case(row["when"], when)]
        assert steps, rows
        for row in steps:
            self.done.append(row["step"])
            if row["isCommand"]:
                self._command(row["step"])
            else:
                self._act(row["step"])

    def attempt(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command at a terminal, at which every question is answered with yes."""
        words = shlex.split(command)
        assert words[0] == "kwire"
        ours, theirs = pty.openpty()
        try:
            os.write(ours, b"y\n" * 3)
            return subprocess.run(
                [KWIRE, *words[1:]],
                cwd=self.folder,
                stdin=theirs,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        finally:
            os.close(ours)
            os.close(theirs)

    def _command(self, command: str) -> None:
        if command.startswith("kwire quorum check "):
            # A probe: it fails until the node that was started is there.
            eventually_blocking(lambda: self.attempt(command).returncode == 0, pause=0.5)
        else:
            self._run(command)

    def _run(self, command: str, codes: tuple[int, ...] = (0,)) -> str:
        run = self.attempt(command)
        assert run.returncode in codes, (command, run.stdout, run.stderr)
        return run.stdout

    def _act(self, step: str) -> None:
        for pattern, action in self._actions.items():
            if match := re.fullmatch(pattern, step):
                action(*match.groups())
                return
        raise AssertionError(f"no action for the step: {step}")

    def _start(self, ids: str) -> None:
        for node_id in map(int, re.findall(r"\d+", ids)):
            if not self.cluster.nodes[node_id].alive:
                self.cluster.nodes[node_id].start()

    def lose_disk(self, node_id: int) -> None:
        """Kill a controller and remove its disk."""
        node = self.cluster.nodes[node_id]
        node.kill()
        shutil.rmtree(Path(node.folder, "data"))
        voters = [
            KafkaVoter(node_id=id, directory_id=other.directory_id, address=other.quorum_address)
            for id, other in self.cluster.controllers.items()
            if other.alive
        ]
        # Not among the initial voters it is formatted with --no-initial-controllers.
        node.join(KnownQuorum(cluster_id=self.cluster.cluster_id, voters=tuple(voters)))

    def _new_disk(self, node_id: str) -> None:
        self.cluster.nodes[int(node_id)].start()

    def _new_controllers(self, number: str) -> None:
        for _ in range(int(number)):
            self.cluster.join_controller(max(self.cluster.controllers) + 1)

    def _new_broker(self) -> None:
        new = max(self.cluster.brokers) + 1
        layout = self.cluster.layout
        self.cluster.layout = replace(layout, brokers=(*layout.brokers, new))
        self.cluster.join_controller(new)
        eventually_blocking(lambda: f"{new}" in self._run(_brokers(self.cluster)))

    def _leave_out(self, address: str) -> None:
        rest = [at for at in self.addresses.split(",") if at != address]
        self.addresses = ",".join(rest)

    def _configure(self, node_id: str, key: str, value: str) -> None:
        node = self.cluster.nodes[int(node_id)]
        node.stop()
        node.configure({key: value})
        node.start()


def bad(found: dict[str, Finding]) -> set[str]:
    """Return the ids of warnings and problems."""
    return {id for id, finding in found.items() if finding.verdict in BAD}


def _is_case(printed: str | None, when: str | None) -> bool:
    return printed == when if when is None else (printed or "").startswith(when)


def _brokers(cluster: Cluster) -> str:
    return f"kwire brokers list -o name --bootstrap-server {cluster.brokers[1].broker_address}"
