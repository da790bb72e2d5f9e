"""One request at a time to each peer, and a pause after a failure (RequestManager)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kwire.controller.raft.endpoints import Node

MOST_PAUSES = 10
"""The longest pause between bootstrap servers, in retry backoffs: the ratio of Kafka's
retry.backoff.max.ms to retry.backoff.ms (KIP-580)."""


@dataclass(slots=True, kw_only=True)
class _Connection:
    """correlation: of the request in flight; None while it backs off. since: milliseconds."""

    node: Node
    correlation: int | None
    since: int


class Connections:
    """What is under way to whom, by node id. A response that nobody waits for is ignored.

    below: an injected source of chance, a number from 0 to its argument, exclusive.
    """

    def __init__(
        self,
        *,
        bootstrap: Iterable[Node],
        request_timeout_ms: int,
        retry_backoff_ms: int,
        below: Callable[[int], int],
    ) -> None:
        self._bootstrap = list(bootstrap)
        self._request_timeout_ms = request_timeout_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._below = below
        self._connections: dict[int, _Connection] = {}
        self._last_correlation = 0
        self._leaderless = 0
        self._bootstrap_pause_ends = 0

    def sent(self, node: Node, now: int) -> int:
        """A request goes out; its correlation."""
        self._last_correlation += 1
        correlation = self._last_correlation
        self._connections[node.id] = _Connection(node=node, correlation=correlation, since=now)
        return correlation

    def source(self, correlation: int) -> Node | None:
        """The node that this answer is expected from."""
        for connection in self._connections.values():
            if connection.correlation == correlation:
                return connection.node
        return None

    def finished(self, correlation: int, now: int, *, ok: bool) -> None:
        """An answer was dealt with. ok: the next request may follow at once."""
        node = self.source(correlation)
        if node is None:
            return
        if ok:
            del self._connections[node.id]
        else:
            self._connections[node.id] = _Connection(node=node, correlation=None, since=now)

    def is_ready(self, node: Node, now: int) -> bool:
        """Whether a request may be sent."""
        connection = self._connections.get(node.id)
        return connection is None or now >= self._over(connection)

    def has_timed_out(self, node: Node, now: int) -> bool:
        """Whether a request is still unanswered after the request timeout."""
        connection = self._connections.get(node.id)
        return (
            connection is not None
            and connection.correlation is not None
            and now >= self._over(connection)
        )

    def is_backing_off(self, node: Node, now: int) -> bool:
        """Whether it pauses after a failure."""
        connection = self._connections.get(node.id)
        return (
            connection is not None
            and connection.correlation is None
            and now < self._over(connection)
        )

    def is_any_in_flight(self, now: int) -> bool:
        """Whether any request may still be answered."""
        return any(
            connection.correlation is not None and now < self._over(connection)
            for connection in self._connections.values()
        )

    def ready_bootstrap_server(self, now: int) -> Node | None:
        """One to ask for the leader, while nothing else is under way; begins at a random one."""
        if not self._bootstrap or self.is_any_in_flight(now) or now < self._bootstrap_pause_ends:
            return None
        start = self._below(len(self._bootstrap))
        turn = self._bootstrap[start:] + self._bootstrap[:start]
        return next((node for node in turn if self.is_ready(node, now)), None)

    def no_leader_named(self, now: int) -> None:
        """Pause before the next bootstrap server: one just said that it knows no leader.

        Twice as long as the last time, up to MOST_PAUSES retry backoffs. A pause for each server by
        itself would let a replica ask all of them in turn, hundreds of times before the first
        election; Kafka's own loop is slow enough to send a handful.
        """
        factor = min(1 << min(self._leaderless, 10), MOST_PAUSES)
        self._leaderless += 1
        self._bootstrap_pause_ends = now + factor * self._retry_backoff_ms

    def leader_answered(self) -> None:
        """Begin with short pauses the next time that no leader is known."""
        self._leaderless = 0
        self._bootstrap_pause_ends = 0

    def reset(self, node: Node) -> None:
        """Forget what was under way to it."""
        self._connections.pop(node.id, None)

    def reset_all(self) -> None:
        """Another role: answers to what the old one asked do not matter any more."""
        self._connections.clear()

    def deadline(self, now: int) -> int | None:
        """When the next request times out, or a pause ends."""
        times = [self._over(connection) for connection in self._connections.values()]
        times.append(self._bootstrap_pause_ends)
        return min((time for time in times if time > now), default=None)

    def _over(self, connection: _Connection) -> int:
        waits = connection.correlation is not None
        return connection.since + (self._request_timeout_ms if waits else self._retry_backoff_ms)
