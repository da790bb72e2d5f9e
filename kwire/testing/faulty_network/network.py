"""The faulty network: a proxy in front of every node that applies the faults that are on.

A connection's link is (node it comes from, node it goes to); where it comes from stands in the
client id of its requests (`raft-client-3000`, `1`, `broker-1-fetcher-0`), all others are clients. A
message on a link that is cut waits until the link is whole again, as TCP's retransmissions do: so
late requests arrive long after their senders gave up.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Self

from kwire.codec.declaration import Request, Response
from kwire.proxy import Call, Close, Copies, Filter, Filters, Listener, Proxy
from kwire.proxy.filters.filter import FilterVerdict
from kwire.proxy.flows.interest import Direction, pass_everything
from kwire.testing.faulty_network.fault import LEADER, FaultEvent, FaultKind
from kwire.testing.faulty_network.topology import FaultTopology

CLIENT = -1
"""Stands for every client that is no node of the cluster."""

_NODE = re.compile(r"(?:raft-client-|broker-)?(\d{1,9})(?:-|$)")

HELD = 256 << 20
"""Bytes of messages that may be held; a partition holds the requests of half a minute."""


def source_of(client_id: str | None, node_ids: frozenset[int]) -> int:
    """Return the node that calls itself so, or CLIENT."""
    match = _NODE.match(client_id or "")
    return int(match[1]) if match and int(match[1]) in node_ids else CLIENT


@dataclass(slots=True, eq=False)
class ActiveFault:
    """A fault that is on. chosen: its nodes, the leader found. waiting: resumes a held message."""

    event: FaultEvent
    chosen: frozenset[int]
    random: Random
    is_over: bool = False
    waiting: list[Callable[[None], None]] = field(default_factory=list)

    def cuts(self, source: int, target: int) -> bool:
        """True if a message between them does not arrive now. source: who opened the connection."""
        inside, outside = source in self.chosen, target in self.chosen
        link, others = {source, target}, set(self.event.others)
        if others and not (link & self.chosen and link & others):
            return False
        match self.event.kind:
            case FaultKind.PARTITION:
                return source != CLIENT and inside != outside
            case FaultKind.ONE_WAY:
                return inside and not outside
            case FaultKind.BRIDGE:
                return source not in (CLIENT, target) and not inside and not outside
            case FaultKind.CLIENTS:
                return source == CLIENT and outside
        return False

    def touches(self, source: int, target: int) -> bool:
        """True if the fault is one of messages on this link."""
        return source in self.chosen or target in self.chosen

    async def ended(self, call: Call) -> None:
        """Hold a message until the fault is over."""
        if not self.is_over:
            await call.until(self.waiting.append)

    def end(self) -> None:
        """Let go on what waits for its end."""
        self.is_over = True
        for resume in self.waiting:
            # Each in a turn of its own: a relay must not be resumed from within another's.
            asyncio.get_running_loop().call_soon(resume, None)
        self.waiting.clear()


class LinkFilter(Filter):
    """Applies the faults that are on to every message."""

    looks_inside = False

    def __init__(self, network: FaultyNetwork) -> None:
        self._network = network

    def on_request(self, request: Request, call: Call) -> Awaitable[FilterVerdict]:
        """Hold, delay or lose a request."""
        return self._pass(call, Direction.REQUEST)

    def on_response(self, response: Response, call: Call) -> Awaitable[FilterVerdict]:
        """Hold, delay or lose an answer."""
        return self._pass(call, Direction.RESPONSE)

    async def _pass(self, call: Call, direction: Direction) -> FilterVerdict:
        network = self._network
        source, target = network.link(call)
        for fault in network.faults_on(source, target):
            amount, random = fault.event.amount, fault.random
            match fault.event.kind:
                case FaultKind.DELAY:
                    network.count(fault, "delayed")
                    await call.pause(amount * random.uniform(0.5, 1.5))
                case FaultKind.REORDER:
                    network.count(fault, "delayed")
                    await call.pause(amount * random.random())
                case FaultKind.RESET if random.random() < amount / 2:
                    network.count(fault, f"closed before a {direction.value}")
                    return Close()
                case FaultKind.DROP if random.random() < amount / 2:
                    network.count(fault, f"silent from a {direction.value} on")
                    await fault.ended(call)
                    return Close()
        # Last, so that nothing passes that a partition has overtaken while it was delayed.
        while (cut := network.cut(source, target)) is not None:
            network.count(cut, f"{direction.value} held")
            await cut.ended(call)
        return None


class FaultyNetwork:
    """The proxies of a topology while the context lasts; `begin` and `end` switch faults.

    leader: returns the id of the controller that leads now, None if there is none. filters: see
    requests before the faults of links do.
    """

    def __init__(
        self,
        topology: FaultTopology,
        leader: Callable[[], int | None],
        filters: Iterable[Filter] = (),
    ) -> None:
        self._topology = topology
        self._leader = leader
        self._ids = frozenset(node.node_id for node in topology.nodes)
        self._active: list[ActiveFault] = []
        self.counts: dict[FaultEvent, Counter[str]] = {}
        self.chosen: dict[FaultEvent, tuple[int, ...]] = {}
        listeners = [
            Listener(node_id=node.node_id, upstream=node.upstream, listen=node.advertised)
            for node in topology.nodes
        ]
        self._proxy = Proxy(
            listeners,
            wants=pass_everything,
            filters=Filters([*filters, LinkFilter(self)]),
            held=Copies(HELD),
        )

    async def __aenter__(self) -> Self:
        await self._proxy.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.heal()
        await self._proxy.__aexit__(*exc)

    @property
    def active(self) -> tuple[ActiveFault, ...]:
        """The faults that are on."""
        return tuple(self._active)

    def begin(self, event: FaultEvent) -> ActiveFault:
        """Switch a fault on; where it is about the leader, find out who leads."""
        chosen = []
        for node in event.nodes:
            leader = self._leader() if node == LEADER else node
            chosen.append(self._topology.controllers[0] if leader is None else leader)
        random = Random(f"{event}")
        fault = ActiveFault(event, frozenset(chosen), random)
        self._active.append(fault)
        self.chosen[event] = tuple(chosen)
        self.counts.setdefault(event, Counter())
        return fault

    def end(self, fault: ActiveFault) -> None:
        """Switch a fault off, and send on what it held."""
        if fault in self._active:
            self._active.remove(fault)
            fault.end()

    def heal(self) -> None:
        """Switch all faults off."""
        for fault in self.active:
            self.end(fault)

    def link(self, call: Call) -> tuple[int, int]:
        """Return who sent the request of a message, and to whom."""
        target = call.connection.node_id
        client_id = call.flow.client_id
        return source_of(client_id, self._ids), CLIENT if target is None else target

    def cut(self, source: int, target: int) -> ActiveFault | None:
        """Return the fault that cuts a link now."""
        return next((fault for fault in self._active if fault.cuts(source, target)), None)

    def faults_on(self, source: int, target: int) -> list[ActiveFault]:
        """Return the faults of messages on a link."""
        return [fault for fault in self._active if fault.touches(source, target)]

    def count(self, fault: ActiveFault, effect: str) -> None:
        """Count something that a fault did."""
        self.counts[fault.event][effect] += 1
