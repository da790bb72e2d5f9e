"""A path to a feed that loses datagrams."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kwire.net.address import Address


@asynccontextmanager
async def lossy(
    feed: Address, keep: list[bool], sizes: list[int] | None = None
) -> AsyncIterator[Address]:
    """A way to the feed on which what was seen is lost where `keep` says so."""
    loop = asyncio.get_running_loop()
    there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for one in (there, here):
        one.setblocking(False)
    there.connect((feed.host, feed.port))
    here.bind(("127.0.0.1", 0))
    clients: list[tuple[str, int]] = []

    def forth() -> None:
        data, address = here.recvfrom(65536)
        clients.append(address)
        there.send(data)

    def back() -> None:
        data = there.recv(65536)
        if sizes is not None:
            sizes.append(len(data))
        if b"\xa4seen" not in data or (keep.pop(0) if keep else True):
            here.sendto(data, clients[-1])

    loop.add_reader(here, forth)
    loop.add_reader(there, back)
    try:
        yield Address(*here.getsockname())
    finally:
        for one in (there, here):
            loop.remove_reader(one)
            one.close()
