"""The controllers' side, of a scripted controller with the log of a real migration."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kwire.errors import ConnectionFailed
from kwire.image.features import ZkMigrationState
from kwire.messages.a32_describe_configs import DescribeConfigsRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.migration.operator import kraft_side
from kwire.migration.operator.kraft_side import KRaftSide
from kwire.net.address import Address
from kwire.net.timeouts import Timeouts
from tests.support.migration.golden import golden_images
from tests.support.migration.golden_controller import EPOCH, ID, GoldenController
from tests.support.virtual_time import in_virtual_time

DUAL_WRITE = 119
"""The offset after the record that /migration names in the first dump of the dual write."""

PREPARED = 20
"""An offset before the copy."""


@asynccontextmanager
async def golden(end: int, *, id: int = ID, port: int = 0) -> AsyncIterator[GoldenController]:
    """Run a controller in the loop of the test."""
    controller = GoldenController(end, id=id, port=port)
    async with controller.node:
        yield controller


def side(controller: GoldenController, timeout: float = 10.0) -> KRaftSide:
    address = Address("127.0.0.1", controller.node.port)
    return KRaftSide(str(address), [address], timeouts=Timeouts(operation=timeout))


@in_virtual_time
async def test_the_facts_are_those_of_the_leader_and_its_log() -> None:
    async with golden(DUAL_WRITE) as controller, side(controller) as kraft:
        facts = await kraft.facts()
    assert (facts.leader_id, facts.epoch, facts.voters) == (ID, EPOCH, frozenset({ID}))
    assert facts.state == ZkMigrationState.MIGRATION
    assert facts.ready_tags == {ID: True}
    assert facts.end == DUAL_WRITE
    assert facts.no_image == ""


@in_virtual_time
async def test_each_past_offset_has_its_image() -> None:
    async with golden(DUAL_WRITE) as controller, side(controller) as kraft:
        await kraft.facts()
        for offset, expected in golden_images():
            if offset < DUAL_WRITE:
                assert kraft.at(offset) == expected
        assert kraft.since(118)[0] == (118, kraft.at(118))
        assert kraft.at(0) is not kraft.at(118)


@in_virtual_time
async def test_the_copy_is_not_seen_before_its_transaction_ends() -> None:
    async with golden(DUAL_WRITE) as controller, side(controller) as kraft:
        facts = await kraft.facts()
        states = [image.features.zk_migration_state for _, image in kraft.since(0)]
    assert facts.image is not None
    first = states.index(ZkMigrationState.MIGRATION)
    assert set(states[:first]) <= {ZkMigrationState.NONE, ZkMigrationState.PRE_MIGRATION}
    assert set(states[first:]) == {ZkMigrationState.MIGRATION}


@in_virtual_time
async def test_a_record_that_does_not_come_is_not_waited_for_without_end() -> None:
    async with golden(DUAL_WRITE) as controller, side(controller, timeout=0.3) as kraft:
        await kraft.facts()
        assert await kraft.until(DUAL_WRITE - 1) is True
        assert await kraft.until(DUAL_WRITE + 50) is False


@in_virtual_time
async def test_a_log_that_no_leader_gives_is_told() -> None:
    async with golden(0) as controller, side(controller) as kraft:
        facts = await kraft.facts()
    assert facts.no_image.startswith("no leader gave it within 10 s")
    assert facts.cluster_id is not None


@in_virtual_time
async def test_later_looks_do_not_ask_what_controllers_log() -> None:
    async with golden(DUAL_WRITE) as controller:
        async with side(controller) as kraft:
            await kraft.facts()
            asked = len(controller.node.requests(DescribeConfigsRequest))
            quorums = len(controller.node.requests(DescribeQuorumRequest))
            again = await kraft.facts()
        assert len(controller.node.requests(DescribeConfigsRequest)) == asked
        assert len(controller.node.requests(DescribeQuorumRequest)) == quorums + 1
    assert (again.leader_id, again.ready_tags) == (ID, {ID: True})


@in_virtual_time
async def test_a_leader_that_was_down_at_first_is_found_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kraft_side, "FAILED_AGE", 0.1)
    async with golden(DUAL_WRITE) as controller:
        port = controller.node.port
    async with golden(DUAL_WRITE, id=ID + 1) as follower:
        addresses = [Address("127.0.0.1", number) for number in (follower.node.port, port)]
        async with KRaftSide("both", addresses, timeouts=Timeouts(operation=0.5)) as kraft:
            first = await kraft.facts()
            second = await kraft.facts()
            assert [facts.leader_id for facts in (first, second)] == [-1, -1]
            assert [len(facts.silent) for facts in (first, second)] == [1, 1]
            async with golden(DUAL_WRITE, port=port):
                async with asyncio.timeout(30):
                    while (now := await kraft.facts()).leader_id < 0:
                        continue
    assert (now.leader_id, now.silent) == (ID, ())


@in_virtual_time
async def test_controllers_that_were_formatted_anew_are_read_from_the_start() -> None:
    async with golden(DUAL_WRITE) as controller, side(controller) as kraft:
        before = await kraft.facts()
        controller.epoch, controller.end = EPOCH - 1, PREPARED
        async with asyncio.timeout(30):
            while (now := await kraft.facts()).end == before.end:
                continue
    assert (before.end, before.state) == (DUAL_WRITE, ZkMigrationState.MIGRATION)
    assert (now.end, now.state) == (PREPARED, ZkMigrationState.PRE_MIGRATION)


async def test_no_controller_is_an_error_with_its_address() -> None:
    kraft = KRaftSide("127.0.0.1:1", [Address("127.0.0.1", 1)])
    with pytest.raises(ConnectionFailed, match=r"127\.0\.0\.1:1 refused .* start the node"):
        await kraft.facts()
