"""One client connection and the one to its node: bytes cross as they come, in both directions.

A side that cannot be written to stops the reading of the other, so that a slow reader costs its own
connection speed and the proxy no memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from ssl import SSLError

from kwire.net.address import Address
from kwire.net.tls import handshake_failure
from kwire.proxy.data_path.departure import Departure
from kwire.proxy.data_path.followed_frames import FollowedFrames
from kwire.proxy.data_path.framer import Framing, RequestFramer, ResponseFramer
from kwire.proxy.data_path.listener import Limits
from kwire.proxy.data_path.native_loop import NativeLoop
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.data_path.pass_through import FilterStage, Transport, Write
from kwire.proxy.data_path.reach import Upstream, reach
from kwire.proxy.data_path.side import Side
from kwire.proxy.flows.flow import ClientConnection, Notice, NoticeKind, Sink
from kwire.proxy.flows.interest import Direction

LINGER = 0.5
"""Seconds that a client has to read its last answers before what it sent since is refused."""


class Relay:
    """Both sides of one connection, from accept to the last close.

    upstream: the node, and what to connect to in turn where it does not accept. make_stage: makes
    what stands between framers and writers. reached: is called when the node's socket is open;
    gone: when both are closed. native: of these loops one moves the bytes while nothing on the
    connection is unusual.
    """

    def __init__(
        self,
        connection: ClientConnection,
        upstream: Upstream,
        pairing: Pairing,
        framing: Framing,
        make_stage: Callable[[Transport], FilterStage],
        *,
        limits: Limits,
        sink: Sink,
        reached: Callable[[], None],
        gone: Callable[[Relay], None],
        native: Sequence[NativeLoop] = (),
    ) -> None:
        self._connection = connection
        self._upstream = upstream
        self._pairing = pairing
        self._limits = limits
        self._sink = sink
        self._reached = reached
        self._gone = gone
        self._connecting: asyncio.Task[None] | None = None
        self._closing_since: float | None = None
        self._finished: float | None = None
        self._unsent = 0
        self._reason = self._broken_off = ""
        self._opened = self._settled = self._finishing = False
        self.opened = self.moved = time.monotonic()
        # The two pipelines: a side's socket, its framer, the stage, the other side's socket.
        self.client, self.node = Side(self), Side(self)
        self._stage = stage = make_stage(_RelayTransport(self))
        self._requests = RequestFramer(pairing, framing, stage.requests)
        responses = ResponseFramer(pairing, framing, stage.responses)
        self.client.join(self.node, self._requests)
        self.node.join(self.client, responses)
        self._departure = (
            Departure(self, native, FollowedFrames(pairing, self._requests, responses))
            if native
            else None
        )

    @property
    def connection(self) -> ClientConnection:
        """The connection, as flows and notices name it."""
        return self._connection

    @property
    def is_closing(self) -> bool:
        """True once it is to end."""
        return self._closing_since is not None

    @property
    def is_finishing(self) -> bool:
        """True once it is to take no more requests."""
        return self._finishing

    @property
    def _is_away(self) -> bool:
        return self._departure is not None and self._departure.is_away

    def closed_last(self, side: Side) -> None:
        """Report the end: both sides have closed, this one last."""
        self._begin_closing(f"{self._peer_name(side)} closed last")
        self.settle()

    @property
    def has_reached(self) -> bool:
        """True once the node's socket has been open."""
        return self._opened

    def side_connected(self, side: Side) -> None:
        """Reach for the node when the client is there; read the client when the node is."""
        if side is self.client:
            self._connection.client = _name(side.transport)
        # The client may have gone, or the proxy stopped, while the node was being reached.
        if self._closing_since is not None:
            side.abort()
        elif side is self.client:
            # Unread bytes stay in the client's socket, and hold it back, until the node is there.
            self.client.pause_reading()
            self._stage.connect(self._reach)
        else:
            self._opened = True
            self._reached()
            reached = f"{self._connection.client} reached {self._connection.upstream}"
            self._notice(NoticeKind.OPENED, reached)
            self.client.start()

    def side_ending(self, side: Side, error: Exception | None = None) -> None:
        """Report a side that ends inside a frame."""
        if side.progress and self._closing_since is None:
            # The first end inside a frame is the cause; what follows from it would hide it.
            self._broken_off = f"{self._describe_end(side, error)} {side.progress}"
            self._notice(NoticeKind.BROKEN_OFF, self._broken_off)

    def last_byte_came(self, side: Side) -> None:
        """Tell the filters that no more will come from a side, and close if the node's end has."""
        self._stage.input_ended(self._direction_from(side))
        if side is self.client and self.node.end_passed:
            self._close(f"{self._peer_name(side)} closed last")

    def end_passed_on(self, side: Side) -> None:
        """Close when both sides have ended and nothing that they sent is held.

        Close, too, where a client that speaks TLS cannot be told that only one direction has ended:
        no answer can come any more.
        """
        self._stage.output_ended(self._direction_from(side))
        # Until both have ended the other direction stays open: a client may end its requests and
        # still read the answers.
        if self.client.eof and self.node.eof:
            self._close(f"{self._peer_name(side)} closed last")
        # One direction of TLS cannot be ended alone (decision 17).
        elif side is self.client and self._done_over_tls:
            self.node.close()
        elif side is self.node and not self.client.can_half_close:
            self._close(self._describe_end(side, None))

    @property
    def _done_over_tls(self) -> bool:
        """True if the node's TLS cannot end one direction, and the node has answered everything."""
        return not self.node.can_half_close and self._all_answered

    def side_lost(self, side: Side, error: Exception | None) -> None:
        """Close the other side when what the lost one sent last has reached it."""
        self._begin_closing(self._describe_end(side, error))
        if side is self.node:
            # An error ends a login as well; requests may still come while answers are written.
            self._connection.login = None
        if self._connecting is not None:
            self._connecting.cancel()
        # What a client that is gone sent has no reader of its answers left; what a node sent last
        # may still be with filters, and its client is there to read it.
        if side is self.client or self.nothing_held(side):
            (self.node if side is self.client else self.client).close()
        else:
            self._stage.input_ended(Direction.RESPONSE)
        self.settle()

    def nothing_held(self, side: Side) -> bool:
        """Return True if nothing that a side sent is held by filters."""
        return self._stage.is_empty(self._direction_from(side))

    def drained(self, side: Side) -> None:
        """Pass a side's end on, if it has come: nothing that came from it is held any more."""
        if side.over:
            (self.node if side is self.client else self.client).close()
        elif side.eof:
            side.pass_end_on()

    def check(self, now: float) -> None:
        """Close what takes too long; leave, if nothing does. now: of the monotonic clock."""
        if self._is_away:
            return  # its loop looks at it
        if self._closing_since is not None:
            # A slow reader keeps its connection for as long as it reads at all.
            unsent = self.client.unsent + self.node.unsent
            if unsent < self._unsent or self._filters_decide:
                self._unsent, self._closing_since = unsent, now
            elif now - self._closing_since > self._limits.drain:
                self._abort_sides()
        elif self._opened and self.client.eof and self._done_over_tls:
            self.node.close()
        elif reason := self._overdue(now):
            self._notice(NoticeKind.TIMED_OUT, reason)
            self.abort(reason)
        elif self._opened and self._finished is None and self._departure is not None:
            self._departure.leave(now)

    def finish(self, reason: str, now: float) -> None:
        """Take no more requests, and close when those that came are answered.

        Where that cannot be seen, as with TLS that passes, the peers end it. To be called until the
        relay is gone. now: of the monotonic clock.
        """
        self._finishing = True
        if self._departure is not None and self._departure.is_away:
            self._departure.take_back()
            return
        opaque = self.client.opaque or self.node.opaque
        # Steps: stop reading between frames; when all is answered, end the client's stream; after
        # LINGER close. To close at once would reset a client that has just sent something, and take
        # the answers that it has not read with it (decision 16).
        if not self._opened:
            self.abort(reason)
        elif opaque or self._closing_since is not None or not self.client.stop_reading():
            return
        elif self._finished is None and self._all_answered:
            self._finished = now
            self.client.finish()
        elif self._finished is not None and now - self._finished > LINGER:
            self._begin_closing(reason)
            self.client.close()
            self.node.close()

    @property
    def _all_answered(self) -> bool:
        # Bare SASL tokens have no flows: their answers are only counted.
        waits = self._pairing.first is not None or self._pairing.token_responses > 0
        return not waits and self.nothing_held(self.client) and self.nothing_held(self.node)

    def abort(self, reason: str) -> None:
        """Close at once, whatever is under way."""
        self._begin_closing(reason)
        if self._connecting is not None:
            self._connecting.cancel()
        if self._departure is not None and self._departure.is_away:
            self._departure.take_back()
        else:
            self._abort_sides()

    def _reach(self) -> None:
        # A filter may have taken its time over the client, which may have gone meanwhile.
        if self._closing_since is None:
            self._connecting = asyncio.get_running_loop().create_task(self._connect())
            # Not within it: nothing runs of a task that is cancelled before its first step.
            self._connecting.add_done_callback(self._connect_ended)

    async def _connect(self) -> None:
        refusal = await reach(self._upstream, self.node, self._tried)
        if refusal is not None:
            kind = NoticeKind.HANDSHAKE_FAILED if refusal.of_tls else NoticeKind.REFUSED
            self._notice(kind, refusal.reason)
            self._begin_closing(refusal.reason)
            self.client.close()

    def _connect_ended(self, task: asyncio.Task[None]) -> None:
        self._connecting = None
        self.settle()

    def _tried(self, target: Address) -> None:
        self._connection.upstream = str(target)

    def _overdue(self, now: float) -> str:
        limits = self._limits
        if self._connecting is not None:
            return ""  # that has a limit of its own
        if now - self.moved > limits.idle:
            return f"not a byte in {limits.idle:g} s"
        if not self._opened:
            return ""
        if self.client.silent and now - self.opened > limits.first_frame:
            return f"no request in {limits.first_frame:g} s"
        began, login = self._requests.login_began, self._connection.login
        is_in = login is not None and login.is_in(now)
        if began is not None and now - began > limits.login and not is_in:
            return f"no request but those of a login in {limits.login:g} s"
        for side in (self.client, self.node):
            if side.stuck(now, limits):
                peer = self._peer_name(side)
                if side.holds_frame:
                    return f"{peer} did not send the whole of a frame that filters wait for in time"
                return f"{peer} began a frame and sent no more for {limits.progress:g} s"
        return ""

    @property
    def _filters_decide(self) -> bool:
        """True if what a node that is gone sent last is still held for a client that is there."""
        return self.node.over and not self.client.over and not self.nothing_held(self.node)

    def _close(self, reason: str) -> None:
        """Close both ends when what waits has been sent."""
        self._begin_closing(reason)
        self.client.close()
        self.node.close()

    def _begin_closing(self, reason: str) -> None:
        if self._closing_since is None:
            self._closing_since = time.monotonic()
            self._unsent = self.client.unsent + self.node.unsent
            self._reason = self._broken_off or reason

    def _abort_sides(self) -> None:
        self.client.abort()
        self.node.abort()

    def settle(self) -> None:
        """Report the end when both sockets are gone and none is on its way."""
        # A node that was never reached has no socket that could go.
        if self._is_away:
            return
        node_over = self.node.over or self.node.transport is None
        if not (self.client.over and node_over) or self._connecting is not None or self._settled:
            return
        self._settled = True
        self._stage.close()
        self._pairing.close(f"the connection ended: {self._reason}")
        if self._opened:
            self._notice(NoticeKind.CLOSED, self._reason)
        self._gone(self)

    def _direction_from(self, side: Side) -> Direction:
        return Direction.REQUEST if side is self.client else Direction.RESPONSE

    def _describe_end(self, side: Side, error: Exception | None) -> str:
        """Describe how a side ended."""
        reason = handshake_failure(error) if isinstance(error, SSLError) else error or "closed"
        return f"{self._peer_name(side)} {reason}"

    def _peer_name(self, side: Side) -> str:
        if side is self.client:
            return "the client"
        node_id = self._connection.node_id
        return "the node" if node_id is None else f"node {node_id}"

    def _notice(self, kind: NoticeKind, text: str) -> None:
        self._sink(Notice(connection=self._connection, at=time.time(), kind=kind, text=text))


