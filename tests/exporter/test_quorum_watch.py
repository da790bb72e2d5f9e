"""Polling a quorum of scripted controllers: what is told, and what is no longer."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

import scripted_quorum
from kwire.exporter.quorum_watch import QuorumClient, QuorumWatch
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from scripted_node import SILENCE
from scripted_quorum import CLUSTER_ID, LEADER_EPOCH, ScriptedQuorum
from tests.support.virtual_time import in_virtual_time


@asynccontextmanager
async def watched(interval: float = 5.0) -> AsyncIterator[tuple[ScriptedQuorum, QuorumWatch]]:
    async with (
        scripted_quorum.scripted_quorum(1) as quorum,
        QuorumClient(bootstrap_controllers=quorum.addresses()) as client,
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
        async with asyncio.timeout(10):
            await watch.poll()
        assert watch.quorum is None
        assert watch.failed == 1


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
