"""Requests take a bounded memory together: large ones wait for it, small ones do not."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Collection, Coroutine, Iterator
from typing import Any

import pytest

from kwire.codec.fields import ArrayOf, Nullable, StructClass, StructOf
from kwire.controller.handlers.registry import HANDLERS
from kwire.controller.raft import API_KEYS
from kwire.controller.server import request_memory
from kwire.controller.server.large_messages import LARGE_FRAME
from kwire.controller.server.request_memory import DECODED_FACTOR, MemoryPool, RequestMemory
from kwire.messages import registry
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.net.frames import decode_request, encode_request
from tests.support.controller.server.echo_listener import (
    VERSIONS,
    Clients,
    EchoService,
    answered,
    echo_listener,
)
from tests.support.eventually import eventually

LARGE = encode_request(
    CreateTopicsRequest(topics=[CreatableTopic(name=f"topic-{n}") for n in range(1500)]),
    7,
    correlation_id=1,
)
CLIENTS = 8


async def started(*coroutines: Coroutine[Any, Any, None]) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    await asyncio.sleep(0)
    return tasks


async def test_a_pool_grants_while_some_is_left_and_then_in_order() -> None:
    """As Java's SimpleMemoryPool, which may be exceeded by one request (strict=false)."""
    pool = MemoryPool(100)
    await pool.take(60)
    await pool.take(80)
    assert pool.available == -40
    first, second = await started(pool.take(500), pool.take(1))
    pool.give_back(40)
    await asyncio.sleep(0)
    assert not first.done()  # Kafka grants from one byte on
    pool.give_back(1)
    await asyncio.sleep(0)
    assert (first.done(), second.done(), pool.waiting) == (True, False, 1)
    pool.give_back(500)
    await second
    assert (pool.available, pool.waiting) == (0, 0)


@pytest.mark.parametrize("granted", [False, True])
async def test_who_goes_away_while_it_waits_leaves_nothing_behind(granted: bool) -> None:
    pool = MemoryPool(10)
    await pool.take(10)
    first, second = await started(pool.take(5), pool.take(3))
    if granted:
        pool.give_back(10)  # granted, and not yet told
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    pool.give_back(0 if granted else 10)
    await second
    pool.give_back(3)
    assert (pool.available, pool.waiting) == (10, 0)


@pytest.fixture
async def clients() -> AsyncIterator[Clients]:
    async with Clients() as clients:
        yield clients


async def test_many_large_requests_at_once_are_decoded_one_by_one(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, all of them were decoded at once, and held until the last one was committed."""
    one = DECODED_FACTOR * (len(LARGE) - 4)
    monkeypatch.setattr(request_memory, "DECODED", 2 * one)
    service, memory = EchoService(), RequestMemory()
    service.go_on.clear()
    tracemalloc.start()
    try:
        async with echo_listener(service, memory=memory) as port:
            readers = [await clients.connect(port, LARGE) for _ in range(CLIENTS)]
            await eventually(lambda: memory.decoded.waiting == CLIENTS - 2)
            assert service.served == [19] * 2
            assert memory.decoded.available == 0
            taken, _ = tracemalloc.get_traced_memory()
            assert taken < 2 * one + 4 * CLIENTS * len(LARGE)

            # Meanwhile everybody else is answered.
            other = await clients.connect(port, VERSIONS)
            assert await answered(other)

            service.go_on.set()
            assert all([await answered(reader) for reader in readers])
            await eventually(lambda: memory.decoded.available == memory.decoded.size)
            assert memory.queued.available == memory.queued.size
    finally:
        tracemalloc.stop()
    assert service.served.count(19) == CLIENTS


async def test_nothing_more_is_read_while_too_many_bytes_are_queued(clients: Clients) -> None:
    """queued.max.request.bytes: a connection is mute from the size of its frame on."""
    service, memory = EchoService(), RequestMemory(queued=len(LARGE))
    service.go_on.clear()
    async with echo_listener(service, memory=memory) as port:
        held = [await clients.connect(port, LARGE) for _ in range(2)]
        await eventually(lambda: memory.queued.available <= 0)
        begun = (90 << 20).to_bytes(4, "big") + b"\0\x13\0\7" + bytes(1000)
        await clients.connect(port, begun)
        await eventually(lambda: memory.queued.waiting)
        other = await clients.connect(port, VERSIONS)
        assert await answered(other)
        service.go_on.set()
        assert all([await answered(reader) for reader in held])
        await eventually(lambda: not memory.queued.waiting)
    assert memory.queued.available == len(
        LARGE
    )  # the one that did not come whole gave back its own


async def test_one_connection_with_many_requests_does_not_keep_the_loop(clients: Clients) -> None:
    """64 KiB of pipelined requests were answered before anybody else's."""
    service = EchoService()
    async with echo_listener(service) as port:
        other = await clients.connect(port, VERSIONS)
        assert await answered(other)
        await clients.connect(port, VERSIONS * 2000)
        clients.writers[0].write(VERSIONS)
        assert await answered(other)
        assert len(service.served) < 1000


def requests_of_little(cls: Any, version: int) -> Iterator[bytes]:
    """Yield large frames whose elements are as small as they can be."""
    for name, element in _arrays(cls):
        empty = encode_request(
            cls(**{name: [element() for _ in range(64)]}), version, correlation_id=1
        )
        count = 128 * LARGE_FRAME // len(empty) + 1
        message = cls(**{name: [element() for _ in range(count)]})
        frame = encode_request(message, version, correlation_id=1)[4:]
        if len(frame) >= LARGE_FRAME:
            yield frame


def _arrays(cls: StructClass) -> Iterator[tuple[str, StructClass]]:
    for name, field in cls.fields.items():
        kind = field.type
        while isinstance(kind, Nullable):
            kind = kind.inner
        if isinstance(kind, ArrayOf) and isinstance(kind.element, StructOf):
            yield name, kind.element.cls


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(registry.api_keys("AlterClientQuotas", "CreateTopics"), id="worst"),
        pytest.param({*HANDLERS, *API_KEYS}, id="all", marks=pytest.mark.nightly),
    ],
)
def test_no_request_becomes_larger_than_it_is_counted_for(keys: Collection[int]) -> None:
    """Measured: AlterClientQuotas with empty entries is the worst, CreateTopics has a third."""
    measured = {
        cls.__name__: max(map(growth, requests_of_little(cls, cls.versions.last)), default=0)
        for cls in map(registry.request, keys)
    }
    worst = max(measured, key=lambda api: measured[api])
    assert worst == "AlterClientQuotasRequest"
    assert 0.8 * DECODED_FACTOR < measured[worst] <= DECODED_FACTOR


def growth(frame: bytes) -> float:
    """Return the bytes that are allocated for each byte of a frame when it is decoded."""
    decode_request(frame)  # what is compiled at the first use is no part of it
    tracemalloc.start()
    try:
        request = decode_request(frame)
        allocated, _ = tracemalloc.get_traced_memory()
        del request
        return allocated / len(frame)
    finally:
        tracemalloc.stop()
