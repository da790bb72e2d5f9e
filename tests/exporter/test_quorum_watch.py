"""Polling a quorum of scripted controllers: what is told, and what is no longer."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import cast

import pytest

import scripted_quorum
from kwire.admin import AdminClient
from kwire.exporter.cluster_watch import ClusterCounts, ClusterWatch
from kwire.exporter.quorum_watch import QuorumWatch
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.net.address import Address
from kwire.observer import LiveImage
from scripted_node import SILENCE
from scripted_quorum import CLUSTER_ID, LEADER_EPOCH, ScriptedQuorum
from tests.support.virtual_time import in_virtual_time


@asynccontextmanager
async def watched(interval: float = 5.0) -> AsyncIterator[tuple[ScriptedQuorum, QuorumWatch]]:
    async with (
        scripted_quorum.scripted_quorum(1) as quorum,
        AdminClient(bootstrap_controllers=quorum.addresses()) as client,
    ):
        yield quorum, QuorumWatch(client, interval)


async def test_a_poll_learns_the_quorum_and_the_cluster() -> None:
    async with watched() as (_, watch):
        assert watch.quorum is None
        began = time.time()
        await watch.poll()
        assert watch.quorum is not None
        assert watch.quorum.leader_epoch == LEADER_EPOCH
        assert watch.cluster_id == CLUSTER_ID
        assert (watch.answered, watch.failed, watch.elections) == (1, 0, 0)
        assert watch.answered_at is not None
        assert began <= watch.answered_at <= time.time()
        assert watch.failure == ""


async def test_a_quorum_that_is_gone_is_told_no_more() -> None:
    async with watched() as (quorum, watch):
        await watch.poll()
        await quorum.nodes[0].stop()
        await watch.poll()
        assert watch.quorum is None
        assert (watch.answered, watch.failed) == (1, 1)
        assert watch.failure
        await quorum.nodes[0].start()
        await watch.poll()
        assert watch.quorum is not None
        assert watch.failure == ""


@in_virtual_time
async def test_a_node_that_never_answers_fails_the_poll_in_time() -> None:
    async with watched(interval=0.2) as (quorum, watch):
        await watch.poll()
        quorum.nodes[0].scripts[DescribeQuorumRequest] = lambda request: SILENCE
        polling = asyncio.create_task(watch.poll())
        await asyncio.sleep(6)
        assert watch.quorum is None  # though a slow leader is still waited for
        async with asyncio.timeout(60):
            await polling
        assert watch.failed == 1


@in_virtual_time
async def test_a_leader_of_the_log_that_hangs_is_known_no_more() -> None:
    live = cast(LiveImage, SimpleNamespace(leader=Address("c1", 9093), answered_in=0.5, heard_at=0))
    watch = ClusterWatch(live)
    watch._counts = cast(ClusterCounts, object())
    live.heard_at = asyncio.get_running_loop().time()
    assert watch.counts is not None
    await asyncio.sleep(6)
    assert watch.counts is None
    live.answered_in = 16.0  # one that takes so long is not late yet
    assert watch.counts is not None


async def test_epochs_between_two_polls_are_elections(monkeypatch: pytest.MonkeyPatch) -> None:
    async with watched() as (_, watch):
        await watch.poll()
        monkeypatch.setattr(scripted_quorum, "LEADER_EPOCH", LEADER_EPOCH + 3)
        await watch.poll()
        await watch.poll()
        assert watch.elections == 3


async def test_an_answer_of_long_ago_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a pause of the whole machine, before the next poll."""
    async with watched(interval=1.0) as (_, watch):
        await watch.poll()
        clock = time.monotonic
        later = SimpleNamespace(monotonic=lambda: clock() + 60)
        monkeypatch.setattr("kwire.exporter.quorum_watch.time", later)
        assert watch.quorum is None
