"""One line about a flow: its request, and the result."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Outcome
from kwire.proxy.flows.principal import host_text, principal_text
from kwire.proxy.flows.summaries import SUMMARIES
from kwire.proxy.flows.text import printable, size_text
from kwire.proxy.flows.walk import scalars
from kwire.text.ids import uuid_text

NAMES_SHOWN = 3
"""Topics, groups or nodes that the fallback names of each."""

LINE = 400
"""Longest summary, in characters."""

_NODE_FIELDS = frozenset({"broker_id", "node_id", "replica_id", "voter_id", "leader_id"})
_NAMED = {
    "topic": ("topic", "topic_name"),
    "group": ("group_id", "group"),
    "transaction": ("transactional_id",),
}


def summarize(decoded: DecodedFlow) -> str:
    """Return the line; text from the wire in it is safe to print."""
    flow = decoded.flow
    special = SUMMARIES.get(flow.key)
    line = special(decoded) if special is not None else None
    if decoded.envelope is not None:
        line = _envelope(decoded, decoded.envelope)
    elif line is None:
        line = fallback(decoded)
    if flow.outcome is Outcome.LOST and not decoded.is_inner:
        line = f"{line}: no response" if line else "no response"
    elif flow.outcome is Outcome.NO_RESPONSE:
        line = f"{line}, acks=0"
    return printable(line, LINE)


def _envelope(outer: DecodedFlow, inner: DecodedFlow) -> str:
    request = outer.request_as(EnvelopeRequest)
    sender = ""
    if request is not None:
        who = principal_text(request.request_principal or b"")
        sender = f" of {who} at {host_text(request.client_host_address)}"
    refused = "" if inner.response else f": {error_text(outer)}" if outer.failures else ""
    return f"{inner.flow.api} v{inner.flow.version}{sender}: {summarize(inner)}{refused}"


def fallback(decoded: DecodedFlow) -> str:
    """Return topics, groups and nodes of a message, its sizes, and every error code in it."""
    about = [*_named(decoded), *_sizes(decoded)]
    line = ", ".join(about)
    return f"{line}: {error_text(decoded)}" if decoded.failures else line


def error_text(decoded: DecodedFlow) -> str:
    """Return the names of the errors, and the node's message about the first."""
    message = next((failure.message for failure in decoded.failures if failure.message), None)
    names = ", ".join(decoded.errors)
    return f"{names} ({message})" if message else names


def _named(decoded: DecodedFlow) -> Iterator[str]:
    bodies = [frame.body for frame in (decoded.request, decoded.response) if frame is not None]
    collected: dict[str, dict[str, None]] = {}
    for body in bodies:
        for path, field, value in scalars(body):
            if (kind := _kind(path, field)) and (text := _text(value)):
                collected.setdefault(kind, {})[text] = None
    for kind, names in collected.items():
        yield f"{kind} {_few(list(names))}"


def _kind(path: str, field: str) -> str:
    if field in _NODE_FIELDS:
        return "node"
    if field == "topic_id" or (field == "name" and "topic" in path):
        return "topic"
    return next((kind for kind, names in _NAMED.items() if field in names), "")


def _text(value: object) -> str:
    match value:
        case str():
            return value
        case int() if value >= 0:
            return str(value)
        case UUID() if value.int:
            return uuid_text(value)
    return ""


def _few(names: list[str]) -> str:
    text = " ".join(names[:NAMES_SHOWN])
    more = len(names) - NAMES_SHOWN
    return f"{text} and {more} more" if more > 0 else text


def _sizes(decoded: DecodedFlow) -> Iterator[str]:
    flow = decoded.flow
    answer = "" if flow.response_size is None else f" → {size_text(flow.response_size)}"
    yield f"{size_text(flow.request_size)}{answer}"
