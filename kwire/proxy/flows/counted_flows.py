"""Flows that nobody needed one by one: the loop in C counts them while it moves their bytes."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.proxy.flows.flow import ClientConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedFlows:
    """Flows of one connection, API key and version that have ended since these were last counted.

    request_bytes, response_bytes: on the wire, without the four bytes of each size itself.
    seconds: the sum of the latencies. buckets: flows by latency, one number up to and including
    each of `latencies.BOUNDS`, and one for what took longer; those without a response are in none.
    """

    connection: ClientConnection
    client_id: str | None
    key: int
    version: int
    requests: int
    request_bytes: int
    response_bytes: int
    seconds: float
    buckets: tuple[int, ...]
