"""The two ends of a relay under measurement: a node that answers at once, and clients that ask."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from kwire.apis.a01_fetch import FetchRequest
from kwire.apis.a18_api_versions import ApiVersionsRequest
from kwire.frames import FrameSplitter, encode_request, request_head

SMALL = encode_request(ApiVersionsRequest(), 0, correlation_id=1, client_id="benchmark")
BULK = encode_request(FetchRequest(), 4, correlation_id=1, client_id="benchmark")
ANSWERS = {18: 460, 1: 4 * 1024 * 1024}
"""API key to the size of the node's response, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the clients do. unit: what costs are counted in; units: how many one answer is."""

    name: str
    request: bytes
    answer: int
    connections: int
    unit: str
    units: float


def small(connections: int) -> Load:
    return Load(
        name=f"small requests, {connections} connections",
        request=SMALL,
        answer=ANSWERS[18] + 4,
        connections=connections,
        unit="request",
        units=1,
    )


def bulk(connections: int) -> Load:
    return Load(
        name=f"fetches of 4 MiB, {connections} connections",
        request=BULK,
        answer=ANSWERS[1] + 4,
        connections=connections,
        unit="MB",
        units=4 * 1.048576,
    )


LOADS = (small(1), small(50), bulk(1), bulk(4))


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
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._load.request)

    def data_received(self, data: bytes) -> None:
        self._missing -= len(data)
        if self._missing == 0:
            self._missing = self._load.answer
            self.answers += 1
            assert self.transport is not None
            self.transport.write(self._load.request)


async def connect(load: Load, port: int) -> list[Client]:
    """The clients of a load, at work."""
    loop = asyncio.get_running_loop()
    return [
        (await loop.create_connection(lambda: Client(load), "127.0.0.1", port))[1]
        for _ in range(load.connections)
    ]
