"""A simulated network: streams between processes, with latency, and cuts between any two of them.

Like TCP's, a stream loses nothing while its two ends are cut off from each other: what is sent then
arrives after the network has healed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any, TypeVar, cast

from tests.controller.virtual.loop import VirtualLoop
from tests.controller.virtual.process import Process
from tests.controller.virtual.stream import VirtualTransport

P = TypeVar("P", bound=asyncio.BaseProtocol)

LATENCY = 0.0002, 0.003
"""Seconds from one process to another."""

RETRANSMISSION = 0.0, 0.4
"""Seconds after healing until TCP tries again."""

SEGMENT = 64 * 1024
"""Bytes that arrive at once, at most."""

SPLIT = 0.03
"""Share of writes that arrive in two parts."""


class VirtualServer:
    """A listening socket."""

    def __init__(self, network: Network, port: int) -> None:
        self._network, self._port = network, port
        self.sockets = (self,)

    def getsockname(self) -> tuple[str, int]:
        """Host and port, as a socket does."""
        return "127.0.0.1", self._port

    def fileno(self) -> int:
        """No file; the number is unique."""
        return self._port

    def close(self) -> None:
        """Listen no more."""
        self._network.listening.pop(self._port, None)

    async def wait_closed(self) -> None:
        """Return at once."""


class Network:
    """What connects the processes. `cuts` are the pairs that cannot reach each other now."""

    def __init__(self, random: Random) -> None:
        self.listening: dict[int, tuple[Process, Callable[[], asyncio.BaseProtocol]]] = {}
        self.cuts: set[frozenset[str]] = set()
        self._random = random
        self._held: dict[frozenset[str], list[Callable[[], None]]] = {}
        self._healed = asyncio.Event()
        self._client_ports = 40_000

    def latency(self) -> float:
        """Seconds that the next bytes take."""
        return self._random.uniform(*LATENCY)

    def split(self, data: bytes) -> list[bytes]:
        """Cut what is written into what arrives at once."""
        bounds = list(range(0, len(data), SEGMENT))
        if len(data) > 1 and self._random.random() < SPLIT:
            bounds.append(self._random.randrange(1, len(data)))
        bounds = sorted({*bounds, len(data)})
        return [data[begin:end] for begin, end in pairwise(bounds)]

    def are_cut(self, one: Process, other: Process) -> bool:
        """True while nothing passes between two processes."""
        return frozenset((one.name, other.name)) in self.cuts

    def hold(self, one: Process, other: Process, send: Callable[[], None]) -> None:
        """Send again when the two processes reach each other."""
        self._held.setdefault(frozenset((one.name, other.name)), []).append(send)

    def cut(self, one: str, other: str) -> None:
        """Let nothing pass between two processes."""
        self.cuts.add(frozenset((one, other)))

    def heal(self) -> None:
        """End every cut."""
        self.cuts.clear()
        held, self._held = self._held, {}
        for sends in held.values():
            for send in sends:
                send()
        self._healed.set()
        self._healed = asyncio.Event()

    def retransmission(self) -> float:
        """Seconds that held bytes take after the network has healed."""
        return self._random.uniform(*RETRANSMISSION)

    def listen(
        self, process: Process, port: int, factory: Callable[[], asyncio.BaseProtocol]
    ) -> VirtualServer:
        """Have a process accept connections."""
        if port in self.listening:
            raise OSError(98, f"port {port} is taken")
        self.listening[port] = process, factory
        return VirtualServer(self, port)

    async def connect(
        self, loop: VirtualLoop, factory: Callable[[], P], port: int
    ) -> tuple[VirtualTransport, P]:
        """Connect the current process. The peer's kernel accepts, even while it stands still."""
        here = loop.current
        await asyncio.sleep(self.latency())
        while port in self.listening and self.are_cut(here, self.listening[port][0]):
            await self._healed.wait()
            await asyncio.sleep(self.retransmission())
        if port not in self.listening:
            raise ConnectionRefusedError(111, f"nothing listens at port {port}")
        there, accept = self.listening[port]
        self._client_ports += 1
        client = VirtualTransport(loop, self, here, ("127.0.0.1", port))
        server = VirtualTransport(loop, self, there, ("127.0.0.1", self._client_ports))
        client.peer, server.peer = server, client
        client.reach(accept)
        protocol = factory()
        client.open(lambda: protocol)
        return client, protocol


class NetworkLoop(VirtualLoop):
    """The event loop with asyncio's network calls on a simulated network."""

    def __init__(self, random: Random, start: float, network: Network) -> None:
        super().__init__(random, start)
        self.network = network

    async def create_server(
        self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any
    ) -> Any:
        return self.network.listen(self.current, int(port), protocol_factory)

    async def create_connection(
        self,
        protocol_factory: Callable[[], P],
        host: Any = None,
        port: Any = None,
        **options: Any,
    ) -> tuple[asyncio.Transport, P]:
        transport, protocol = await self.network.connect(self, protocol_factory, int(port))
        return cast(asyncio.Transport, transport), protocol
