"""The proxy: a listener in front of each node, a relay for each connection, events to the sinks."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from ssl import SSLContext
from typing import Self

from kwire.errors import LocalError
from kwire.net.accepting import stop_accepting
from kwire.net.address import Address, why_not_bound
from kwire.proxy.data_path.admission import Admission, ConnectionCounts
from kwire.proxy.data_path.copies import Copies
from kwire.proxy.data_path.descriptors import Descriptors
from kwire.proxy.data_path.filter_runner import FilterRunner
from kwire.proxy.data_path.framer import Framing
from kwire.proxy.data_path.gate import FRAME_HELD
from kwire.proxy.data_path.guard import GuardedPairing
from kwire.proxy.data_path.handshake import Handshake
from kwire.proxy.data_path.listener import Limits, Listener
from kwire.proxy.data_path.native_loop import IS_BUILT, NativeLoop
from kwire.proxy.data_path.own_requests import PairingWithOwn
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.data_path.pass_through import FilterStage, Transport
from kwire.proxy.data_path.reach import NodeDials, Upstream, reach
from kwire.proxy.data_path.relay import Relay
from kwire.proxy.data_path.side import Side
from kwire.proxy.filters.chain import Filters
from kwire.proxy.flows.counted_flows import CountedFlows
from kwire.proxy.flows.flow import ClientConnection, Event, Notice, NoticeKind, Sink
from kwire.proxy.flows.interest import Wants, tap_everything
from kwire.proxy.flows.reports import ReportedTexts

logger = logging.getLogger(__name__)

BACKLOG = 512
"""Connections that wait in the system until they are accepted."""

AT_ONCE = 16
"""Connections that are accepted before the first of them is looked at: each takes a descriptor."""

FAILURES = 1000
"""Failures of TLS that are remembered as reported."""

ANSWER_TIME = 1.0
"""Seconds in which a node at the proxy's own host has to answer."""

DRAIN_LOOK = 0.05
"""Seconds between looks at connections that are to end."""


class CannotListen(LocalError):
    """The address of a listener is taken, or not an address of this machine."""


