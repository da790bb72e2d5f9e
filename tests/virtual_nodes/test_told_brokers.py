"""Brokers in ZooKeeper mode in virtual time: none sets a replica aside that it has to keep."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.errors import KwireError
from kwire.messages.control_requests import ControlRequestType
from kwire.migration.driver.propagation import BrokerRequest, migration_propagator
from kwire.migration.driver.propagation.control_requests import (
    ControlRequestBatch,
    ControlRequestSender,
)
from kwire.migration.node.broker_channel import BrokerChannel
from kwire.migration.node.broker_channels import BrokerChannels
from kwire.migration.node.propagation_step import PropagationStep
from tests.support.seed import SEED
from virtual_nodes.brokers.told_brokers import ToldBrokers

SEEDS = range(SEED, SEED + 20)


def test_every_broker_ends_with_what_the_image_says_and_loses_nothing() -> None:
    done: dict[str, int] = {}
    set_aside = 0
    for seed in SEEDS:
        world = ToldBrokers(str(seed))
        world.play()
        assert world.violations == [], seed
        set_aside += len(world.set_aside)
        for step, times in world.done.items():
            done[step] = done.get(step, 0) + times
    # All of it took place, and brokers did set aside what they had missed the deletion of.
    assert len(done) == 11
    assert set_aside > 0


def first_violation() -> str | None:
    for seed in range(10):
        world = ToldBrokers(f"break/{seed}")
        world.play()
        if world.violations:
            return world.violations[0]
    return None


def test_a_seed_replays() -> None:
    worlds = [ToldBrokers("replay"), ToldBrokers("replay")]
    for world in worlds:
        world.play()
    first, again = ((world.loop.now, world.set_aside, world.done) for world in worlds)
    assert first == again


@pytest.fixture
def leaders_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """List in a full request only partitions that a broker leads."""
    original = ControlRequestBatch.lead_or_follow

    def lead(self: Any, brokers: Any, topic: str, number: int, partition: Any) -> None:
        original(self, {partition.leader}, topic, number, partition)

    monkeypatch.setattr(ControlRequestBatch, "lead_or_follow", lead)


@pytest.fixture
def one_zk_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every controller the same epoch."""

    def sender(self: BrokerChannels, zk_epoch: int) -> ControlRequestSender:
        return ControlRequestSender(
            node_id=self._node_id, zk_epoch=1, inter_broker_listener=self._listener
        )

    monkeypatch.setattr(BrokerChannels, "_sender", sender)


@pytest.fixture
def nothing_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drop a request that was not answered."""

    async def deliver(self: BrokerChannel, request: BrokerRequest) -> None:
        try:
            await (await self._open()).send(request.request, request.version)
        except KwireError:
            await self._close()

    monkeypatch.setattr(BrokerChannel, "_deliver", deliver)


@pytest.fixture
def incremental_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave what a broker has missed as it is."""

    class Incremental:
        UNKNOWN = ControlRequestType.UNKNOWN
        FULL = INCREMENTAL = ControlRequestType.INCREMENTAL

    monkeypatch.setattr(migration_propagator, "ControlRequestType", Incremental)


@pytest.fixture
def newest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deliver the newest step first."""

    def put(self: BrokerChannel, step: PropagationStep, newest: Any) -> None:
        self._steps.appendleft(step)
        self._put.set()

    monkeypatch.setattr(BrokerChannel, "put", put)


BREAKS = ["leaders_only", "one_zk_epoch", "nothing_repeated", "incremental_only", "newest_first"]


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_is_found_within_ten_seeds(name: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(name)
    assert first_violation() is not None
