"""Commands at clusters on which everything takes 3 or 8 seconds each way, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import pytest

import kwire as package
from command_tree import asking, flags
from kwire.admin.registry import OPERATIONS
from kwire.codec.declaration import Request, Response
from kwire.testing.quorum import Quorum
from scripted_node import Script
from tests.support.admin.scripted_brokers import scripted_brokers
from tests.support.cli.command import Command
from tests.support.cli.command_lines import BROKER_LINES, CONTROLLER_LINES, command_of
from tests.support.cli.slow_network import SlowNetwork

ELSEWHERE = {
    "apply",
    "exporter",
    "migration plan",
    "migration status",
    "migration verify",
    "migration watch",
    "partitions reassign apply",
    "partitions reassign verify",
    "scram set",
    "shell",
}
"""Commands that need a file, ZooKeeper or a terminal, or that serve until they are stopped."""


def broker_lines() -> Iterator[str]:
    """Yield each line for brokers, and as a dry run where its command has one."""
    for line in BROKER_LINES.strip().splitlines():
        yield line
        if "--dry-run" in flags(command_of(line)):
            yield line.removesuffix(" --yes") + " --dry-run"


@contextmanager
def slow_controller(seconds: float) -> Iterator[str]:
    """Run a controller of kwire's; yield its address."""
    with ExitStack() as stack:
        slow = SlowNetwork(stack)
        quorum = Quorum(1)
        slow.runner.run(quorum.start())
        slow.runner.run(asyncio.sleep(5))  # it registers itself
        slow.slow_down(seconds)
        yield quorum.bootstrap_controllers
        slow.network.heal()
        slow.runner.run(quorum.stop())


def empty_answers() -> dict[type[Request], Script]:
    """Return scripts that answer each API of an operation, and say nothing."""

    def script(response: type[Response]) -> Script:
        return lambda request: response()

    apis = {api for row in OPERATIONS for api in row.apis} - {"ApiVersions"}
    named: Any = package.message
    return {named(f"{api}Request"): script(named(f"{api}Response")) for api in sorted(apis)}


@contextmanager
def slow_brokers(seconds: float) -> Iterator[str]:
    """Run scripted brokers, which lead partition t-0 and coordinate; yield an address."""
    with ExitStack() as stack:
        slow = SlowNetwork(stack)
        running = scripted_brokers(3)
        brokers = slow.runner.run(cast(Any, running.__aenter__()))
        brokers.leaders = {("t", 0): 1}
        brokers.coordinators = {"g": 1, "t": 1}
        for node in brokers.nodes:
            node.scripts = {**empty_answers(), **node.scripts}
        slow.slow_down(seconds)
        yield brokers.addresses[0]
        slow.network.heal()
        slow.runner.run(cast(Any, running.__aexit__(None, None, None)))


def test_every_command_that_asks_a_cluster_has_a_line() -> None:
    lines = [*BROKER_LINES.strip().splitlines(), *CONTROLLER_LINES.strip().splitlines()]
    assert {command_of(line) for line in lines} == set(asking()) - ELSEWHERE


@pytest.mark.costly  # a controller of kwire's lives for an hour of the network's time
@pytest.mark.parametrize("seconds", [3, 8])
def test_commands_at_a_slow_controller_succeed(
    kwire: Command, subtests: pytest.Subtests, seconds: float
) -> None:
    with slow_controller(seconds) as address:
        for line in CONTROLLER_LINES.strip().splitlines():
            with subtests.test(line):
                at = [] if "{at}" in line else ["--bootstrap-controller", address]
                run = kwire(*line.format(at=address).split(), *at)
                assert run.code == 0
                assert "unknown" not in run.out
                # Nothing but whom it waits for.
                assert run.err.startswith("Waiting for ")
                assert not [text for text in run.err.splitlines() if "s at most." not in text]
        run = kwire("quorum", "status", "--json", "--bootstrap-controller", address)
        assert run.json["leaderId"] == 3000
        assert run.err == f"Waiting for {address}, 60 s at most.\n"


@pytest.mark.parametrize(("seconds", "options"), [(3, []), (8, ["--timeout", "150"])])
def test_no_command_gives_up_slow_brokers(
    kwire: Command, subtests: pytest.Subtests, seconds: float, options: list[str]
) -> None:
    """Some commands say that the brokers' answers are empty, and none that there was no answer.

    With up to five round trips, and as many connections, a command takes 96 s at 8 s each way.
    """
    with slow_brokers(seconds) as address:
        for line in broker_lines():
            with subtests.test(line):
                run = kwire(*line.split(), *options, "--bootstrap-server", address)
                assert run.code in (0, 1)
                assert "slow" not in run.err
                assert "within" not in run.err
                assert "time limit" not in run.err  # that the command has set itself
