"""A command that waits says for what."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest

from kwire.cli.waiting_notice import nodes_notice, waiting_notice
from kwire.migration.operator.sides import MigrationSides
from kwire.net.awaited import Awaited
from kwire.zookeeper import ZooKeeper, ZooKeeperUnreachable
from tests.support.virtual_time import in_virtual_time


async def test_what_is_awaited_is_told_and_no_more_after_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answered, told = asyncio.Event(), asyncio.Event()

    async def open_zookeeper() -> ZooKeeper:
        await answered.wait()
        raise ZooKeeperUnreachable("zk1 refused")

    def awaited() -> str:
        told.set()
        return sides.awaited

    sides = MigrationSides("zk1:2181/kafka", open_zookeeper, None)
    facts = asyncio.ensure_future(sides.facts())
    await asyncio.sleep(0)
    async with waiting_notice(awaited, 10.0, silence=0.0):
        await told.wait()
        answered.set()
        assert (await facts).no_zookeeper == "zk1 refused"
    assert sides.awaited == ""
    assert capsys.readouterr().err == "Waiting for ZooKeeper zk1:2181/kafka, 10 s at most.\n"


async def test_an_answer_in_time_needs_no_notice(capsys: pytest.CaptureFixture[str]) -> None:
    async with waiting_notice(lambda: "somebody", 10.0, silence=0.0):
        pass
    for _ in range(3):
        await asyncio.sleep(0)
    assert capsys.readouterr().err == ""


@in_virtual_time
async def test_nodes_are_told_anew_when_they_are_others(capsys: pytest.CaptureFixture[str]) -> None:
    awaited = Awaited()
    async with nodes_notice(awaited, 60.0):
        with awaited.asking("c1:9093"), awaited.asking("c1:9093"), awaited.asking("c2:9093"):
            await asyncio.sleep(30)
        with awaited.asking("c3:9093"):
            await asyncio.sleep(2)  # not long enough
        for _ in range(30):
            with awaited.asking("c4:9093"):
                await asyncio.sleep(1)
        with ExitStack() as stack:
            for number in range(2_000):
                stack.enter_context(awaited.asking(f"n{number}"))
            await asyncio.sleep(5)
    assert capsys.readouterr().err.splitlines() == [
        "Waiting for c1:9093 and c2:9093, 60 s at most.",
        "Waiting for n0, n1, n2, n3, n4 and 1995 more, 60 s at most.",
    ]
