"""What the proxy costs: its own CPU per request and per MB, against a relay of asyncio's streams.

    python benchmarks/proxy_cost.py [--rounds 5] [--seconds 2]

All variants run interleaved in every round, each in a process of its own, against the same node.
Read the ratios; the absolute figures are the machine's.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from kwire.apis.a01_fetch import FetchRequest
from kwire.apis.a18_api_versions import ApiVersionsRequest
from kwire.frames import FrameSplitter, encode_request, request_head
from proxy import Address, Listener, Proxy, Ring, pass_everything, tap_everything

SMALL = encode_request(ApiVersionsRequest(), 0, correlation_id=1, client_id="benchmark")
BULK = encode_request(FetchRequest(), 4, correlation_id=1, client_id="benchmark")
ANSWERS = {18: 460, 1: 4 * 1024 * 1024}
"""API key to the size of the node's response, in bytes."""

VARIANTS = ("streams", "pass", "tap")
BASE = "streams"


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the clients do. unit: what costs are counted in; units: how many one answer is."""

    name: str
    request: bytes
    answer: int
    connections: int
    unit: str
    units: float


LOADS = (
    Load(
        name="small, 1 connection",
        request=SMALL,
        answer=464,
        connections=1,
        unit="request",
        units=1,
    ),
    Load(
        name="small, 50 connections",
        request=SMALL,
        answer=464,
        connections=50,
        unit="request",
        units=1,
    ),
    Load(
        name="4 MiB, 1 connection",
        request=BULK,
        answer=ANSWERS[1] + 4,
        connections=1,
        unit="MB",
        units=4,
    ),
    Load(
        name="4 MiB, 4 connections",
        request=BULK,
        answer=ANSWERS[1] + 4,
        connections=4,
        unit="MB",
        units=4,
    ),
)


class Node(asyncio.Protocol):
    """Answers each request with zeros of the size that its API stands for."""

    def __init__(self) -> None:
        self._splitter = FrameSplitter()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._splitter.feed(data, self._answer)

    def _answer(self, frame: bytes) -> None:
        head = request_head(frame)
        size = ANSWERS[head.key]
        body = head.correlation_id.to_bytes(4, "big") + bytes(size - 4)
        assert self._transport is not None
        self._transport.write(size.to_bytes(4, "big") + body)


class Client(asyncio.Protocol):
    """Keeps one request outstanding until it is stopped, and counts the answers."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._missing = load.answer
        self.answers = 0
        self.transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self.transport = transport
        transport.write(self._load.request)

    def data_received(self, data: bytes) -> None:
        self._missing -= len(data)
        if self._missing == 0:
            self._missing = self._load.answer
            self.answers += 1
            assert self.transport is not None
            self.transport.write(self._load.request)


async def serve_node() -> None:
    """The node, until it is killed."""
    server = await asyncio.get_running_loop().create_server(Node, "127.0.0.1", 0)
    await _announce(server.sockets[0].getsockname()[1])


async def serve_streams(upstream: int) -> None:
    """A relay as one writes it with asyncio's streams."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            size = await reader.readexactly(4)
            frame = await reader.readexactly(int.from_bytes(size, "big"))
            writer.write(size + frame)
            await writer.drain()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", upstream)
        pumps = asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
        try:
            await pumps
        except (asyncio.IncompleteReadError, ConnectionError):
            pumps.cancel()
        writer.close()
        far_writer.close()

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    await _announce(server.sockets[0].getsockname()[1])


async def serve_proxy(upstream: int, tap: bool) -> None:
    """The proxy; with `tap` every frame is copied into a ring."""
    wants = tap_everything if tap else pass_everything
    listener = Listener(node_id=1, upstream=Address("127.0.0.1", upstream))
    async with Proxy([listener], sinks=[Ring()], wants=wants) as proxy:
        await _announce(proxy.addresses[listener].port)


async def _announce(port: int) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def start(*arguments: str) -> tuple[subprocess.Popen[str], int]:
    """A server in a process of its own, and its port."""
    command = [sys.executable, __file__, "--serve", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far (Linux: the clock that clock_getcpuclockid names)."""
    return time.clock_gettime(~pid << 3 | 2)


async def measure(load: Load, port: int, pid: int, seconds: float) -> tuple[float, float]:
    """CPU microseconds of the relay and wall microseconds, per unit."""
    loop = asyncio.get_running_loop()
    clients = [
        (await loop.create_connection(lambda: Client(load), "127.0.0.1", port))[1]
        for _ in range(load.connections)
    ]
    await asyncio.sleep(0.3)
    before, counted, began = cpu_seconds(pid), _count(clients), time.perf_counter()
    await asyncio.sleep(seconds)
    cpu, wall = cpu_seconds(pid) - before, time.perf_counter() - began
    units = (_count(clients) - counted) * load.units
    for client in clients:
        assert client.transport is not None
        client.transport.abort()
    await asyncio.sleep(0.1)
    return cpu / units * 1e6, wall / units * 1e6


def _count(clients: list[Client]) -> int:
    return sum(client.answers for client in clients)


def run(rounds: int, seconds: float, write: Callable[[str], object]) -> None:
    """Start everything, measure in turn, print medians and ratios."""
    node, upstream = start("node")
    servers = {variant: start(variant, str(upstream)) for variant in VARIANTS}
    try:
        for load in LOADS:
            results: dict[str, list[tuple[float, float]]] = {name: [] for name in VARIANTS}
            for _ in range(rounds):
                for name, (process, port) in servers.items():
                    figures = asyncio.run(measure(load, port, process.pid, seconds))
                    results[name].append(figures)
            _report(load, results, write)
    finally:
        for process, _ in [(node, upstream), *servers.values()]:
            process.kill()
            process.communicate()


def _report(
    load: Load, results: dict[str, list[tuple[float, float]]], write: Callable[[str], object]
) -> None:
    write(f"{load.name}: proxy CPU us per {load.unit}, min/median/max\n")
    base = median(cpu for cpu, _ in results[BASE])
    for name, figures in results.items():
        cpus = [cpu for cpu, _ in figures]
        middle = median(cpus)
        wall = median(wall for _, wall in figures)
        write(
            f"  {name:8} {min(cpus):7.1f} {middle:7.1f} {max(cpus):7.1f}"
            f"   {middle / base:5.2f}x {BASE}   wall {wall:7.1f} us\n"
        )


def main() -> None:
    """Serve one part, or measure all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--serve", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    match options.serve:
        case None:
            run(options.rounds, options.seconds, sys.stdout.write)
        case ["node"]:
            asyncio.run(serve_node())
        case ["streams", port]:
            asyncio.run(serve_streams(int(port)))
        case [variant, port]:
            asyncio.run(serve_proxy(int(port), tap=variant == "tap"))


if __name__ == "__main__":
    main()
