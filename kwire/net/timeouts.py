"""The limits of time towards a cluster, and their names in the properties of Kafka's clients.

Java's clients wait 10 s for a TCP connection and 30 s for an answer, of 60 s in all. Limits that
are not given are the same shares of the time allowed: a slow cluster needs --timeout alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kwire.errors import InvalidValue
from kwire.text.properties import WrongProperty, located
from kwire.text.untrusted import whole_number

OPERATION = 60.0
"""Seconds of an operation: the default of Kafka's default.api.timeout.ms."""

CONNECT_SHARE, REQUEST_SHARE = 1 / 6, 1 / 2
"""Of the time for an operation, as Java's defaults have it: 10, 30 and 60 s."""

_PROPERTIES = {
    "operation": "default.api.timeout.ms",
    "request": "request.timeout.ms",
    "connect": "socket.connection.setup.timeout.ms",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds. operation: for all attempts together. connect: until the name of a host is resolved
    and its TCP connection is open. request: until one request is answered; None: a share.

    Raises InvalidValue for a limit that is not above 0, or is no number.
    """

    operation: float = OPERATION
    connect: float | None = None
    request: float | None = None

    def __post_init__(self) -> None:
        for seconds in (self.operation, self.connect, self.request):
            if seconds is not None and not seconds > 0:
                raise InvalidValue(f"a time limit must be above 0 s, not {seconds:g} s")

    @property
    def connect_seconds(self) -> float:
        """Seconds for a TCP connection, given or derived."""
        return self.operation * CONNECT_SHARE if self.connect is None else self.connect

    @property
    def request_seconds(self) -> float:
        """Seconds for an answer, given or derived."""
        return self.operation * REQUEST_SHARE if self.request is None else self.request


DEFAULT_TIMEOUTS = Timeouts()


def merged(*layers: Mapping[str, float | None], operation: float = OPERATION) -> Timeouts:
    """Return the limits by their names in Timeouts: of each the first that is given.

    operation: the default. An operation without a limit of its own takes at least as long as a
    request may, as in KafkaAdminClient.configureDefaultApiTimeoutMs.
    """
    found = {
        name: value
        for name in _PROPERTIES
        if (value := next((layer[name] for layer in layers if layer.get(name)), None)) is not None
    }
    found.setdefault("operation", max(operation, found.get("request", 0.0)))
    return Timeouts(**found)


def read_timeouts(path: Path) -> dict[str, float]:
    """Return the limits in a file of client properties, by their names in Timeouts.

    What is not there is not in the result. Raises InvalidValue, which names the file, the line and
    the property.
    """
    from kwire.text.properties import read_properties  # every client imports this module

    pairs = read_properties(path)
    try:
        return _timeouts(pairs)
    except WrongProperty as error:
        raise located(path, pairs, error) from None


def _timeouts(pairs: Mapping[str, str]) -> dict[str, float]:
    found = {}
    for name, key in _PROPERTIES.items():
        if (text := pairs.get(key)) is not None:
            milliseconds = whole_number(text.strip(), bits=31)
            if not milliseconds:
                raise WrongProperty(key, f"{key} is a number of milliseconds above 0, not {text}")
            found[name] = milliseconds / 1000
    request, operation = found.get("request", 0), found.get("operation")
    if operation is not None and request > operation:
        key, other = _PROPERTIES["operation"], _PROPERTIES["request"]
        raise WrongProperty(key, f"{key} must be no smaller than {other}")
    return found
