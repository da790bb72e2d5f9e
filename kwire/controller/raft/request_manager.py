"""One request at a time to each peer, and a pause after a failure (KIP-853 "Bootstrap-servers";
Java: RequestManager)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kwire.controller.raft.endpoints import PeerNode

MAX_BACKOFFS = 10
"""The longest pause between bootstrap servers, in retry backoffs: the ratio of Kafka's
retry.backoff.max.ms to retry.backoff.ms (KIP-580)."""


@dataclass(slots=True, kw_only=True)
class _ConnectionState:
    """The state of the connection to a peer (Java: RequestManager.ConnectionState).

    correlation: of the request in flight; None while it backs off. since: milliseconds.
    """

    node: PeerNode
    correlation: int | None
    since: int


class RequestManager:
    """The requests in flight and the pauses, by node id.

    below: an injected source of chance, a number from 0 to its argument, exclusive.
    """

    def __init__(
        self,
        *,
        bootstrap: Iterable[PeerNode],
        request_timeout_ms: int,
        retry_backoff_ms: int,
        below: Callable[[int], int],
    ) -> None:
        self._bootstrap = list(bootstrap)
        self._request_timeout_ms = request_timeout_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._below = below
        self._connections: dict[int, _ConnectionState] = {}
        self._last_correlation = 0
        self._leaderless_answers = 0
        self._bootstrap_pause_ends = 0

    def on_request_sent(self, node: PeerNode, now: int) -> int:
        """Note a request that goes out; return its correlation."""
        self._last_correlation += 1
        correlation = self._last_correlation
        self._connections[node.id] = _ConnectionState(node=node, correlation=correlation, since=now)
        return correlation

    def node_of_request(self, correlation: int) -> PeerNode | None:
        """Return the node that this answer is expected from; None if no request waits for it."""
        for connection in self._connections.values():
            if connection.correlation == correlation:
                return connection.node
        return None

    def on_response_result(self, correlation: int, now: int, *, ok: bool) -> None:
        """Note that an answer was handled. ok: the next request may follow at once."""
        node = self.node_of_request(correlation)
        if node is None:
            return
        if ok:
            del self._connections[node.id]
        else:
            self._connections[node.id] = _ConnectionState(node=node, correlation=None, since=now)

    def is_ready(self, node: PeerNode, now: int) -> bool:
        """Return True if a request may be sent."""
        connection = self._connections.get(node.id)
        return connection is None or now >= self._end(connection)

    def has_timed_out(self, node: PeerNode, now: int) -> bool:
        """Return True if a request is still unanswered after the request timeout."""
        connection = self._connections.get(node.id)
        return (
            connection is not None
            and connection.correlation is not None
            and now >= self._end(connection)
        )

    def is_backing_off(self, node: PeerNode, now: int) -> bool:
        """Return True if the node pauses after a failure."""
        connection = self._connections.get(node.id)
        return (
            connection is not None
            and connection.correlation is None
            and now < self._end(connection)
        )

    def has_any_request_in_flight(self, now: int) -> bool:
        """Return True if any request may still be answered."""
        return any(
            connection.correlation is not None and now < self._end(connection)
            for connection in self._connections.values()
        )

    def find_ready_bootstrap_server(self, now: int) -> PeerNode | None:
        """Return a server to ask for the leader, beginning at a random one, unless one is asked."""
        if (
            not self._bootstrap
            or self.has_any_request_in_flight(now)
            or now < self._bootstrap_pause_ends
        ):
            return None
        start = self._below(len(self._bootstrap))
        in_order = self._bootstrap[start:] + self._bootstrap[:start]
        return next((node for node in in_order if self.is_ready(node, now)), None)

    def back_off_bootstrap_servers(self, now: int) -> None:
        """Pause before the next bootstrap server: one just answered that it knows no leader.

        The pause is twice as long as the last one, up to MAX_BACKOFFS retry backoffs.
        """
        # A pause for each server by itself would let a replica ask all of them in turn, hundreds of
        # times before the first election; Kafka's own loop is slow enough to send a handful.
        factor = min(1 << min(self._leaderless_answers, 10), MAX_BACKOFFS)
        self._leaderless_answers += 1
        self._bootstrap_pause_ends = now + factor * self._retry_backoff_ms

    def reset_bootstrap_backoff(self) -> None:
        """Begin with short pauses the next time that no leader is known."""
        self._leaderless_answers = 0
        self._bootstrap_pause_ends = 0

    def reset(self, node: PeerNode) -> None:
        """Forget the request in flight to a node."""
        self._connections.pop(node.id, None)

    def reset_all(self) -> None:
        """Forget all requests: their answers have no meaning in another role."""
        self._connections.clear()

    def deadline(self, now: int) -> int | None:
        """Return the time at which the next request times out or a pause ends."""
        times = [self._end(connection) for connection in self._connections.values()]
        times.append(self._bootstrap_pause_ends)
        return min((time for time in times if time > now), default=None)

    def _end(self, connection: _ConnectionState) -> int:
        waits = connection.correlation is not None
        return connection.since + (self._request_timeout_ms if waits else self._retry_backoff_ms)