class Proxy:
    """Listens in front of nodes while the context lasts.

    async with Proxy([Listener(node_id=1, upstream=Address("localhost", 9093))], sinks=[print]):
        ...

    sinks take flows and notices; wants says what is copied for them; copies limits the memory that
    takes. filters see what they want before it is sent on; held limits the memory that takes.
    Filters set later are for the connections that are accepted from then on. opened: is called with
    each listener, and where it really listens. descriptors: counts what connections need of the
    process's open files, with other proxies in it. counted: takes flows that nobody needs one by
    one. native: False to have asyncio move all bytes, also those that the loop in C could.
    """

    def __init__(
        self,
        listeners: Iterable[Listener] = (),
        *,
        sinks: Iterable[Sink] = (),
        wants: Wants = tap_everything,
        limits: Limits | None = None,
        copies: Copies | None = None,
        filters: Filters | None = None,
        held: Copies | None = None,
        opened: Callable[[Listener, Address], None] | None = None,
        descriptors: Descriptors | None = None,
        counted: Callable[[CountedFlows], None] = lambda counted: None,
        native: bool = True,
    ) -> None:
        self._initial = tuple(listeners)
        self._sinks = tuple(sinks)
        self._wants = wants
        self._limits = limits or Limits()
        self._servers: dict[Listener, asyncio.Server] = {}
        self._addresses: dict[Listener, Address] = {}
        self._open_listeners: dict[Listener, _OpenListener] = {}
        self._relays: dict[Relay, Listener] = {}
        self._handshakes: set[Handshake] = set()
        self._connection_counts = ConnectionCounts(self._limits, descriptors or Descriptors())
        self._dials = NodeDials()
        self._failures = ReportedTexts(FAILURES)
        self._numbers = count(1)
        self._empty = asyncio.Event()
        self._ticker: asyncio.TimerHandle | None = None
        self._opened = opened
        self.filters = filters
        self.copies = copies or Copies()
        self.held = held or Copies(copy_limit=FRAME_HELD)
        self._counted = counted
        self._native = tuple(
            NativeLoop(self._emit, self._count, wants, self.copies, self._limits)
            for _ in range(self._limits.threads if native and IS_BUILT else 0)
        )

    @property
    def addresses(self) -> Mapping[Listener, Address]:
        """The address of each listener, with the port that the system chose."""
        return dict(self._addresses)

    @property
    def connections(self) -> tuple[ClientConnection, ...]:
        """The connections that are open now."""
        return tuple(relay.connection for relay in self._relays)

    async def __aenter__(self) -> Self:
        self._tick()
        try:
            for listener in self._initial:
                await self.listen(listener)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def listen(self, listener: Listener, at: Address | None = None) -> Address:
        """Listen in front of one more node; return the address, with the port that was chosen.

        at: where, if the listener leaves the port open. Raises CannotListen, BadTls.
        """
        loop = asyncio.get_running_loop()
        at = at or listener.listen
        host, port = at.host, at.port
        # Before the port is taken: a bad certificate leaves nothing to undo.
        open_listener = _OpenListener(listener, self._limits, self._dials)
        try:
            server = await loop.create_server(
                lambda: self._accept(open_listener), host, port, backlog=AT_ONCE
            )
            if isinstance(server, asyncio.Server):  # another loop's has no socket of the system
                _lengthen_backlog(server)
        except OSError as error:
            reason = why_not_bound(error)
            raise CannotListen(f"cannot listen at {at}: {reason}") from error
        name = server.sockets[0].getsockname()
        if replace(listener, listen=Address(host, name[1])).connects_to_itself:
            server.close()
            raise CannotListen(f"cannot listen at {at}: the proxy would connect to itself")
        self._servers[listener] = server
        self._open_listeners[listener] = open_listener
        self._addresses[listener] = address = Address(name[0], name[1])
        if self._opened is not None:
            self._opened(listener, address)
        return address

    def renew(self, listener: Listener) -> Callable[[], None]:
        """Read its certificates and keys again, for the connections to come.

        Return a function that undoes it.

        Raises BadTls, and keeps those of before.
        """
        open_listener = self._open_listeners[listener]
        before = open_listener.tls, open_listener.upstream
        open_listener.load()
        self._failures.forget_all()

        def undo() -> None:
            open_listener.tls, open_listener.upstream = before

        return undo

    def tell(self, notice: Notice) -> None:
        """Send a notice to the sinks, from somebody who looks at what passes."""
        self._emit(notice)

    def look_again(self) -> None:
        """Ask `wants` again, of which the answers may have changed, and the limit of copies."""
        for native in self._native:
            native.look_again()

    def add_sink(self, sink: Sink) -> None:
        """Send events to one more sink, from now on."""
        self._sinks += (sink,)

    def tell_about(self, listener: Listener, kind: NoticeKind, text: str, client: str = "") -> None:
        """Send a notice about a node to the sinks, where no connection is concerned."""
        connection = self._connection(listener, client)
        self._emit(Notice(connection=connection, at=time.time(), kind=kind, text=text))

    def is_used(self, listener: Listener) -> bool:
        """Return True while a client is connected there."""
        return listener in self._relays.values()

    async def is_kafka(self, listener: Listener, node: Address | None = None) -> bool:
        """Connect to the node once; return True if it is reached, and answers if it is guarded.

        node: another one, which has to answer as Kafka does.
        """
        upstream = self._open_listeners[listener].upstream
        if node is not None:
            timeout = min(upstream.timeout, ANSWER_TIME)
            dials = (self._dials.of(node),)
            upstream = replace(upstream, targets=(node,), timeout=timeout, dials=dials, prove=True)
        return await reach(upstream, _HangUp(), lambda target: None) is None

    async def unlisten(self, listener: Listener) -> None:
        """Accept no more in front of a node; the connections stay."""
        del self._addresses[listener], self._open_listeners[listener]
        await stop_accepting(self._servers.pop(listener))

    def cut(self, listener: Listener, reason: str) -> None:
        """Close the connections that have come to a listener."""
        for relay in [relay for relay, at in self._relays.items() if at == listener]:
            relay.abort(reason)

    async def drain(self, seconds: float, listener: Listener | None = None) -> None:
        """Take no more requests; close each connection when all is answered, or after this time.

        listener: only those that have come there so far; else all, and none is accepted any more.
        """
        if listener is None:
            await stop_accepting(*self._servers.values())
        targets = {relay for relay, at in self._relays.items() if at == listener}
        end = time.monotonic() + seconds
        while relays := [relay for relay in self._relays if listener is None or relay in targets]:
            now = time.monotonic()
            for relay in relays:
                # Called again and again: a relay takes its next step when it can.
                if now < end:
                    relay.finish("the proxy drains", now)
                else:
                    relay.abort("the proxy drains, and this took too long")
            await asyncio.sleep(DRAIN_LOOK)

    async def close(self) -> None:
        """Stop listening, cut every connection, and return when nothing is left of them."""
        if self._ticker is not None:
            self._ticker.cancel()
        await stop_accepting(*self._servers.values())
        for handshake in tuple(self._handshakes):
            handshake.abort()
            await handshake.ended
        # A client may be accepted between the stop of a server and its end: look again.
        while self._relays:
            self._empty.clear()
            for relay in tuple(self._relays):
                relay.abort("the proxy stops")
            await self._empty.wait()
        for server in self._servers.values():
            await server.wait_closed()
        self._servers.clear()
        for native in self._native:
            await native.close()

    def _accept(self, open_listener: _OpenListener) -> asyncio.Protocol:
        return Admission(
            self._connection_counts,
            lambda host: self._serve(open_listener, host),
            lambda client, reason: self._report(
                NoticeKind.REFUSED, open_listener, client, f"is refused: {reason}"
            ),
        )

    def _serve(self, open_listener: _OpenListener, host: str) -> asyncio.Protocol:
        if open_listener.tls is None:
            return self._relay(open_listener, host)
        handshake = Handshake(
            open_listener.tls,
            self._limits.connect,
            lambda early: self._relay(open_listener, host, early),
            lambda client, reason: self._report(
                NoticeKind.HANDSHAKE_FAILED, open_listener, client, reason
            ),
        )
        self._handshakes.add(handshake)
        self._connection_counts.add(host)
        handshake.ended.add_done_callback(lambda _: self._handshake_ended(handshake, host))
        return handshake

    def _handshake_ended(self, handshake: Handshake, host: str) -> None:
        self._handshakes.discard(handshake)
        self._connection_counts.descriptors.keep()
        self._connection_counts.remove(host)

    def _report(
        self, kind: NoticeKind, open_listener: _OpenListener, client: Address, reason: str
    ) -> None:
        self.tell_about(open_listener.listener, kind, f"{client.host} {reason}", str(client))

    def _connection(self, listener: Listener, client: str = "") -> ClientConnection:
        return ClientConnection(
            number=next(self._numbers),
            node_id=listener.node_id,
            client=client,
            upstream=str(listener.upstream),
            at=time.time(),
        )

    def _relay(self, open_listener: _OpenListener, host: str, early: bytes = b"") -> Side:
        connection = self._connection(open_listener.listener)
        framing = Framing(self._wants, self.copies, self._limits.request_size)
        guard = open_listener.listener.guard
        make_own = PairingWithOwn if guard is None else partial(GuardedPairing, guard)
        pairing: Pairing
        make_stage: Callable[[Transport], FilterStage]
        if self.filters is None:
            make_pairing = Pairing if guard is None else make_own
            pairing, make_stage = make_pairing(connection, self._emit, self.copies), FilterStage
        else:
            pairing = own = make_own(connection, self._emit, self.copies)
            make_stage = partial(FilterRunner, self.filters, own, self.held)
        relay = Relay(
            connection,
            open_listener.upstream,
            pairing,
            framing,
            make_stage,
            limits=self._limits,
            sink=self._emit,
            reached=self._connection_counts.descriptors.keep,
            gone=partial(self._forget, host),
            native=self._native if type(pairing) is Pairing else (),
        )
        self._connection_counts.add(host)
        relay.client.early = early
        self._relays[relay] = open_listener.listener
        return relay.client

    def _forget(self, host: str, relay: Relay) -> None:
        self._relays.pop(relay, None)
        if not relay.has_reached:
            self._connection_counts.descriptors.keep()
        self._connection_counts.remove(host)
        if not self._relays:
            self._empty.set()

    def _emit(self, event: Event) -> None:
        if (
            type(event) is Notice
            and event.kind is NoticeKind.HANDSHAKE_FAILED
            and not self._failures.is_first(event.text)  # a peer may try again and again
        ):
            return
        for sink in self._sinks:
            try:
                sink(event)
            except Exception:
                # Traffic must not depend on who looks at it.
                logger.exception("a sink failed and gets no more events: %r", sink)
                self._sinks = tuple(other for other in self._sinks if other is not sink)

    def _count(self, counted: CountedFlows) -> None:
        try:
            self._counted(counted)
        except Exception:
            logger.exception("what counts flows failed and gets no more: %r", self._counted)
            self._counted = lambda counted: None

    def _tick(self) -> None:
        loop, now = asyncio.get_running_loop(), time.monotonic()
        for relay in self._relays:
            loop.call_soon(relay.check, now)  # each by itself: a mistake in one stops no other
        for native in self._native:
            loop.call_soon(native.look, now)
        self._ticker = loop.call_later(self._limits.tick, self._tick)


