"""What befalls the controllers of a simulated world while clients create topics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tests.controller.virtual.interruption import Point
from tests.controller.virtual.world import World

Scenario = Callable[[World], Awaitable[None]]

ROUNDS = 4
STANDSTILL = 3.0, 6.0
"""Seconds: above Kafka's default of controller.quorum.fetch.timeout.ms, 2 s."""

HANDLED = Point(file="handlers/create_topics.py", function="handle")
WITHIN = 5.0
"""Seconds within which a leader that has clients comes to a point of its code."""


async def paused_in_a_request(world: World) -> None:
    """Leaders stand still within a CreateTopics, at any step between its handler and the reply."""
    world.add_clients(5)
    for _ in range(ROUNDS):
        await asyncio.sleep(world.random.uniform(0.5, 2.0))
        await _interrupt_the_leader(world, world.random.randrange(60))


async def paused_anywhere(world: World) -> None:
    """Leaders stand still at any function call, whatever they are doing."""
    world.add_clients(5)
    for _ in range(ROUNDS):
        await asyncio.sleep(world.random.uniform(0.5, 2.0))
        await _interrupt_the_leader(world, world.random.randrange(5000), anywhere=True)


async def paused_between_callbacks(world: World) -> None:
    """Leaders stand still while they wait, and now and then a follower, too."""
    world.add_clients(5)
    for _ in range(ROUNDS):
        await asyncio.sleep(world.random.uniform(0.5, 2.0))
        leader = await world.quorum.wait_for_leader()
        paused = [leader.node_id]
        if world.random.random() < 0.3:
            paused.append(world.random.choice(list(world.quorum.members)))
        for node_id in paused:
            world.stand_still(node_id, world.random.uniform(*STANDSTILL))
        await asyncio.sleep(world.random.uniform(4.0, 9.0))


async def leaders_cut_off(world: World) -> None:
    """Leaders are cut off from one other controller, or from all; clients still reach them."""
    world.add_clients(5)
    for round_number in range(ROUNDS):
        await asyncio.sleep(world.random.uniform(0.5, 2.0))
        leader = await world.quorum.wait_for_leader()
        others = [id for id in world.quorum.members if id != leader.node_id]
        is_isolated = round_number % 2 == 0
        for other in others if is_isolated else [world.random.choice(others)]:
            world.cut(leader.node_id, other)
        await asyncio.sleep(world.random.uniform(2.0, 6.0))
        world.heal()
        await asyncio.sleep(world.random.uniform(2.0, 4.0))


async def large_requests(world: World) -> None:
    """Requests of 1,200 topics between small ones; leaders work on some of them for seconds."""
    world.add_clients(2)
    world.add_clients(2, sizes=(1200,), timeouts=(8.0, 12.0), limit=3)
    for _ in range(2):
        await asyncio.sleep(world.random.uniform(0.5, 2.0))
        await _interrupt_the_leader(world, world.random.randrange(60))


async def one_request_of_4900_topics(world: World) -> None:
    """The leader works for seconds on one request, and answers it, and what comes after."""
    leader = await world.quorum.wait_for_leader()
    seconds = world.random.uniform(2.0, 6.0)
    interruption = world.interrupt(leader.node_id, HANDLED, seconds)
    world.add_clients(1, sizes=(4900,), timeouts=(20.0, 30.0), limit=1)
    world.add_clients(2)
    assert await interruption.over(WITHIN)
    await asyncio.sleep(12.0)


async def _interrupt_the_leader(world: World, calls: int, *, anywhere: bool = False) -> None:
    leader = await world.quorum.wait_for_leader()
    point = (
        Point(calls=calls) if anywhere else Point(file=HANDLED.file, function="handle", calls=calls)
    )
    interruption = world.interrupt(leader.node_id, point, world.random.uniform(*STANDSTILL))
    await interruption.over(WITHIN)
    world.timeline.say(f"node {leader.node_id} stood still at: {interruption.place}")
    await asyncio.sleep(world.random.uniform(4.0, 9.0))


SCENARIOS: dict[str, Scenario] = {
    one.__name__: one
    for one in (
        paused_in_a_request,
        paused_anywhere,
        paused_between_callbacks,
        leaders_cut_off,
        large_requests,
        one_request_of_4900_topics,
    )
}