class _RelayTransport:
    """The Transport that filters use: a relay's two sides."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    def _source(self, direction: Direction) -> Side:
        return self._relay.client if direction is Direction.REQUEST else self._relay.node

    def writer(self, direction: Direction) -> Write:
        """Return the function that writes to the peer that this direction leads to."""
        relay = self._relay
        return (relay.node if direction is Direction.REQUEST else relay.client).write

    def set_crowded(self, direction: Direction, crowded: bool) -> None:
        """Stop reading from the peer that this direction comes from, or read on."""
        self._source(direction).set_crowded(crowded)

    def drained(self, direction: Direction) -> None:
        """Pass the end of this direction on, if it has come."""
        self._relay.drained(self._source(direction))

    def call_later(self, seconds: float, act: Callable[[], None]) -> asyncio.TimerHandle:
        """Call `act` after this time."""
        return asyncio.get_running_loop().call_later(seconds, act)

    def clock(self) -> float:
        """Return the monotonic clock's time."""
        return time.monotonic()

    def abort(self, reason: str) -> None:
        """Close both sides as soon as the current call has returned."""
        # Not at once: the caller is in the middle of a gate's queue.
        asyncio.get_running_loop().call_soon(self._relay.abort, reason)


def _name(transport: asyncio.Transport | None) -> str:
    host, port = (transport.get_extra_info("peername") if transport else None) or ("?", 0)
    return str(Address(host, port))