def _lengthen_backlog(server: asyncio.Server) -> None:
    """Let more connections wait than are accepted at once: asyncio has one number for both."""
    for listening in server.sockets:
        with socket.fromfd(listening.fileno(), listening.family, listening.type) as same:
            same.listen(BACKLOG)


class _HangUp(asyncio.Protocol):
    """Closes a connection at once: that it could be opened is all that is asked."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        transport.close()


class _OpenListener:
    """A listener with its certificates read, and the way to its node. Raises BadTls."""

    tls: SSLContext | None
    upstream: Upstream

    def __init__(self, listener: Listener, limits: Limits, dials: NodeDials) -> None:
        self.listener = listener
        self._limits = limits
        self._dials = dials
        self.load()

    def load(self) -> None:
        """Read certificates and keys. Raises BadTls, and changes nothing then."""
        listener, with_node = self.listener, self.listener.upstream_tls
        tls = None if listener.tls is None else listener.tls.context()
        # New contexts are put in place together, at the end: all of a new pair of files is used,
        # or none (decision 17).
        context = None if with_node is None else with_node.context()
        name = None if with_node is None else with_node.name
        targets = (listener.upstream, *listener.standbys)
        prove = listener.guard is not None
        dials = tuple(map(self._dials.of, targets))
        self.upstream = Upstream(targets, self._limits.connect, dials, context, name, prove)
        self.tls = tls
