"""The tap shows flows decoded, in order, and gives up detail rather than memory or time."""

import asyncio

import pytest

from kwire.messages.a52_vote import (
    VoteRequest,
)
from kwire.proxy import DecodedFlow, Notice, Tap
from tests.support.proxy.flows.dialogue_flows import votes

Seen = list[DecodedFlow | Notice]


async def test_flows_come_decoded_and_in_order() -> None:
    seen: Seen = []
    async with Tap(seen.append) as tap:
        for flow in votes(20):
            tap(flow)
        assert not seen  # the data path has not waited
        await asyncio.sleep(0)
    decoded = [event for event in seen if isinstance(event, DecodedFlow)]
    assert [ended.flow.correlation_id for ended in decoded] == list(range(20))
    assert all(ended.errors == ("FENCED_LEADER_EPOCH",) for ended in decoded)
    assert decoded[0].request_as(VoteRequest) is not None
    assert not decoded[0].problems


async def test_it_has_caught_up_when_nothing_waits_to_be_shown() -> None:
    seen: Seen = []
    flows = votes(20) + votes(1, padding=30_000)  # the last one is decoded in a thread
    async with Tap(seen.append) as tap:
        await tap.caught_up()
        for flow in flows:
            tap(flow)
        await tap.caught_up()
        assert len(seen) == len(flows)


async def test_long_frames_are_decoded_in_a_thread_and_stay_in_order() -> None:
    seen: Seen = []
    flows = votes(1) + votes(1, padding=30_000) + votes(1)
    flows[1].request_copy = (flows[1].request_copy or b"") + bytes(50_000)
    flows[1].request_size += 50_000
    async with Tap(seen.append) as tap:
        for flow in flows:
            tap(flow)
    assert [event.flow for event in seen if isinstance(event, DecodedFlow)] == flows
    assert "50000 bytes behind the request" in str(
        [event.problems for event in seen if isinstance(event, DecodedFlow)]
    )


async def test_what_exceeds_the_queue_is_shown_without_its_messages() -> None:
    seen: Seen = []
    flows = votes(4, padding=2000)
    async with Tap(seen.append, limit=flows[0].weight * 2 + 600) as tap:
        for flow in flows:
            tap(flow)
    decoded = [event for event in seen if isinstance(event, DecodedFlow)]
    assert [ended.request is not None for ended in decoded] == [True, True, False]
    assert decoded[2].problems == ("not decoded: too much waits to be decoded",)
    assert (tap.undecoded, tap.dropped) == (2, 1)
    assert flows[2].request_copy is not None, "other sinks keep theirs"


async def test_a_viewer_that_fails_sees_the_next_flow_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: Seen = []

    def clumsy(one: DecodedFlow | Notice) -> None:
        seen.append(one)
        if len(seen) == 1:
            raise RuntimeError("a mistake in a viewer")

    async with Tap(clumsy) as tap:
        for flow in votes(3):
            tap(flow)
    assert len(seen) == 3
    assert "a mistake in a viewer" in caplog.text


async def test_a_node_is_known_by_the_id_in_its_request() -> None:
    (flow,) = votes(1)
    assert flow.connection.peer is None
    async with Tap(lambda one: None) as tap:
        tap(flow)
    assert flow.connection.peer == 3001
