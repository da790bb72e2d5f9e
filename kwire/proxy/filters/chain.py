"""The filters of a proxy, and which of their methods want what: known before traffic starts."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from kwire.codec.versions import Versions
from kwire.errors import InvalidValue, KwireError
from kwire.messages.index import APIS
from kwire.messages.registry import api_key, message, request
from kwire.proxy.filters.filter import Delay, Drop, Filter, Pause, Said, Verdict
from kwire.proxy.filters.supervision import Misuse, Supervised, Supervision
from kwire.proxy.flows.flow import Deed
from kwire.proxy.flows.interest import Direction

logger = logging.getLogger(__name__)

ENVELOPE = api_key("Envelope")
"""The API that carries others (KIP-590)."""

_REPORTS = 1000  # failures that are remembered as told
_GENERAL = ("on_connect", "on_request", "on_response")
_ALL = Versions("0+")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_API_OF = {_WORDS.sub("_", name).lower(): key for key, name in APIS.items()}


@dataclass(frozen=True, slots=True)
class Handler:
    """One method of one filter."""

    filter: Filter
    method: Callable[..., Said]

    @property
    def name(self) -> str:
        """What a person calls it: the filter and the method."""
        return f"{self.filter.name}.{self.method.__name__}"


class Filters:
    """Filters in their order: requests meet them first to last, responses last to first.

    They may be replaced while traffic flows: each message meets those of its moment. drop_on_error:
    a message that a broken filter failed on is dropped, and not sent on as it came.
    Raises InvalidValue where a method's name is no message's.
    """

    def __init__(self, filters: Iterable[Filter] = (), *, drop_on_error: bool = False) -> None:
        self.drop_on_error = drop_on_error
        self._reported: set[tuple[str, object]] = set()
        self._longest: dict[str, float] = {}
        self.replace(filters)

    def replace(self, filters: Iterable[Filter]) -> None:
        """Use these from now on. Raises like the class, and keeps those it had then."""
        filters = tuple(filters)
        methods = [_methods(one) for one in filters]
        self._filters = filters
        self._methods = methods
        self._cache: dict[tuple[int, int, Direction, bool], tuple[Handler, ...]] = {}
        self._look_inside: bool | None = None
        self._reported.clear()
        self._longest.clear()

    @property
    def filters(self) -> tuple[Filter, ...]:
        """Those in use."""
        return self._filters

    @property
    def connecting(self) -> tuple[Handler, ...]:
        """What is to be asked when a client connects."""
        return tuple(
            Handler(one, one.on_connect)
            for one in self._filters
            if type(one).on_connect is not Filter.on_connect
        )

    def handlers(
        self, key: int, version: int, direction: Direction, *, inside: bool = False
    ) -> tuple[Handler, ...]:
        """The methods that want such a message; none for what no schema has.

        inside: it came in an Envelope.
        """
        wanted = (key, version, direction, inside)
        found = self._cache.get(wanted)
        if found is None:
            found = tuple(self._find(*wanted)) if _exists(key, version) else ()
            if len(self._cache) < 10_000:  # keys and versions are a peer's word
                self._cache[wanted] = found
        return found

    @property
    def look_inside(self) -> bool:
        """Whether any of them wants a message that may come in an Envelope."""
        if self._look_inside is None:
            self._look_inside = any(
                self.handlers(key, version, direction, inside=True)
                for key in APIS
                if key != ENVELOPE
                for version in request(key).versions
                for direction in Direction
            )
        return self._look_inside

    def is_news(self, name: str, error: BaseException) -> bool:
        """True the first time that this method fails in this way."""
        what = (name, str(error) if isinstance(error, Misuse) else type(error))
        if what in self._reported or len(self._reported) >= _REPORTS:
            return False
        self._reported.add(what)
        return True

    def is_slower(self, name: str, seconds: float) -> bool:
        """True if a method took twice as long as when this was last so."""
        if seconds < 2 * self._longest.get(name, 0.0):
            return False
        self._longest[name] = seconds
        return True

    def _find(
        self, key: int, version: int, direction: Direction, inside: bool
    ) -> Iterable[Handler]:
        both = zip(self._filters, self._methods, strict=True)
        ordered = [pair for pair in both if pair[0].looks_inside or not inside]
        for one, methods in ordered if direction is Direction.REQUEST else reversed(ordered):
            for name in (f"on_{direction.value}", f"{key} {direction.value}"):
                method = methods.get(name)
                if method is None or version not in getattr(method, "versions", _ALL):
                    continue
                if name not in _GENERAL or self._wants(one, key, version, direction):
                    yield Handler(one, method)

    def _wants(self, one: Filter, key: int, version: int, direction: Direction) -> bool:
        """Ask a filter; one that fails sees nothing of this kind."""
        try:
            return bool(one.wants(key, version, direction))
        except Exception as error:
            if self.is_news(f"{one.name}.wants", error):
                logger.warning("%s.wants failed: %s: %s", one.name, type(error).__name__, error)
            return False


async def through(
    handlers: Sequence[Handler], arguments: Sequence[Any], supervision: Supervision
) -> tuple[Handler | None, Verdict]:
    """The fate of a message: the method that decided, and its action; None to send it on."""
    for handler in handlers:
        supervision.begins(handler)
        try:
            verdict = await Supervised(handler, arguments, supervision)
        except Exception as error:
            supervision.failed(handler, error)
            if supervision.filters.drop_on_error:
                return handler, Drop()
            continue
        while isinstance(verdict, Delay):
            if len(arguments) > 1:
                note = f"delayed {verdict.seconds:g} s by {handler.filter.name}"
                arguments[1].flow.mark(Deed.DELAYED, note)
            await Pause(verdict.seconds)
            verdict = verdict.then
        if verdict is not None:
            return handler, verdict
    return None, None


def _methods(one: Filter) -> dict[str, Callable[..., Said]]:
    """The methods by what they want: `on_request`, or `1 response` for on_fetch_response."""
    unknown = set(one.apis or ()) - set(APIS.values())
    if unknown:
        raise InvalidValue(f"{one.name}: no API is called {min(unknown)!r}")
    found = {}
    for name in dir(one):
        if name in _GENERAL and getattr(type(one), name) is not getattr(Filter, name):
            found[name] = getattr(one, name)
        elif name.startswith("on_") and name not in _GENERAL:
            found[_wanted(one, name)] = getattr(one, name)
    return found


def _wanted(one: Filter, name: str) -> str:
    api, _, kind = name.removeprefix("on_").rpartition("_")
    if api in _API_OF and kind in ("request", "response"):
        return f"{_API_OF[api]} {kind}"
    names = [f"on_{api}_{kind}" for api in _API_OF for kind in ("request", "response")]
    close = get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise InvalidValue(f"{one.name}.{name} is named after no message{hint}")


def _exists(key: int, version: int) -> bool:
    try:
        return version in message(f"{APIS[key]}Request").versions
    except (KeyError, KwireError):
        return False
