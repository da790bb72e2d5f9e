"""CPU of controllers that have little to do: idle, and with the heartbeats of many brokers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from controller_sides import Side
from simulated_broker import SimulatedBroker

INTERVAL = 2.0
"""Seconds between two heartbeats of a broker: Kafka's default."""


async def idle(sides: Sequence[Side], span: float) -> list[float]:
    """Cores that each quorum uses while nobody asks it anything."""
    return await _shares(sides, span)


async def heartbeats(sides: Sequence[Side], brokers: int, span: float) -> list[float]:
    """Cores that each leader uses while so many brokers send heartbeats."""
    leaders = []
    everybody: list[SimulatedBroker] = []
    for side in sides:
        leader = await side.leader()
        leaders.append(Side(name=side.name, members={0: leader}))
        everybody += await side.brokers(brokers)
    tasks = [
        asyncio.create_task(_beat(broker, INTERVAL * (number % brokers) / brokers))
        for number, broker in enumerate(everybody)
    ]
    try:
        await asyncio.sleep(INTERVAL)
        return await _shares(leaders, span)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for broker in everybody:
            await broker.close()


async def _beat(broker: SimulatedBroker, delay: float) -> None:
    await asyncio.sleep(delay)
    while True:
        await broker.beat()
        await asyncio.sleep(INTERVAL)


async def _shares(sides: Sequence[Side], span: float) -> list[float]:
    before, began = [side.cpu for side in sides], time.perf_counter()
    await asyncio.sleep(span)
    took = time.perf_counter() - began
    return [(side.cpu - used) / took for side, used in zip(sides, before, strict=True)]
