"""A flow is one RPC: a request, what became of it, and the connection that carried it.

Flows and notices are the one stream of events that leaves the data path; a sink takes them as they
happen. Times named `at` are Unix seconds; a latency is measured on a clock that never steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from kwire.messages.registry import api_name
from kwire.proxy.flows.login import ObservedLogin
from kwire.proxy.flows.text import printable


@dataclass(slots=True, eq=False, kw_only=True)
class ClientConnection:
    """One client connection and the node behind it.

    number: counts from 1 in one proxy. node_id: the node that the listener stands for, None where
    it is not known. client, upstream: `host:port`. client_id: the latest one seen. peer: the node
    id of the client, where it is a node and has shown it. login: of the client by SASL, once it has
    begun and a filter follows it. paired: False once a response may have been taken for the answer
    to another request than its own; nothing is decided by responses then.
    """

    number: int
    node_id: int | None
    client: str
    upstream: str
    at: float
    client_id: str | None = None
    peer: int | None = None
    login: ObservedLogin | None = None
    paired: bool = True


class Outcome(Enum):
    """The fate of a request."""

    PENDING = "pending"
    ANSWERED = "answered"
    NO_RESPONSE = "asks for no response"
    LOST = "no response"


class Effect(Enum):
    """Something that filters did to a message. HELD: they looked at it, whatever came of that.

    REWRITTEN: the proxy's addresses were written over the nodes'; CHANGED: anything else.
    ROUTED: another node than the listener's answered. SIMULATED: what was answered is not so.
    """

    HELD = "held"
    DELAYED = "delayed"
    CHANGED = "changed"
    REWRITTEN = "rewritten"
    ANSWERED = "answered"
    ROUTED = "routed"
    SIMULATED = "simulated"
    DROPPED = "dropped"
    CLOSED = "closed"
    STALLED = "stalled"


@dataclass(slots=True, eq=False)
class Flow:
    """One RPC.

    asked, answered: when the heads of request and response came, seconds of a steady clock.
    request_size, response_size: bytes on the wire, without the four of the size itself.
    request_copy, response_copy: the frame without its size, where it was tapped; shorter than the
    size where the copy was cut. problems: what the proxy could not do with it, a sentence each.
    notes: what filters did to it, in words; effects: the same to be counted.
    request_body: the request that filters have seen, until its flow has ended.
    """

    connection: ClientConnection
    key: int
    version: int
    correlation_id: int
    client_id: str | None
    at: float
    asked: float
    request_size: int
    answered: float | None = None
    response_size: int | None = None
    request_copy: bytes | None = field(default=None, repr=False)
    response_copy: bytes | None = field(default=None, repr=False)
    outcome: Outcome = Outcome.PENDING
    problems: list[str] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    request_body: object = field(default=None, repr=False)

    @property
    def sender(self) -> str:
        """The client's node id, client id or address, whichever is known first; printable."""
        peer = self.connection.peer
        return (
            f"node {peer}"
            if peer is not None
            else printable(self.client_id or self.connection.client)
        )

    @property
    def api(self) -> str:
        """The name of the API, `API 9999` where there is none."""
        return api_name(self.key)

    @property
    def latency(self) -> float | None:
        """Seconds from the head of the request to the head of the response; None without one.

        None, too, where packets had no times.
        """
        return None if self.answered is None or not self.at else self.answered - self.asked

    @property
    def handling(self) -> str:
        """`passed` if the node answered, else `answered` by the proxy, `routed` to another
        node, or `simulated`."""
        marks = (Effect.SIMULATED, Effect.ROUTED, Effect.ANSWERED)
        return next((mark.name.lower() for mark in marks if mark in self.effects), "passed")

    def add_effect(self, effect: Effect, note: str) -> None:
        """Note that a filter did something to it."""
        self.effects += (effect,)
        self.notes += (note,)

    @property
    def weight(self) -> int:
        """Bytes that keeping this flow costs, roughly."""
        return FLOW_WEIGHT + len(self.request_copy or b"") + len(self.response_copy or b"")


FLOW_WEIGHT = 512
"""Bytes of a flow without its copies."""


class NoticeKind(Enum):
    """The subject of a notice."""

    OPENED = "opened"
    CLOSED = "closed"
    REFUSED = "refused"
    UNREADABLE = "unreadable"
    NOT_CAPTURED = "not captured"
    TIMED_OUT = "timed out"
    BROKEN_OFF = "broken off"
    FILTER_FAILED = "filter failed"
    FILTER_SLOW = "filter slow"
    NOT_FILTERED = "not filtered"
    BYPASSED = "bypassed"
    ADDRESS_REFUSED = "address refused"
    SASL_TOKENS = "SASL tokens"
    HANDSHAKE_FAILED = "TLS handshake failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something about a connection that is no RPC, in one sentence."""

    connection: ClientConnection
    at: float
    kind: NoticeKind
    text: str

    @property
    def weight(self) -> int:
        """Bytes that keeping this notice costs, roughly."""
        return FLOW_WEIGHT


Event = Flow | Notice

Sink = Callable[[Event], None]
"""Takes each flow when it has ended, and each notice. It is called in the data path: be quick."""
