"""A node, a proxy with a feed in front of it, and a client that votes; all on loopback."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from kwire.net.address import Address
from kwire.proxy import Filters, Listener, Proxy
from kwire.proxy.feed.commands import Controls
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.sender import Feed
from kwire.proxy.feed.source import FeedEvent
from kwire.proxy.filters.intercept import Intercept
from kwire.proxy.filters.rule_set import RuleSet
from tests.support.proxy.data_path.proxied_node import GRANTED, VOTE, grant, node

HERE = Address("127.0.0.1", 0)
TOKEN = b"0123456789abcdef"


@dataclass
class Traffic:
    """A running node, proxy, feed and client."""

    feed: Feed
    address: Address
    proxy: Proxy
    rules: RuleSet

    async def vote(self, times: int = 1) -> None:
        """A client asks and is answered so many times."""
        reader, writer = await asyncio.open_connection(self.address.host, self.address.port)
        for _ in range(times):
            writer.write(VOTE)
            assert await reader.readexactly(len(GRANTED)) == GRANTED
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def traffic(token: bytes = b"", listen: Address = HERE) -> AsyncIterator[Traffic]:
    """A proxy that viewers control."""
    feeds: list[Feed] = []
    stop = Intercept(None, lambda flow: feeds[0].hold(flow))
    filters = Filters([stop])

    def changed(sentence: str) -> None:
        filters.replace([stop, *rules.filters])
        feeds[0].announce()

    rules = RuleSet(time.monotonic, lambda seed: Random(seed).random, changed)
    async with node(grant) as upstream:
        listener = Listener(node_id=3000, upstream=upstream)
        async with Feed(listen, token=token, controls=Controls(stop, filters, rules)) as feed:
            feeds.append(feed)
            async with Proxy([listener], sinks=[feed], filters=filters) as proxy:
                yield Traffic(feed, proxy.addresses[listener], proxy, rules)


class ShownEvents(list[FeedEvent]):
    """The events that one viewer was shown."""

    @property
    def flows(self) -> list[FeedEvent]:
        """The RPCs that have ended."""
        return [one for one in self if hasattr(one.event, "outcome") and not one.held]

    @property
    def held(self) -> list[FeedEvent]:
        """The requests that were held."""
        return [one for one in self if one.held]


def viewer(feed: Address, shown: ShownEvents, token: bytes = b"", backlog: int = 200) -> Receiver:
    """A viewer that writes down what it is shown."""
    return Receiver(feed, shown.append, token=token, backlog=backlog)
