"""A command that waits says for what."""

from __future__ import annotations

import asyncio

import pytest

from kwire.cli.waiting_notice import waiting_notice
from kwire.migration.sides import MigrationSides
from kwire.zookeeper import ZooKeeper, ZooKeeperUnreachable


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
