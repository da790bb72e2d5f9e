"""The RPCs of one request: as a client sent it, and in the Envelope that forwards it (KIP-590).

A broker forwards a request with the header that its client wrote: API, version, correlation id and
client id are the same in both. Clients that start again count correlation ids from 0 again, so the
two must also have been under way at the same time.
"""

from __future__ import annotations

from kwire.proxy.flows.decoded import DecodedFlow

Head = tuple[int, int, int, str | None]
"""API key, version, correlation id and client id."""

UNANSWERED = 60.0
"""Seconds for which a request without an answer may have been under way."""

SKEW = 0.1
"""Seconds between the clocks of two recorders on one network."""


def head_of_client(decoded: DecodedFlow) -> Head:
    """Return the head that the client wrote: of an Envelope, that of its content."""
    flow = decoded.flow if decoded.envelope is None else decoded.envelope.flow
    return flow.key, flow.version, flow.correlation_id, flow.client_id


def carries(outer: DecodedFlow, asked: DecodedFlow) -> bool:
    """Return True if the first is an Envelope, and the second the request of a client in it."""
    if outer.envelope is None or asked.envelope is not None:
        return False
    if head_of_client(outer) != head_of_client(asked):
        return False
    begin, latency = asked.flow.at, asked.flow.latency
    end = begin + (UNANSWERED if latency is None else latency)
    return begin - SKEW <= outer.flow.at <= end + SKEW


def are_partners(one: DecodedFlow, other: DecodedFlow) -> bool:
    """Return True if one is an Envelope and the other the request of a client that it carries."""
    return carries(one, other) or carries(other, one)
