"""The limits of connections and of the bytes they send, from Kafka's own properties."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from kwire.controller.quotas.connection_quotas import UNLIMITED, ConnectionLimits
from kwire.controller.server.config import property_values
from kwire.controller.server.request_memory import QUEUED_DEFAULT
from kwire.errors import InvalidValue
from kwire.text.untrusted import whole_number

CONNECTIONS, RATE = "max.connections", "max.connection.creation.rate"
PER_ADDRESS, OVERRIDES = "max.connections.per.ip", "max.connections.per.ip.overrides"
QUEUED = "queued.max.request.bytes"

CONNECTION_KNOWN = frozenset({CONNECTIONS, RATE, PER_ADDRESS, OVERRIDES, QUEUED})
"""The properties that have an effect; a listener may have the first two of its own."""

_HOST = re.compile(r"[0-9a-zA-Z\-%._:]+")  # Java: Utils.validHostPattern


def connection_limits(
    pairs: Mapping[str, str], listeners: Iterable[str], inter_broker: str = ""
) -> ConnectionLimits:
    """Return the limits of a node with these listeners.

    Raises InvalidValue for a value that Kafka does not take either, and for no connections at all:
    set for all nodes, nobody could take that back, and after a restart neither.
    """
    names = tuple(listeners)
    per_address = property_values.number(pairs, PER_ADDRESS, UNLIMITED)
    by_address = _overrides(pairs)
    if per_address == 0 and not by_address:
        raise InvalidValue(f"{PER_ADDRESS} is 0, so that nobody could connect: give {OVERRIDES}")
    return ConnectionLimits(
        connections=property_values.positive_number(pairs, CONNECTIONS, UNLIMITED),
        per_address=per_address,
        by_address=by_address,
        rate=property_values.number(pairs, RATE, UNLIMITED),
        by_listener=_of_listeners(pairs, names, CONNECTIONS, property_values.positive_number),
        rate_by_listener=_of_listeners(pairs, names, RATE, property_values.number),
        inter_broker=inter_broker,
    )


def queued_bytes(pairs: Mapping[str, str], frame_limit: int) -> int:
    """Return queued.max.request.bytes. InvalidValue if the largest request had no room in it."""
    text = pairs.get(QUEUED, "").strip()
    if text.startswith("-") and whole_number(text[1:], bits=63) is not None:
        return QUEUED_DEFAULT
    size = property_values.number(pairs, QUEUED, 0)
    if 0 < size < frame_limit:
        raise InvalidValue(
            f"{QUEUED} is {size}: it must be socket.request.max.bytes, {frame_limit}, at least"
        )
    return size or QUEUED_DEFAULT


def _of_listeners(
    pairs: Mapping[str, str],
    listeners: Iterable[str],
    name: str,
    number: Callable[[Mapping[str, str], str, int], int],
) -> dict[str, int]:
    """Return the values of those listeners that have one of their own."""
    keys = {listener: f"listener.name.{listener.lower()}.{name}" for listener in listeners}
    return {
        listener: number(pairs, key, UNLIMITED) for listener, key in keys.items() if key in pairs
    }


def _overrides(pairs: Mapping[str, str]) -> dict[str, int]:
    by_address = {}
    for text in property_values.listed(pairs, OVERRIDES):
        host, colon, digits = text.rpartition(":")  # an IPv6 address has colons of its own
        count = whole_number(digits, bits=31)
        if not colon or count is None or not _HOST.fullmatch(host):
            raise InvalidValue(f"{OVERRIDES}: {text!r} is not host:count")
        by_address[host] = count
    return by_address
