"""Filters: plain classes whose methods see messages while these wait for them.

A method is named after its message, `on_vote_request` or `on_fetch_response`; `on_request` and
`on_response` see every message of the APIs in `apis`. It may change the message, and it returns
what is to become of it: None to send it on, or an action. It is a function or a coroutine; what a
coroutine may await is what its call offers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.errors import LocalError
from kwire.messages.registry import api_name
from kwire.proxy.flows.effort import LOOKS, Effort
from kwire.proxy.flows.flow import ClientConnection, Effect, Flow
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.match_target import MatchTarget

T = TypeVar("T")
M = TypeVar("M", bound=Callable[..., Any])
R = TypeVar("R", bound=Response)


@dataclass(frozen=True, slots=True)
class Delay:
    """Wait this many seconds, then do `then`. What comes behind on the connection waits as well."""

    seconds: float
    then: Action | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Send the message nowhere. A client gets no answer to a dropped request, and waits."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection at both ends."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Keep the message, and everything behind it on the connection, until the connection ends."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a request with this instead of asking the node, or replace the node's answer.

    effect, note: shown with the flow; by default that this filter answered.
    """

    response: Response
    effect: Effect = Effect.ANSWERED
    note: str = ""


Action = Delay | Drop | Close | Stall | Answer
FilterVerdict = Action | None
HandlerResult = FilterVerdict | Awaitable[FilterVerdict]


class Misuse(LocalError):
    """A method of a filter returned, awaited or raised what it must not."""


class Step(Generic[T]):
    """An awaitable of a filter's coroutine, which the FilterRunner carries out.

    ends_with_client: cut the connection when the client has sent its last byte, since Kafka's
    clients do not wait for answers after that.
    """

    ends_with_client: bool = False

    def __await__(self) -> Generator[Step[T], T, T]:
        return (yield self)


@dataclass(frozen=True, slots=True)
class Pause(Step[None]):
    """Let seconds pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ask(Step[Response]):
    """Send a request of the filter's own to the node."""

    request: Request
    version: int


@dataclass(frozen=True, slots=True)
class Until(Step[T]):
    """Wait until a callback is called. begin: gets that callback; call it once, with a value."""

    begin: Callable[[Callable[[T], None]], None]
    ends_with_client: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """The EnvelopeRequest or EnvelopeResponse around a message that a broker forwards (KIP-590)."""

    message: Request | Response
    call: Call


@dataclass(slots=True, eq=False)
class Call:
    """The facts about the message at hand, and the awaitables of its filter.

    size: bytes of its frame. request: of a response, the request as it was sent on, where filters
    have seen it. now: seconds of a steady clock, when the message was whole. envelope: what the
    message came in, where a broker forwarded it; the flow is that of the message inside then.
    effort: what filters have done with the message so far, inside its Envelope, too.
    """

    flow: Flow
    size: int
    now: float
    request: Request | None = None
    envelope: Envelope | None = None
    effort: Effort = field(default_factory=Effort)

    @property
    def connection(self) -> ClientConnection:
        """The connection that the message came on."""
        return self.flow.connection

    @property
    def version(self) -> int:
        """The version of the request, which the response has, too."""
        return self.flow.version

    def pause(self, seconds: float) -> Awaitable[None]:
        """Await this to let time pass."""
        return Pause(seconds)

    def ask(self, request: Request, version: int | None = None) -> Awaitable[Response]:
        """Await this for the node's answer to a request of your own, at its latest version."""
        latest = type(request).versions.last
        return Ask(request, latest if version is None else version)

    def until(
        self, begin: Callable[[Callable[[T], None]], None], *, ends_with_client: bool = False
    ) -> Awaitable[T]:
        """Await this for the value that the callback given to `begin` is called with; see Until."""
        return Until(begin, ends_with_client)

    def match_target(self, message: Request | Response) -> MatchTarget:
        """Return what the filter language can ask about the message at hand.

        That is a request before the node has seen it, or a response before the client has.
        """
        if isinstance(message, Request):
            return MatchTarget(self.flow, self.size, message, effort=self.effort)
        return MatchTarget(self.flow, self.size, self.request, message, effort=self.effort)

    def matches(self, match: Expression, target: MatchTarget) -> bool:
        """Return True if an expression is known to hold.

        Raises Misuse where it does not hold for all that was looked at, but that was not all.
        """
        if match(target):
            return True
        if target.is_cut:
            raise Misuse(
                f"not all of the message was compared: more than {LOOKS} values are too many; "
                "~api, ~client or ~size before a comparison spares it other messages"
            )
        return False

    def note(self, text: str) -> None:
        """Add a text to the flow, for its viewers."""
        self.flow.notes += (text,)


class Filter:
    """The base of filters. apis: those that on_request and on_response see; None for all.

    looks_inside: its methods also see the messages that come in an Envelope. marks_changes:
    it notes its changes on flows itself, so that "changed by a filter" is not noted for them.
    """

    apis: frozenset[str] | None = None
    looks_inside = True
    marks_changes = False

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """Return True if on_request or on_response is to see such messages. Called once a kind."""
        return self.apis is None or api_name(key) in self.apis

    def must_see(self, key: int, direction: Direction, size: int) -> bool:
        """Return True if a message that it wants must not pass it for want of room to hold it.

        The connection is closed then. size: bytes of its frame.
        """
        return False

    @property
    def name(self) -> str:
        """The name in notes and notices."""
        return type(self).__name__

    def on_connect(self, connection: ClientConnection) -> HandlerResult:
        """Decide about a client that has connected, before the node is reached."""
        return None

    def on_request(self, request: Request, call: Call) -> HandlerResult:
        """Decide about a request of any API, also of those with a method of their own."""
        return None

    def on_response(self, response: Response, call: Call) -> HandlerResult:
        """Decide about a response of any API, also of those with a method of their own."""
        return None


def at(versions: str) -> Callable[[M], M]:
    """Decorate a method that is for some versions of its message only: `@at("4-17")`."""

    def mark(method: M) -> M:
        cast(Any, method).versions = Versions(versions)
        return method

    return mark
