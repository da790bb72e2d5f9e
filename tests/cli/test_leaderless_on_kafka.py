"""Every command at a controller of Kafka's that was restarted alone, of three."""

import time
from pathlib import Path

import pytest

from real_kafka import Layout
from tests.support.cli.command import Command
from tests.support.cli.leaderless import arguments, check, lines
from tests.support.real_kafka.own_cluster import OwnCluster

TIMEOUT = 1.5

SLACK = 8.0
"""Seconds beyond, on a busy machine."""


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("3.9.1", marks=pytest.mark.releases)])
def test_every_command_tells_the_truth_in_time(
    own_cluster: OwnCluster, kwire: Command, subtests: pytest.Subtests, tmp_path: Path, version: str
) -> None:
    with own_cluster(Layout(controllers=(3000, 3001, 3002), version=version)) as cluster:
        for controller in cluster.controllers.values():
            controller.kill()
        cluster.controllers[3000].start()
        address = cluster.bootstrap_controllers
        for line in lines(tmp_path):
            with subtests.test(line):
                began = time.monotonic()
                run = kwire(*arguments(line, address, TIMEOUT))
                check(line, run, address)
                assert time.monotonic() - began < 2 * TIMEOUT + SLACK
        shell = kwire("shell", f"--bootstrap-controller={address}", f"--timeout={TIMEOUT}", "ls")
        assert (shell.code, "has read no metadata since it started" in shell.error) == (1, True)
