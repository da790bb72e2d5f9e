"""CreateTopics of several sizes at two quorums of three processes, in turn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import quantiles

from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from simulated_broker import SimulatedBroker

WARM = 30
REPLICAS = 3


async def created(
    brokers: Sequence[SimulatedBroker], rounds: int, topics: int, partitions: int, warm: int = WARM
) -> list[list[float]]:
    """Milliseconds of each request by each broker, whose side is asked; the first `warm` left out.

    Every request creates so many topics of so many partitions with three replicas.
    """
    times: list[list[float]] = [[] for _ in brokers]
    for turn in range(warm + rounds):
        for broker, found in zip(brokers, times, strict=True):
            took = await _create(broker, f"{topics}-{partitions}-{turn}", topics, partitions)
            if turn >= warm:
                found.append(took * 1e3)
    return times


async def _create(broker: SimulatedBroker, prefix: str, topics: int, partitions: int) -> float:
    names = [f"{prefix}-{number}" for number in range(topics)]
    wanted = [
        CreatableTopic(name=name, num_partitions=partitions, replication_factor=REPLICAS)
        for name in names
    ]
    began = time.perf_counter()
    answer = await broker.connection.send(
        CreateTopicsRequest(topics=wanted, timeout_ms=60_000), timeout=90
    )
    took = time.perf_counter() - began
    assert isinstance(answer, CreateTopicsResponse)
    assert {topic.error_code for topic in answer.topics} == {0}, answer.topics[0]
    return took


def p99(times: list[float]) -> float:
    """Return the 99th percentile."""
    return quantiles(times, n=100)[98]
