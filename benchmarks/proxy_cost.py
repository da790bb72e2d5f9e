"""Cost of the proxy: CPU per request and per MB beside its peers', and memory.

    python benchmarks/proxy_cost.py [--rounds 5] [--seconds 1] [--write] [--kafka-proxy FILE]

All run interleaved in every round, each in a process of its own, against the same node. Read the
ratios; the absolute figures are the machine's. FILE is grepplabs/kafka-proxy, as `go build` makes
it in its repository; without it the table lacks its columns.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median

from performance_page import write_section
from proxy_loads import LOADS, Client, Load, connect
from proxy_memory import idle_connection, slow_reader
from proxy_relays import LIKE_OURS, OURS, Server, kafka_proxy, ours, serve

PAUSE = 1.2
"""Seconds before a measurement, for what the one before has left, and until connections are where
they stay: the proxy looks once a second which of them its loop in C can move."""

Times = dict[str, list[float]]
"""Microseconds of CPU per unit, by what was measured."""

GOALS = (
    ("small requests, 1 ", "pass", "kafka-proxy", 0.4),
    ("small requests, 50", "pass", "kafka-proxy", 0.35),
    ("fetches", "pass", "kafka-proxy, 1 MiB", 0.7),
    ("", "pass", "pass by asyncio", 0.77),
    ("small requests", "record", "pass", 1.3),
    ("fetches", "record", "pass", 1.6),
    ("small requests", "record 64 KiB", "pass", 1.3),
    ("fetches", "record 64 KiB", "pass", 1.6),
)
"""Loads, ours, peer, and the ratio to reach."""


async def measure(load: Load, server: Server, seconds: float) -> float:
    """CPU microseconds of the relay per unit."""
    clients = await connect(load, server.port)
    await asyncio.sleep(PAUSE)
    before, counted = server.cpu(), _count(clients)
    await asyncio.sleep(seconds)
    spent, units = server.cpu() - before, (_count(clients) - counted) * load.units
    for client in clients:
        assert client.transport is not None
        client.transport.abort()
    await asyncio.sleep(PAUSE)
    return spent / units * 1e6


def _count(clients: list[Client]) -> int:
    return sum(client.answers for client in clients)


def run(rounds: int, seconds: float, binary: Path | None) -> str:
    """Start everything, measure in turn, and make the page's part."""
    results: dict[Load, Times] = {}
    with ExitStack() as running:
        node = running.enter_context(closing(ours("node")))
        servers = {
            name: running.enter_context(closing(server))
            for name, server in _servers(node.port, binary)
        }
        for load in LOADS:
            results[load] = {name: [] for name in servers}
            for _ in range(rounds):
                for name, server in servers.items():
                    results[load][name].append(asyncio.run(measure(load, server, seconds)))
            sys.stderr.write(f"{load.name}: done\n")
        memory = list(_memory(node))
    head = f"Python {platform.python_version()}, {platform.machine()}, {rounds} rounds."
    return "\n".join([head, "", *_costs(results), "", *_ratios(results), "", *memory])


def _servers(upstream: int, binary: Path | None) -> Iterator[tuple[str, Server]]:
    for name in ("streams", *OURS):
        yield name, ours(name, upstream)
    if binary is not None:
        yield "kafka-proxy", kafka_proxy(binary, upstream)
        yield "kafka-proxy, 1 MiB", kafka_proxy(binary, upstream, LIKE_OURS)


def _costs(results: dict[Load, Times]) -> Iterator[str]:
    names = list(next(iter(results.values())))
    yield f"| CPU, microseconds: median (least) | {' | '.join(names)} |"
    yield f"| --- |{' ---: |' * len(names)}"
    for load, times in results.items():
        cells = (f"{median(found):.1f} ({min(found):.1f})" for found in times.values())
        yield f"| per {load.unit}: {load.name} | {' | '.join(cells)} |"


def _ratios(results: dict[Load, Times]) -> Iterator[str]:
    yield "| ratio of medians (of the least) | small, 1 | small, 50 | fetch, 1 | fetch, 4 | goal |"
    yield f"| --- |{' ---: |' * 5}"
    for loads, mine, peer, goal in GOALS:
        cells = [_ratio(load, times, loads, mine, peer) for load, times in results.items()]
        if set(cells) != {"-"}:
            yield f"| {mine} : {peer} | {' | '.join(cells)} | {goal:g} |"


def _ratio(load: Load, times: Times, loads: str, mine: str, peer: str) -> str:
    if peer not in times or not load.name.startswith(loads):
        return "-"
    middle = median(times[mine]) / median(times[peer])
    return f"{middle:.2f} ({min(times[mine]) / min(times[peer]):.2f})"


def _memory(node: Server) -> Iterator[str]:
    held, allowed = slow_reader(node)
    idle = idle_connection(node)
    yield "| memory | measured | goal |"
    yield "| --- | ---: | ---: |"
    yield f"| 1 GB through a slow reader | {held / 1e6:.1f} MB | {allowed / 1e6:.1f} MB |"
    yield f"| a connection at rest | {idle / 1e3:.1f} kB | 16 kB |"


def main() -> None:
    """Serve one part, or measure all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--kafka-proxy", type=Path)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve[0], int(options.serve[1]))
        return
    text = run(options.rounds, options.seconds, options.kafka_proxy)
    sys.stdout.write(text + "\n")
    if options.write:
        write_section("proxy", text)


if __name__ == "__main__":
    main()
