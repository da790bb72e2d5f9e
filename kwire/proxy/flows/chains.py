"""The RPCs of one request: as a client sent it, and in the Envelope that forwards it (KIP-590).

A broker forwards a request with the header that its client wrote: API, version, correlation id and
client id are the same in both. Clients that start again count correlation ids from 0 again, so the
two must also have been under way at the same time.
"""

from __future__ import annotations

from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow

Head = tuple[int, int, int, str | None]
"""API key, version, correlation id and client id."""

UNANSWERED = 60.0
"""Seconds for which a request without an answer may have been under way."""


def head_of_client(decoded: DecodedFlow) -> Head:
    """Return the head that the client wrote: of an Envelope, that of its content."""
    flow = decoded.flow if decoded.envelope is None else decoded.envelope.flow
    return flow.key, flow.version, flow.correlation_id, flow.client_id


def are_partners(one: DecodedFlow, other: DecodedFlow) -> bool:
    """Return True if one is an Envelope and the other the request of a client that it carries."""
    if (one.envelope is None) == (other.envelope is None):
        return False
    outer, asked = (one, other) if one.envelope is not None else (other, one)
    return head_of_client(outer) == head_of_client(
        asked
    ) and asked.flow.at <= outer.flow.at <= asked.flow.at + _duration(asked.flow)


def _duration(flow: Flow) -> float:
    return UNANSWERED if flow.latency is None else flow.latency
