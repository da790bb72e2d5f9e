"""Decodes, encodes and frees large messages in threads, so that the event loop answers meanwhile.

An engine needs less than a microsecond for an element of a message, but a frame of 100 MiB has
millions of them. Both engines let other threads run in between. Two things would not, each for up
to a second, and are dealt with here: the garbage collector, when it visits all elements at once,
and the end of a message, when all elements are freed at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, ParamSpec, TypeVar

from kwire.codec.declaration import Group, Response
from kwire.controller.server.collector import collector
from kwire.net.frames import RequestFrame, decode_request, encode_response

LARGE_FRAME = 128 * 1024
"""Bytes from which on a request is decoded in a thread; less takes at most some milliseconds."""

MANY = 500
"""Elements from which on a response is encoded in a thread."""

PIECE = 1024 * 1024
"""Bytes of an answer that are written at once."""

_FREED_AT_ONCE = 1024
P = ParamSpec("P")
T = TypeVar("T")


@asynccontextmanager
async def decoded(frame: bytes) -> AsyncIterator[RequestFrame]:
    """Give the request in a frame, and free it at the end of the block. Raises as decode_request.

    Nobody may keep the request's own lists behind the end; what is in them may be kept.
    """
    if len(frame) < LARGE_FRAME:
        yield decode_request(frame)
        return
    with collector.paused():
        request = await asyncio.to_thread(decode_request, frame)
        try:
            yield request
        finally:
            await asyncio.to_thread(free, request.body)


async def in_thread_if(
    is_large: bool, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call a function of large messages in a thread, of others at once."""
    if not is_large:
        return function(*args, **kwargs)
    with collector.paused():
        return await asyncio.to_thread(function, *args, **kwargs)


async def encoded(response: Response, version: int, *, correlation_id: int) -> bytes:
    """Return the frame of a response, size included."""
    is_large = has_many_elements(response)
    frame = await in_thread_if(
        is_large, encode_response, response, version, correlation_id=correlation_id
    )
    if is_large:
        await asyncio.to_thread(free, response)
    return frame


async def write(writer: asyncio.StreamWriter, answer: bytes) -> None:
    """Write an answer in pieces, since TLS encrypts all that it is given at once."""
    view = memoryview(answer)
    for start in range(0, len(view), PIECE):
        writer.write(view[start : start + PIECE])
        await writer.drain()


def has_many_elements(message: Group, many: int = MANY) -> bool:
    """True if the arrays of a message have so many elements or more, nested ones included."""
    left = many
    groups = [message]
    while groups:
        for items in _arrays(groups.pop()):
            left -= len(items)
            if left <= 0:
                return True
            if items and isinstance(items[0], Group):
                groups.extend(items)
    return False


def _arrays(group: Group) -> Iterator[Any]:
    for name in type(group).fields:
        value = getattr(group, name)
        if isinstance(value, list | tuple):
            yield value


def free(message: Group) -> None:
    """Empty the arrays of a message, a few elements at a time."""
    for items in _arrays(message):
        while isinstance(items, list) and items:
            del items[-_FREED_AT_ONCE:]
