"""A path to a feed that somebody records, and on which he sends again what has passed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kwire.net.address import Address


class RecordedPath:
    """Passes datagrams on; to the feed and to the viewer they come from one address, as before.

    feed: where it leads. to_feed, to_viewer: what has passed. is_cut: True if nothing passes.
    """

    def __init__(self, feed: Address) -> None:
        self.feed = feed
        self.to_feed: list[bytes] = []
        self.to_viewer: list[bytes] = []
        self.is_cut = False
        self._viewer: tuple[str, int] | None = None
        self._near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._near.bind(("127.0.0.1", 0))
        self._far.bind(("127.0.0.1", 0))

    @property
    def address(self) -> Address:
        """The address that viewers are given in place of the feed's."""
        return Address(*self._near.getsockname())

    def send_to_feed(self, data: bytes) -> None:
        """Send a datagram from the viewer's address."""
        self._far.sendto(data, (self.feed.host, self.feed.port))

    def send_to_viewer(self, data: bytes) -> None:
        """Send a datagram from the feed's address."""
        assert self._viewer
        self._near.sendto(data, self._viewer)

    def _forth(self) -> None:
        data, self._viewer = self._near.recvfrom(65536)
        self.to_feed.append(data)
        if not self.is_cut:
            self.send_to_feed(data)

    def _back(self) -> None:
        data = self._far.recv(65536)
        self.to_viewer.append(data)
        if not self.is_cut:
            self.send_to_viewer(data)


@asynccontextmanager
async def recorded(feed: Address) -> AsyncIterator[RecordedPath]:
    """Record the path to a feed while the context lasts."""
    loop = asyncio.get_running_loop()
    path = RecordedPath(feed)
    loop.add_reader(path._near, path._forth)
    loop.add_reader(path._far, path._back)
    try:
        yield path
    finally:
        for one in (path._near, path._far):
            loop.remove_reader(one)
            one.close()
