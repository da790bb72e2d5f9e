"""Filters: plain classes whose methods see messages while these wait for them.

A method is named after its message, `on_vote_request` or `on_fetch_response`; `on_request` and
`on_response` see every message of the APIs in `apis`. It may change the message, and it returns
what is to become of it: None to send it on, or an action. It is a function or a coroutine; what a
coroutine may await is what its call offers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.errors import LocalError
from kwire.messages.registry import api_name
from kwire.proxy.flows.flow import ClientConnection, Effect, Flow
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.subject import MatchTarget

T = TypeVar("T")
M = TypeVar("M", bound=Callable[..., Any])
R = TypeVar("R", bound=Response)


@dataclass(frozen=True, slots=True)
class Delay:
    """Wait this many seconds, and what comes behind on the connection with it; then `then`."""

    seconds: float
    then: Action | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Send it nowhere. A client that waits for the answer to a dropped request waits in vain."""


@dataclass(frozen=True, slots=True)
class Close:
    """Cut the connection, at both ends."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Keep it, and everything behind it on the connection, until the connection ends."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a request with this instead of asking the node, or replace the node's answer.

    effect, note: what viewers of the flow are told; by default that this filter answered.
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
    """What a coroutine of a filter can await; whoever moves the bytes does it."""

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
    """Wait until a callback is called. begin: gets that callback; call it once, with a value.

    ends_with_client: cut the connection when the client has sent its last byte, since Kafka's
    clients do not wait for answers after that.
    """

    begin: Callable[[Callable[[T], None]], None]
    ends_with_client: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """What a broker forwarded a message in (KIP-590): an EnvelopeRequest, or -Response."""

    message: Request | Response
    call: Call


@dataclass(slots=True, eq=False)
class Call:
    """What a filter knows about the message at hand.

    size: bytes of its frame. request: of a response, the request as it was sent on, where filters
    have seen it. now: seconds of a steady clock, when the message was whole. envelope: what the
    message came in, where a broker forwarded it; the flow is that of the message inside then.
    """

    flow: Flow
    size: int
    now: float
    request: Request | None = None
    envelope: Envelope | None = None

    @property
    def connection(self) -> ClientConnection:
        """Where the message came from."""
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
            return MatchTarget(self.flow, self.size, message)
        return MatchTarget(self.flow, self.size, self.request, message)

    def note(self, text: str) -> None:
        """Tell viewers of the flow something."""
        self.flow.notes += (text,)


class Filter:
    """The base of filters. apis: names of the APIs that on_request and on_response see, or all.

    looks_inside: whether its methods also see the messages that come in an Envelope. marks_changes:
    whether it tells flows itself what it changes, which "changed by a filter" then does not mean.
    """

    apis: frozenset[str] | None = None
    looks_inside = True
    marks_changes = False

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """Whether on_request or on_response is to see such messages; asked once for each kind."""
        return self.apis is None or api_name(key) in self.apis

    @property
    def name(self) -> str:
        """What notes and notices call it."""
        return type(self).__name__

    def on_connect(self, connection: ClientConnection) -> HandlerResult:
        """A client has connected; the node has not been reached yet."""
        return None

    def on_request(self, request: Request, call: Call) -> HandlerResult:
        """A request, whichever; those with a method of their own as well."""
        return None

    def on_response(self, response: Response, call: Call) -> HandlerResult:
        """A response, whichever; those with a method of their own as well."""
        return None


def at(versions: str) -> Callable[[M], M]:
    """Decorates a method that is for some versions of its message only: `@at("4-17")`."""

    def mark(method: M) -> M:
        cast(Any, method).versions = Versions(versions)
        return method

    return mark
