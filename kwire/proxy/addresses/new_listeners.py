"""Opens listeners of the proxy in front of nodes that passing messages name, and closes them.

1. An address counts if it is allowed, and if a node names it in a response or accepts a request
   that names it. While such a request is under way its addresses have listeners, since a leader
   connects there before it accepts a voter; but little passes at them (`data_path.guard`), and they
   are closed if the request is not accepted.
2. A listener is closed if nobody has named or used it for long and no Kafka node is behind it any
   more, or if its node needs room for another address.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Self

from kwire.errors import KwireError
from kwire.net.address import Address
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.addresses.address_book import AddressBook, MessageAddress, OnListener
from kwire.proxy.addresses.opened_listeners import OpenedListener, OpenedListeners
from kwire.proxy.data_path.allowed_nodes import AllowedNodes
from kwire.proxy.data_path.listener import Listener, ListenerGuard
from kwire.proxy.data_path.server import CannotListen, Proxy
from kwire.proxy.flows.flow import Notice, NoticeKind
from kwire.proxy.flows.reports import ReportedTexts

SWEEP = 5.0
"""Seconds between looks at the listeners."""

AT_ONCE = 10
"""Most nodes that are tried at once before their listeners expire."""

REPORTED = 1000
"""Most notices that are remembered, so that none is sent twice."""


class NewListeners:
    """Fills an address book with the proxy's listeners, and opens those that it requests.

    allowed: the addresses that count; by default those at the hosts of the proxy's own nodes. New
    listeners are like the first of the proxy's: at the same host, with the same TLS.
    """

    def __init__(
        self, proxy: Proxy, book: AddressBook, allowed: AllowedNodes | None = None
    ) -> None:
        self._proxy = proxy
        self._book = book
        self._allowed = allowed or AllowedNodes()
        self._opened = OpenedListeners(proxy.is_used)
        self._tasks: set[asyncio.Task[None]] = set()
        self._reported = ReportedTexts(REPORTED)

    async def __aenter__(self) -> Self:
        for listener, address in self._proxy.addresses.items():
            self._book.add(listener.upstream, address)
        self._book.open_with(self)
        self._start(self._sweep_regularly())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await cancel_and_wait(self._tasks)

    async def listen(self, listener: Listener) -> Address:
        """Open a listener; return the address that others are given. Raises CannotListen."""
        return self._book.add(listener.upstream, await self._proxy.listen(listener))

    def request(self, named: MessageAddress, on_listener: OnListener) -> None:
        """Open a listener once, however many messages wait for it."""
        self._close_unaccepted()
        node = self._book.node_address(named.address)
        opened = self._opened.find(node)
        is_enough = opened is not None and (opened.believed or named.by_node)
        reason = "" if is_enough else self._refusal(node, named)
        if reason:
            on_listener(reason)
            return
        if opened is None:
            opened = self._opened.begin(node, named, time.monotonic())
            self._start(self._open(opened))
        if named.by_node:
            self._believe(opened, named.node_id)
        elif not opened.believed:
            opened.requests.add(named.flow)
        if opened.address is None:
            opened.waiting.append(on_listener)
        else:
            on_listener(opened.address)

    def accepted(self, address: Address) -> None:
        """Believe an address in a request: a node has accepted it."""
        opened = self._opened.find(address)
        if opened is not None:
            self._believe(opened, None)

    def tell(self, notice: Notice) -> None:
        """Show a notice once."""
        if self._reported.is_first(notice.text):
            self._proxy.tell(notice)

    def _refusal(self, node: Address, named: MessageAddress) -> str:
        """Return the reason why a message gets no listener for an address, "" if it gets one."""
        configured = (
            listener.upstream for listener in self._proxy.addresses if listener.guard is None
        )
        if refusal := self._allowed.refusal(node, configured):
            return refusal
        now = time.monotonic()
        self._opened.take_named(self._book.named_by_nodes, now)
        surplus = self._opened.surplus(named, now)
        if isinstance(surplus, OpenedListener):
            self._close(surplus, "its node or another one has a newer address")
            return ""
        return surplus or ""

    def _believe(self, opened: OpenedListener, node_id: int | None) -> None:
        surplus = self._opened.believe(opened, node_id, time.monotonic())
        self._book.believe(opened.node)
        if surplus is not None:
            self._close(surplus, "its node or another one has a newer address")

    def _close_unaccepted(self) -> None:
        for opened in self._opened.unaccepted():
            self._close(opened, "no node has accepted the request that named this node")

    def _close(self, opened: OpenedListener, reason: str) -> None:
        """Stop listening for a node; if it is named again, it gets the same address."""
        assert opened.listener is not None, "only what is open is closed"
        self._opened.remove(opened)
        self._book.remove(opened.node)
        self._proxy.cut(opened.listener, reason)
        text = f"no more listening at {opened.address} in front of {opened.node}: {reason}"
        self._proxy.tell_about(opened.listener, NoticeKind.ADDRESS_REFUSED, text)
        self._start(self._proxy.unlisten(opened.listener))

    async def _sweep_regularly(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            await self._sweep()

    async def _sweep(self) -> None:
        now = time.monotonic()
        self._opened.take_named(self._book.named_by_nodes, now)
        self._close_unaccepted()
        await asyncio.gather(*map(self._expire, self._opened.expired(now)[:AT_ONCE]))

    async def _expire(self, opened: OpenedListener) -> None:
        """Close a listener that nobody has named for long, if no Kafka node is behind it."""
        assert opened.listener is not None, "only what is open expires"
        if await self._proxy.is_kafka(opened.listener):
            opened.named_at = time.monotonic()  # copies of the log may name it: look again later
        elif self._opened.find(opened.node) is opened:
            self._close(opened, "nobody has named it for long, and no Kafka node is there")

    async def _open(self, opened: OpenedListener) -> None:
        try:
            opened.listener = await self._listen(opened.node, opened.node_id, opened.guard)
        except KwireError as error:
            self._opened.remove(opened)
            result: Address | str = f"no listener could be opened for it: {error}"
        else:
            at, believed = self._proxy.addresses[opened.listener], opened.believed
            result = opened.address = self._book.add(opened.node, at, believed=believed)
        for on_listener in opened.waiting:
            on_listener(result)
        opened.waiting.clear()

    async def _listen(self, node: Address, node_id: int | None, guard: ListenerGuard) -> Listener:
        """Listen in front of a node, at the port that it had before if there was one."""
        like = next(iter(self._proxy.addresses), Listener(node_id=None, upstream=node))
        listener = replace(like, node_id=node_id, upstream=node, standbys=(), guard=guard)
        former = self._book.former(node)
        if former is not None:
            try:
                again = replace(listener, listen=Address(like.listen.host, former.port))
                await self._proxy.listen(again)
            except CannotListen:  # somebody else has the port by now
                pass
            else:
                return again
        listener = replace(listener, listen=Address(like.listen.host, 0))
        await self._proxy.listen(listener)
        return listener

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
