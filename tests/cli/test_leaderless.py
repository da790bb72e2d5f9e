"""Every command at a controller of kwire's that was restarted alone, in virtual time."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kwire.admin import AdminClient
from kwire.testing.quorum import Quorum
from tests.support.cli.command import Command
from tests.support.cli.leaderless import arguments, check, lines, uncovered
from tests.support.cli.slow_network import SlowNetwork

TIMEOUT = 5.0

SLACK = 1.0
"""Seconds beyond: nodes that are asked one by one have time of their own."""


@pytest.fixture
def network() -> Iterator[SlowNetwork]:
    with ExitStack() as stack:
        yield SlowNetwork(stack)


@pytest.fixture
def quorum(network: SlowNetwork) -> Iterator[Quorum]:
    """Three controllers, of which the first was restarted alone."""
    run = network.runner.run
    quorum = Quorum(3)
    run(quorum.start())
    for node_id in (3000, 3001, 3002):
        run(quorum.kill(node_id))
    run(quorum.start_node(3000))
    run(asyncio.sleep(5))  # if it led before, it names itself until an election fails
    yield quorum
    run(quorum.stop())


@pytest.fixture
def restarted_alone(quorum: Quorum) -> str:
    return quorum.bootstrap_controllers


def test_every_command_that_may_ask_controllers_has_a_line(tmp_path: Path) -> None:
    assert uncovered(tmp_path) == set()


@pytest.mark.costly  # fifty commands
def test_every_command_tells_the_truth_in_time(
    kwire: Command,
    subtests: pytest.Subtests,
    network: SlowNetwork,
    restarted_alone: str,
    tmp_path: Path,
) -> None:
    for line in lines(tmp_path):
        with subtests.test(line):
            began = network.time
            run = kwire(*arguments(line, restarted_alone, TIMEOUT))
            check(line, run, restarted_alone)
            sources = line.count("{at}") or 1
            assert network.time - began < sources * TIMEOUT + SLACK


def test_that_a_leader_is_waited_for_is_said(kwire: Command, restarted_alone: str) -> None:
    run = kwire(*arguments("quorum status", restarted_alone, TIMEOUT))
    assert run.err.splitlines()[0] == "Waiting for a controller that leads, 5 s at most."
    assert run.code == 1


def test_an_unknown_level_is_not_shown_as_zero(kwire: Command, restarted_alone: str) -> None:
    run = kwire(*arguments("features describe", restarted_alone, TIMEOUT))
    assert (run.code, run.out) == (1, "")


def test_doctor_advises_no_upgrade_of_a_controller_without_a_leader(
    kwire: Command, restarted_alone: str
) -> None:
    run = kwire(*arguments("doctor", restarted_alone, TIMEOUT))
    text = " ".join(run.out.split())
    assert "nodes/refused" not in text
    # It may go on naming the last one (KIP-996).
    assert re.search(r"controller 3000 (knows no leader|names 300[12]) in epoch", text)
    assert "it has read no metadata since it started" in text


def test_a_script_that_is_earlier_than_the_other_controllers_gets_the_answer(
    network: SlowNetwork, quorum: Quorum
) -> None:
    async def ask_early() -> tuple[str | None, int]:
        async with AdminClient(bootstrap_controllers=quorum.bootstrap_controllers) as admin:
            asked = asyncio.create_task(admin.describe_metadata_quorum())
            await asyncio.sleep(15)
            assert not asked.done()
            await quorum.start_node(3001)
            leader_id = (await asked).leader_id
            return await admin.cluster_id(), leader_id

    cluster_id, leader_id = network.runner.run(ask_early())
    assert cluster_id == quorum.cluster_id
    assert leader_id in (3000, 3001)
