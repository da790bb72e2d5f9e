"""The filters of a proxy, and which of their methods want which messages.

Names of methods are checked when filters are set, before traffic flows.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from kwire.codec.versions import Versions
from kwire.errors import InvalidValue, KwireError
from kwire.messages.index import APIS
from kwire.messages.registry import api_key, message, request
from kwire.proxy.filters.filter import Filter, HandlerResult, Misuse
from kwire.proxy.flows.interest import Direction

logger = logging.getLogger(__name__)

ENVELOPE = api_key("Envelope")
"""The API that carries others (KIP-590)."""

_REPORTS = 1000
"""Failures that are remembered as reported; a filter may raise a new text each time."""

_CACHE = 10_000
"""Kinds of message whose handlers are remembered: keys and versions are a peer's word."""

_GENERAL = ("on_connect", "on_request", "on_response")
_Methods = dict[str, Callable[..., HandlerResult]]
_ALL = Versions("0+")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_API_OF = {_WORDS.sub("_", name).lower(): key for key, name in APIS.items()}


@dataclass(frozen=True, slots=True)
class FilterHandler:
    """One method of one filter."""

    filter: Filter
    method: Callable[..., HandlerResult]

    @property
    def name(self) -> str:
        """The filter and the method, as notices name them."""
        return f"{self.filter.name}.{self.method.__name__}"


