"""A node on loopback that answers Votes, and a proxy in front of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.accepting import stop_accepting
from kwire.proxy import (
    Address,
    Event,
    Flow,
    Limits,
    Listener,
    Notice,
    NoticeKind,
    Proxy,
)
from kwire.proxy.data_path.descriptors import Descriptors
from tests.support.proxy.dialogue import answered, asked

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

VOTE = asked(VoteRequest(), 2, 1)

GRANTED = answered(VoteResponse(), 2, 1)


async def grant(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A node that answers every Vote."""
    while True:
        try:
            await reader.readexactly(len(VOTE))
        except asyncio.IncompleteReadError:
            break
        writer.write(GRANTED)
    writer.close()


@asynccontextmanager
async def node(serve: Serve) -> AsyncIterator[Address]:
    """A node on loopback; its connections are closed when the context ends."""
    writers = []

    async def remember(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await serve(reader, writer)

    async with await asyncio.start_server(remember, "127.0.0.1", 0) as server:
        yield Address(*server.sockets[0].getsockname())
        await stop_accepting(server)
        for writer in writers:
            writer.close()
        await asyncio.sleep(0)


@asynccontextmanager
async def proxied(
    serve: Serve,
    events: list[Event],
    limits: Limits | None = None,
    descriptors: Descriptors | None = None,
) -> AsyncIterator[tuple[Address, Proxy]]:
    """A node with a proxy in front."""
    async with node(serve) as upstream:
        listener = Listener(node_id=3000, upstream=upstream)
        async with Proxy(
            [listener], sinks=[events.append], limits=limits, descriptors=descriptors
        ) as proxy:
            yield proxy.addresses[listener], proxy


def kinds(events: list[Event]) -> list[NoticeKind]:
    return [event.kind for event in events if isinstance(event, Notice)]


def flows(events: list[Event]) -> list[Flow]:
    return [event for event in events if isinstance(event, Flow)]
