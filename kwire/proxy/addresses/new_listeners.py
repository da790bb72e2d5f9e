"""Opens listeners of the proxy in front of nodes that passing messages name, and closes them.

1. An address counts if it is allowed, and if a node names it in a response or accepts a request
   that names it. While such a request is under way its addresses have listeners, since a leader
   connects there before it accepts a voter; but little passes at them (`data_path.guard`), and they
   are closed if the request is not accepted.
2. An address at the proxy's own host may be one that an earlier run gave out: nothing can be there
   but this proxy. So it is only taken for a node's if a Kafka node answers there, and else replaced
   by that of the node's listener, which is found by the node's id.
3. The addresses are kept (`given_addresses`) before they are given out, and listened at again by
   the next run.
4. A listener is closed if nobody has named or used it for long and no Kafka node is behind it any
   more, or if its node needs room for another address.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

from kwire.errors import KwireError
from kwire.net.address import Address, address_key
from kwire.net.tasks import cancel_and_wait
from kwire.proxy.addresses.address_book import (
    AddressBook,
    MessageAddress,
    OnListener,
)
from kwire.proxy.addresses.opened_listeners import PER_NODE, OpenedListener, OpenedListeners
from kwire.proxy.data_path.allowed_nodes import AllowedNodes
from kwire.proxy.data_path.given_addresses import CannotKeep, GivenAddress, GivenAddresses
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
    listeners are like the first of the proxy's: at the same host, with the same TLS. given: keeps
    the addresses, and is open.
    """

    def __init__(
        self,
        proxy: Proxy,
        book: AddressBook,
        allowed: AllowedNodes | None = None,
        given: GivenAddresses | None = None,
    ) -> None:
        self._proxy = proxy
        self._book = book
        self._allowed = allowed or AllowedNodes()
        self._given = given or GivenAddresses()
        self._former: list[GivenAddress] = []
        self._silent: set[Address] = set()
        self._opened = OpenedListeners(proxy.is_used)
        self._tasks: set[asyncio.Task[None]] = set()
        self._reported = ReportedTexts(REPORTED)

    async def __aenter__(self) -> Self:
        for former in self._given:
            self._book.restore(former)
            if former.believed:
                self._former.append(former)
        for listener, address in self._proxy.addresses.items():
            self._add(listener, address)
        self._remember()
        await self._given.save()  # fails now rather than when an address is to be given
        if self._proxy.addresses:
            await self.listen_again()
        self._book.open_with(self)
        self._start(self._sweep_regularly())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await cancel_and_wait(self._tasks)

    async def listen(self, listener: Listener) -> Address:
        """Open a listener; return the address that others are given.

        Raises CannotListen.
        """
        former = self._book.former(listener.upstream)
        if listener.listen.port == 0 and former is not None:
            with suppress(CannotListen):
                at = replace(listener.listen, port=former.port)
                # The key of the listener stays, by which a reload finds it.
                return await self._added(listener, await self._proxy.listen(listener, at))
        return await self._added(listener, await self._proxy.listen(listener))

    async def listen_again(self) -> None:
        """Listen where an earlier run did, for those who have been given these addresses."""
        ports = {address.port for address in self._proxy.addresses.values()}
        counts: Counter[int | None] = Counter()
        former, self._former = self._former, []
        for address in reversed(former):  # the latest first
            counts[address.node_id] += 1
            if address.given.port in ports or counts[address.node_id] > PER_NODE:
                continue
            if not await self._listen_again(address):
                self._former.append(address)
        self._former.reverse()

    def forget_closed(self) -> None:
        """Give out no more the addresses of listeners that were closed.

        If their nodes are named again, they get the same addresses again.
        """
        upstreams = {address_key(listener.upstream) for listener in self._proxy.addresses}
        for node in self._book.open.keys() - upstreams:
            self._book.remove(node)

    def request(self, named: MessageAddress, on_listener: OnListener) -> None:
        """Open a listener once, however many messages wait for it."""
        self._close_unaccepted()
        node = self._book.node_address(named.address)
        is_new = self._opened.find(node) is None and not self._book.is_given(named.address)
        if is_new and named.by_node and self._book.is_own_host(node.host):
            self._start(self._identify(node, named, on_listener))
        else:
            self._request(node, named, on_listener)

    async def _identify(
        self, node: Address, named: MessageAddress, on_listener: OnListener
    ) -> None:
        """Tell an address of an earlier run from that of a node on the proxy's own host."""
        is_ours = node.port in self._given.ports or bool(self._not_allowed(node))
        if not is_ours and node not in self._silent and not await self._answers(node):
            self._silent.add(node)
        known = None
        if is_ours or node in self._silent:
            known = self._book.of_node(named, is_sure=is_ours)
        if known is not None:
            on_listener(known)
        elif is_ours:
            on_listener(
                "an earlier run of the proxy gave it out, and no listener is known to be in front"
                f" of its node: give --listen {_node(named)}{node}=HOST:PORT, with the node's own"
                " address, or restart the node"
            )
        else:
            self._request(node, named, on_listener)

    async def _answers(self, node: Address) -> bool:
        """Return True if a Kafka node answers at an address."""
        like = next(iter(self._proxy.addresses), None)
        return like is not None and await self._proxy.is_kafka(like, node)

    def _request(self, node: Address, named: MessageAddress, on_listener: OnListener) -> None:
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
        if refusal := self._not_allowed(node):
            return refusal
        now = time.monotonic()
        self._opened.take_named(self._book.named_by_nodes, now)
        surplus = self._opened.surplus(named, now)
        if isinstance(surplus, OpenedListener):
            self._close(surplus, "its node or another one has a newer address")
            return ""
        return surplus or ""

    def _not_allowed(self, node: Address) -> str:
        return self._allowed.refusal(node, self._configured)

    @property
    def _configured(self) -> set[Address]:
        """The addresses of nodes that have a listener of the operator's."""
        return {listener.upstream for listener in self._proxy.addresses if listener.guard is None}

    def _believe(self, opened: OpenedListener, node_id: int | None) -> None:
        surplus = self._opened.believe(opened, node_id, time.monotonic())
        self._book.believe(opened.node)
        self._start(self._save())
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
        self._silent.clear()
        await self._save()
        await self.listen_again()
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
            like = replace(self._like(opened.node, opened.node_id), guard=opened.guard)
            former = self._book.former(opened.node)
            listener, at = await self._given.listen(self._proxy, like, former)
        except KwireError as error:
            self._opened.remove(opened)
            result: Address | str = f"no listener could be opened for it: {error}"
        else:
            # Before anybody is given it: the proxy may be killed at any time.
            self._given.add(
                GivenAddress(
                    given=self._book.advertised(at),
                    upstream=opened.node,
                    node_id=opened.node_id,
                    listener_name=opened.listener_name,
                    believed=opened.believed,
                )
            )
            await self._save()
            opened.listener = listener  # only now: what has no place in the book is not closed
            result = opened.address = self._add(listener, at, opened)
        for on_listener in opened.waiting:
            on_listener(result)
        opened.waiting.clear()

    def _add(
        self, listener: Listener, at: Address, opened: OpenedListener | None = None
    ) -> Address:
        """Add a listener to the book; return the address that others are given."""
        return self._book.add(
            listener.upstream,
            at,
            node_id=listener.node_id,
            listener_name="" if opened is None else opened.listener_name,
            believed=opened is None or opened.believed,
        )

    async def _added(self, listener: Listener, at: Address) -> Address:
        address = self._add(listener, at)
        await self._save()
        return address

    def _remember(self) -> None:
        for given in self._book.given:
            self._given.add(given)

    async def _save(self) -> None:
        """Write the addresses down, and tell if that is not possible: traffic goes on."""
        self._remember()
        try:
            await self._given.save()
        except CannotKeep as error:
            self._report(f"{error}; a restarted proxy does not know what it has given out since")

    async def _listen_again(self, former: GivenAddress) -> bool:
        """Listen at an address of an earlier run; return False to try again later."""
        node = former.upstream
        if refusal := self._not_allowed(node):
            self._report(f"{former.given}, given out for {node} before, is not used: {refusal}")
            return True
        listener = replace(
            self._like(node, former.node_id),
            listen=Address(self._like(node, None).listen.host, former.given.port),
            guard=None if node in self._configured else ListenerGuard(believed=True),
        )
        try:
            at = await self._proxy.listen(listener)
        except KwireError as error:
            self._report(
                f"{error}, and clients and nodes have this address of {node}: tried again every"
                f" {SWEEP:g} s"
            )
            return False
        # A node may have a listener elsewhere by now: what has the former address still gets there.
        if address_key(node) not in self._book.open and self._opened.find(node) is None:
            opened = self._opened.restore(former, listener, time.monotonic())
            opened.address = self._add(listener, at, opened)
        return True

    def _like(self, node: Address, node_id: int | None) -> Listener:
        """Return a listener for a node like the first of the proxy's."""
        like = next(iter(self._proxy.addresses), Listener(node_id=None, upstream=node))
        return replace(like, node_id=node_id, upstream=node, standbys=())

    def _report(self, text: str) -> None:
        """Send a notice once, about no connection."""
        listener = next(iter(self._proxy.addresses), None)
        if listener is not None and self._reported.is_first(text):
            self._proxy.tell_about(listener, NoticeKind.ADDRESS_REFUSED, text)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _node(named: MessageAddress) -> str:
    return "" if named.node_id is None else f"{named.node_id}@"