class Filters:
    """Filters in order: requests pass them first to last, responses last to first.

    They may be replaced while traffic flows; a message passes those set when it is whole.
    drop_on_error: drop a message that a filter failed on, instead of sending it on as it came.
    Raises InvalidValue where a method's name is no message's.
    """

    def __init__(self, filters: Iterable[Filter] = (), *, drop_on_error: bool = False) -> None:
        self.drop_on_error = drop_on_error
        self._filters: tuple[Filter, ...] = ()
        self._methods: list[_Methods] = []
        self._reported: set[tuple[str, object]] = set()
        self._longest: dict[str, float] = {}
        self.replace(filters)

    def replace(self, filters: Iterable[Filter]) -> None:
        """Use these from now on. Raises like the class, and keeps those before then."""
        filters = tuple(filters)
        # Filters that stay are not searched again: a command changes one rule of a thousand.
        known = {id(filter_): methods for filter_, methods in self._both}
        methods = [known.get(id(filter_)) or _methods(filter_) for filter_ in filters]
        self._filters = filters
        self._methods = methods
        # Worked out once for each kind of message (decision 14).
        self._cache: dict[tuple[int, int, Direction, bool], tuple[FilterHandler, ...]] = {}
        self._look_inside: bool | None = None
        self._reported.clear()
        self._longest.clear()

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The filters in use."""
        return self._filters

    @property
    def connecting(self) -> tuple[FilterHandler, ...]:
        """The handlers to run when a client connects."""
        return tuple(
            FilterHandler(filter_, filter_.on_connect)
            for filter_ in self._filters
            if type(filter_).on_connect is not Filter.on_connect
        )

    def handlers(
        self, key: int, version: int, direction: Direction, *, inside: bool = False
    ) -> tuple[FilterHandler, ...]:
        """Return the methods that want such a message; none for what no schema has.

        inside: it came in an Envelope.
        """
        kind = (key, version, direction, inside)
        handlers = self._cache.get(kind)
        if handlers is None:
            handlers = tuple(self._find(*kind)) if _exists(key, version) else ()
            if len(self._cache) < _CACHE:
                self._cache[kind] = handlers
        return handlers

    def must_see(self, key: int, version: int, direction: Direction, size: int) -> bool:
        """Return True if a filter wants such a message, or its content, and must see it."""
        wanting = [handler.filter for handler in self.handlers(key, version, direction)]
        if key == ENVELOPE:
            wanting += [filter_ for filter_ in self._filters if filter_.looks_inside]
        return any(
            self._asked(filter_, "must_see", filter_.must_see, key, direction, size)
            for filter_ in wanting
        )

    @property
    def look_inside(self) -> bool:
        """True if any filter wants a message that may come in an Envelope."""
        if self._look_inside is None:
            # Filter by filter: the first that wants one message settles it.
            self._look_inside = any(
                any(self._wanted(filter_, methods, key, version, direction))
                for filter_, methods in self._both
                if filter_.looks_inside
                for key in APIS
                if key != ENVELOPE
                for version in request(key).versions
                for direction in Direction
            )
        return self._look_inside

    @property
    def _both(self) -> Iterable[tuple[Filter, _Methods]]:
        return zip(self._filters, self._methods, strict=True)

    def is_first_report(self, name: str, error: BaseException) -> bool:
        """Return True the first time that this method fails in this way."""
        failure = (name, str(error) if isinstance(error, Misuse) else type(error))
        if failure in self._reported or len(self._reported) >= _REPORTS:
            return False
        self._reported.add(failure)
        return True

    def is_new_slowest(self, name: str, seconds: float) -> bool:
        """Return True if a method took twice as long as when this was last True."""
        if seconds < 2 * self._longest.get(name, 0.0):
            return False
        self._longest[name] = seconds
        return True

    def _find(
        self, key: int, version: int, direction: Direction, inside: bool
    ) -> Iterable[FilterHandler]:
        ordered = [pair for pair in self._both if pair[0].looks_inside or not inside]
        # Responses pass in the reverse order, so that the first filter of a script is the one
        # next to the client in both directions.
        for filter_, methods in ordered if direction is Direction.REQUEST else reversed(ordered):
            yield from self._wanted(filter_, methods, key, version, direction)

    def _wanted(
        self, filter_: Filter, methods: _Methods, key: int, version: int, direction: Direction
    ) -> Iterator[FilterHandler]:
        for name in (f"on_{direction.value}", f"{key} {direction.value}"):
            method = methods.get(name)
            if method is None or version not in getattr(method, "versions", _ALL):
                continue
            if name not in _GENERAL or self._asked(
                filter_, "wants", filter_.wants, key, version, direction
            ):
                yield FilterHandler(filter_, method)

    def _asked(
        self, filter_: Filter, question: str, method: Callable[..., object], *about: object
    ) -> bool:
        """Ask a filter; return False where it fails, so that it sees nothing of this kind."""
        try:
            return bool(method(*about))
        except KeyboardInterrupt:  # of the user
            raise
        except BaseException as error:  # SystemExit of a filter must not end the proxy
            name = f"{filter_.name}.{question}"
            if self.is_first_report(name, error):
                logger.warning("%s failed: %s: %s", name, type(error).__name__, error)
            return False


def _methods(filter_: Filter) -> _Methods:
    """Return the methods by what they want: `on_request`, or `1 response` for on_fetch_response."""
    unknown = set(filter_.apis or ()) - set(APIS.values())
    if unknown:
        raise InvalidValue(f"{filter_.name}: no API is called {min(unknown)!r}")
    methods: _Methods = {}
    for name in dir(filter_):
        if name in _GENERAL and getattr(type(filter_), name) is not getattr(Filter, name):
            methods[name] = getattr(filter_, name)
        elif name.startswith("on_") and name not in _GENERAL:
            methods[_message_of(filter_, name)] = getattr(filter_, name)
    return methods


def _message_of(filter_: Filter, name: str) -> str:
    """Return `1 response` for on_fetch_response. Raises InvalidValue for an unknown message."""
    api, _, kind = name.removeprefix("on_").rpartition("_")
    if api in _API_OF and kind in ("request", "response"):
        return f"{_API_OF[api]} {kind}"
    names = [f"on_{api}_{kind}" for api in _API_OF for kind in ("request", "response")]
    close = get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise InvalidValue(f"{filter_.name}.{name} is named after no message{hint}")


def _exists(key: int, version: int) -> bool:
    try:
        return version in message(f"{APIS[key]}Request").versions
    except (KeyError, KwireError):
        return False
