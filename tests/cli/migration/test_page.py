"""migration.md: its screens and findings are today's, its commands work as written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kwire.zookeeper import ZooKeeper
from kwire.zookeeper.kazoo_client import KazooZooKeeper
from kwire.zookeeper.settings import ZooKeeperSettings
from tests.support.cli.command import Command
from tests.support.migration.golden import golden_zookeeper
from tests.support.migration.golden_controller import golden_controller
from tests.support.migration.page import PAGE, PART, page, parts

TEXT = PAGE.read_text()
LINES = sorted(set(re.findall(r"^ *(kwire migration \S+ -.*)$", TEXT, re.MULTILINE)))
END = 119
"""The end of the log at the moment of the dump `dual-write`."""


def test_the_made_parts_are_todays() -> None:
    assert set(PART.findall(TEXT)) == set(parts())
    assert page(TEXT) == TEXT, "run `python -m tests.support.migration.page`"


def test_the_page_has_a_line_of_each_command() -> None:
    assert {line.split()[2] for line in LINES} == {"status", "watch", "verify", "plan"}
    inline = re.findall(r"`(kwire migration \S+ -[^`]*)`", TEXT)
    assert not inline, "a command line stands in a line of its own, where the next test finds it"


@pytest.mark.parametrize("line", LINES)
def test_each_command_works_as_it_is_written(
    kwire: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str
) -> None:
    """With controllers the migration is in dual write, without them it has not begun."""
    has_controllers = "--bootstrap-controller" in line
    server = golden_zookeeper("dual-write" if has_controllers else "before")
    opened: list[ZooKeeperSettings] = []

    async def connect(settings: ZooKeeperSettings) -> ZooKeeper:
        opened.append(settings)
        return server.open_session()

    async def nobody_reads(_: float) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(KazooZooKeeper, "connect", connect)
    monkeypatch.setattr("kwire.cli.migration.watch.sleep_while_read", nobody_reads)
    monkeypatch.setattr("kwire.migration.operator.verify.PAUSE", 0.0)
    monkeypatch.chdir(tmp_path)
    with golden_controller(END) as controller:
        words = shlex.split(line.replace("c1:9093", controller.node.address))
        run = kwire(*words[1:])
    assert run.code == 0
    # The brokers of the dump do not run, of which a plan warns.
    assert all(text.startswith("Warning: broker") for text in run.err.splitlines())
    assert opened[0].chroot == "/kafka"
    assert run.out
