"""Cost of a controller of kwire's beside one of Kafka's.

    python benchmarks/controllers.py [--kills 5] [--rounds 40] [--records 1000000] [--write]

Topics are created at both in turn; failovers are of a broker of Kafka's, first with kwire's
controllers, then with Kafka's. `--write` puts the tables into docs/performance.md. Needs Java, or
the extra `kafka`.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import sys
import time
from contextlib import ExitStack
from statistics import median

import controller_failover
import controller_load
import controller_sides
from controller_sides import Side
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from performance_page import write_section
from real_kafka import launcher
from simulated_broker import SimulatedBroker

BROKERS, INTERVAL, SPAN = 100, 2.0, 10.0
Row = tuple[str, str, str, str]


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    text = asyncio.run(measure(options.kills, options.rounds, options.records))
    print(text)  # noqa: T201  # a script's output
    if options.write:
        write_section("controller", text)


async def measure(kills: int, rounds: int, records: int) -> str:
    """All rows, in Markdown."""
    rows: list[Row] = []
    with ExitStack() as running:
        kwire = running.enter_context(controller_sides.kwire())
        java = running.enter_context(controller_sides.java(launcher("local")))
        rows.append(await _create(kwire, java, rounds))
        rows += await _many(kwire, java)
    with controller_sides.kwire() as kwire:
        rows.append(await _heartbeats(kwire))
    took, cpu = await controller_load.seconds(records)
    name = f"log of {records:,} records loaded, s (of CPU)"
    rows.append((name, f"{took:.1f} ({cpu:.1f})", "-", "30 s"))
    _progress("failovers")
    ours = await controller_failover.with_kwire(launcher("local"), kills)
    theirs = await controller_failover.with_java(launcher("local"), kills)
    rows.append(_pair("failover of a broker, s: median (worst)", ours, theirs, 1.0, "1.0×"))
    return _table(rows)


async def _create(kwire: Side, java: Side, rounds: int) -> Row:
    """One topic of ten partitions after the other, at both sides in turn."""
    _progress("topics")
    brokers = {side: await _brokers(side, 3) for side in (kwire, java)}
    times: dict[Side, list[float]] = {kwire: [], java: []}
    for turn in range(rounds + 10):
        for side, (first, *_) in brokers.items():
            began = time.perf_counter()
            await _topic(first, f"t{turn}", 10)
            if turn >= 10:
                times[side].append((time.perf_counter() - began) * 1e3)
    name = "CreateTopics, 10 partitions, ms: median (worst)"
    row = _pair(name, times[kwire], times[java], 1.5, "1.5×")
    for three in brokers.values():
        for broker in three:
            await broker.close()
    return row


async def _many(kwire: Side, java: Side) -> list[Row]:
    """10,000 partitions in 100 topics, and the configuration of all of them."""
    _progress("10,000 partitions")
    created, described = [], []
    for side in (kwire, java):
        broker = await SimulatedBroker.open(50, side.host, side.port)
        began = time.perf_counter()
        for number in range(100):
            await _topic(broker, f"many-{number}", 100)
        created.append(time.perf_counter() - began)
        began = time.perf_counter()
        await _describe(broker, [f"many-{number}" for number in range(100)])
        described.append(time.perf_counter() - began)
        await broker.close()
    return [
        ("10,000 partitions created, s", f"{created[0]:.2f}", f"{created[1]:.2f}", "-"),
        ("their 100 topics described, s", f"{described[0]:.2f}", f"{described[1]:.2f}", "-"),
    ]


async def _heartbeats(kwire: Side) -> Row:
    """The share of a core that heartbeats of many brokers take, at Kafka's own interval."""
    _progress("heartbeats")
    brokers = await _brokers(kwire, BROKERS)

    async def beats(broker: SimulatedBroker, delay: float) -> None:
        await asyncio.sleep(delay)
        while True:
            await broker.beat()
            await asyncio.sleep(INTERVAL)

    tasks = [
        asyncio.create_task(beats(broker, INTERVAL * number / BROKERS))
        for number, broker in enumerate(brokers)
    ]
    await asyncio.sleep(INTERVAL)
    before, began = kwire.cpu(), time.perf_counter()
    await asyncio.sleep(SPAN)
    share = (kwire.cpu() - before) / (time.perf_counter() - began)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for broker in brokers:
        await broker.close()
    return (f"heartbeats of {BROKERS} brokers, of a core", f"{share:.1%}", "-", "25 %")


async def _brokers(side: Side, count: int) -> list[SimulatedBroker]:
    return [await SimulatedBroker.open(1 + n, side.host, side.port) for n in range(count)]


async def _topic(broker: SimulatedBroker, name: str, partitions: int) -> None:
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    answer = await broker.connection.send(CreateTopicsRequest(topics=[topic]))
    assert isinstance(answer, CreateTopicsResponse)
    assert answer.topics[0].error_code == 0, answer.topics[0]


async def _describe(broker: SimulatedBroker, names: list[str]) -> None:
    wanted = [
        DescribeConfigsResource(resource_type=2, resource_name=name, configuration_keys=None)
        for name in names
    ]
    answer = await broker.connection.send(DescribeConfigsRequest(resources=wanted))
    assert isinstance(answer, DescribeConfigsResponse)
    assert [one.error_code for one in answer.results] == [0] * len(names)


def _pair(name: str, ours: list[float], theirs: list[float], goal: float, text: str) -> Row:
    ratio = median(ours) / median(theirs)
    cells = [f"{median(times):.2f} ({max(times):.2f})" for times in (ours, theirs)]
    return name, cells[0], cells[1], f"{ratio:.2f}× of {text}"


def _table(rows: list[Row]) -> str:
    lines = [f"Python {platform.python_version()}, {platform.machine()}; Kafka 4.3.1.", ""]
    lines += ["|  | kwire | Kafka | goal |", "| --- | ---: | ---: | ---: |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _progress(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201  # progress


if __name__ == "__main__":
    main()
