"""Work on large messages in threads, so that the event loop goes on meanwhile.

An engine needs less than a microsecond for an element of a message, but a frame of 100 MiB has
millions of them. The engines let other threads run in between. Two things do not, each for up to a
second: the garbage collector, which visits all elements at once, is paused; and the elements of a
message, which its end would free all at once, are freed step by step.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, ParamSpec, TypeVar

from kwire.codec.declaration import Group, Response
from kwire.controller.handlers.frames import answer_frame, request_frame
from kwire.controller.server.collector import collector
from kwire.controller.server.request_memory import DECODED_FACTOR, MemoryPool
from kwire.net.frames import RequestFrame

LARGE_FRAME = 16 * 1024
"""Bytes from which on a request is decoded in a thread; less takes at most some milliseconds."""

MANY = 500
"""Elements from which on a response is encoded in a thread."""

PIECE = 1024 * 1024
"""Bytes of an answer that are written at once."""

_FREED_AT_ONCE = 1024
P = ParamSpec("P")
T = TypeVar("T")


async def joined(frame: bytes | list[bytes]) -> bytes:
    """Return a frame whose pieces may have to be joined; the list of the pieces is emptied."""
    return frame if isinstance(frame, bytes) else await asyncio.to_thread(_join, frame)


@asynccontextmanager
async def decoded(frame: bytes, memory: MemoryPool) -> AsyncIterator[RequestFrame]:
    """Decode a frame; yield the request, and free it after the block. Raises as request_frame.

    The request's own lists are emptied then; their elements may be kept. A large frame waits until
    the memory has room for what it becomes.
    """
    if len(frame) < LARGE_FRAME:
        yield request_frame(frame)
        return
    size = DECODED_FACTOR * len(frame)
    await memory.take(size)
    try:
        # Paused until the answer is encoded: in between, a collection would visit all elements.
        with collector.paused():
            request = await asyncio.to_thread(request_frame, frame)
            try:
                yield request
            finally:
                await asyncio.to_thread(free, request.body)
    finally:
        memory.give_back(size)


async def in_thread_if(
    is_large: bool, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call a function, in a thread if `is_large`; return its result."""
    if not is_large:
        return function(*args, **kwargs)
    with collector.paused():
        return await asyncio.to_thread(function, *args, **kwargs)


async def in_thread_if_many(
    message: Group, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call a function whose work grows with a message, in a thread if it has many elements."""
    return await in_thread_if(has_many_elements(message), function, *args, **kwargs)


async def encoded(response: Response, version: int, *, correlation_id: int) -> bytes:
    """Return the frame of a response, size included."""
    is_large = has_many_elements(response)
    frame = await in_thread_if(
        is_large, answer_frame, response, version, correlation_id=correlation_id
    )
    if is_large:
        await asyncio.to_thread(free, response)
    return frame


async def write(writer: asyncio.StreamWriter, answer: bytes, *, within: float) -> None:
    """Write an answer in pieces, since TLS encrypts all that it is given at once.

    within: seconds for each. Raises TimeoutError if the peer does not read.
    """
    view = memoryview(answer)
    for start in range(0, len(view), PIECE):
        writer.write(view[start : start + PIECE])
        async with asyncio.timeout(within):
            await writer.drain()


def has_many_elements(message: Group, many: int = MANY) -> bool:
    """True if the arrays of a message have `many` elements or more, nested ones included."""
    left = many
    groups = [message]
    while groups:
        for items in _arrays(groups.pop()):
            left -= len(items)
            if left <= 0:
                return True
            # The elements of an array are of one type.
            if items and isinstance(items[0], Group):
                groups.extend(items)
    return False


def _arrays(group: Group) -> Iterator[Any]:
    for name in type(group).fields:
        value = getattr(group, name)
        if isinstance(value, list | tuple):
            yield value


def _join(pieces: list[bytes]) -> bytes:
    frame = b"".join(pieces)  # lets other threads run while it copies
    _empty(pieces)
    return frame


def free(message: Group) -> None:
    """Empty the arrays of a message, some elements at a time; other threads run in between."""
    for items in _arrays(message):
        if isinstance(items, list):
            _empty(items)


def _empty(items: list[Any]) -> None:
    while items:
        # From the end, where no other element has to move.
        del items[-_FREED_AT_ONCE:]
