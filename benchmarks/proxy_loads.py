"""The two ends of a relay under measurement: a node that answers at once, and clients that ask."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import cycle
from random import Random

from kwire.codec.declaration import Request
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.frames import FrameSplitter, encode_request, encode_response, request_head


def _asked(body: Request, version: int) -> bytes:
    return encode_request(body, version, correlation_id=1, client_id="benchmark")


API_VERSIONS = _asked(ApiVersionsRequest(), 0)
METADATA = _asked(MetadataRequest(topics=[]), 12)
FETCH = _asked(FetchRequest(), 4)

_EMPTY = encode_response(MetadataResponse(), 12, correlation_id=0)[8:]
_NOISE = Random(1)
ANSWERS = {18: _NOISE.randbytes(456), 3: _EMPTY, 1: _NOISE.randbytes(4 * 1024 * 1024)}
"""API key to what follows the correlation id in the node's response."""


def answer_size(key: int) -> int:
    """Bytes of a response on the wire."""
    return 8 + len(ANSWERS[key])


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The work of the clients: requests in turn, each with the size of its answer.

    unit: what costs are counted in; units: how many one answer is.
    """

    name: str
    requests: tuple[tuple[bytes, int], ...]
    connections: int
    unit: str
    units: float


def small(connections: int) -> Load:
    return Load(
        name=f"small requests, {connections} at a time",
        requests=((API_VERSIONS, answer_size(18)), (METADATA, answer_size(3))),
        connections=connections,
        unit="request",
        units=1,
    )


def bulk(connections: int) -> Load:
    return Load(
        name=f"fetches of 4 MiB, {connections} at a time",
        requests=((FETCH, answer_size(1)),),
        connections=connections,
        unit="MB",
        units=4 * 1.048576,
    )


LOADS = (small(1), small(50), bulk(1), bulk(4))


class Node(asyncio.Protocol):
    """Answers each request with the bytes that stand for its API."""

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
        body = ANSWERS[head.key]
        start = (4 + len(body)).to_bytes(4, "big") + head.correlation_id.to_bytes(4, "big")
        assert self._transport is not None
        self._transport.write(start + body)


class Client(asyncio.Protocol):
    """Keeps one request outstanding until it is stopped, and counts the answers."""

    def __init__(self, load: Load) -> None:
        self._turns = cycle(load.requests)
        self._missing = 0
        self.answers = 0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._missing -= len(data)
        if self._missing == 0:
            self.answers += 1
            self._ask()

    def _ask(self) -> None:
        request, self._missing = next(self._turns)
        assert self.transport is not None
        self.transport.write(request)


async def connect(load: Load, port: int) -> list[Client]:
    """The clients of a load, at work."""
    loop = asyncio.get_running_loop()
    return [
        (await loop.create_connection(lambda: Client(load), "127.0.0.1", port))[1]
        for _ in range(load.connections)
    ]
