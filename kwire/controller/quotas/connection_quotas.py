"""The connections that a node takes, by their number and rate (Java: ConnectionQuotas).

KIP-402 has max.connections, KIP-612 max.connection.creation.rate. Times are milliseconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kwire.controller.quotas.connection_rate import ConnectionRate

UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """The limits of a node.

    connections, by_listener: max.connections, of the node and of each listener. rate,
    rate_by_listener: max.connection.creation.rate. by_address: in place of per_address.
    inter_broker: name of the listener that the limits of the node do not hold for, where there is
    another one beside it.
    """

    connections: int = UNLIMITED
    per_address: int = UNLIMITED
    by_address: Mapping[str, int] = field(default_factory=dict)
    rate: int = UNLIMITED
    by_listener: Mapping[str, int] = field(default_factory=dict)
    rate_by_listener: Mapping[str, int] = field(default_factory=dict)
    inter_broker: str = ""


@dataclass(slots=True, eq=False, kw_only=True)
class CountedConnection:
    """A connection that has its place. close: ends it at once. used: when something passed last."""

    listener: str
    address: str
    close: Callable[[], None]
    used: int


class ConnectionQuotas:
    """Counts the connections of all listeners of a node.

    For each connection `throttle_time_ms` is called once; when that time is over and
    `has_place` is true, `take`. changed: called after a place has become free, or limits changed.
    """

    def __init__(self, limits: ConnectionLimits | None = None) -> None:
        self._limits = limits or ConnectionLimits()
        self._open: dict[CountedConnection, None] = {}
        self._addresses: Counter[str] = Counter()
        self._by_listener: Counter[str] = Counter()
        self._rate = ConnectionRate()
        self._rates: dict[str, ConnectionRate] = {}
        self.changed: list[Callable[[], None]] = []

    @property
    def limits(self) -> ConnectionLimits:
        """The limits as they are now."""
        return self._limits

    @property
    def count(self) -> int:
        """The connections that are open."""
        return len(self._open)

    def add_listener(self, name: str) -> None:
        """Count the connections of one more listener."""
        self._rates[name] = ConnectionRate()

    def remove_listener(self, name: str) -> None:
        """Forget a listener, which has no connections any more."""
        self._rates.pop(name, None)

    def set_limits(self, limits: ConnectionLimits) -> None:
        """Take other limits.

        Connections beyond max.connections are closed, the least used first; those beyond the limit
        of their address stay, as in Kafka.
        """
        self._limits = limits
        self._close_excess()
        self._notify()

    def throttle_time_ms(self, listener: str, now: int) -> int:
        """Count a new connection for the rates; return how long it has to wait for them."""
        limits = self._limits
        rate = self._rates[listener]
        rate.record(now)
        limit = limits.rate_by_listener.get(listener, limits.rate)
        wait = rate.throttle_time_ms(limit, now)
        if not self._is_protected(listener):
            self._rate.record(now)
            wait = max(wait, self._rate.throttle_time_ms(limits.rate, now))
        return wait

    def has_place(self, listener: str) -> bool:
        """Return True if one more connection of the listener may be served."""
        limits = self._limits
        if self._by_listener[listener] >= limits.by_listener.get(listener, limits.connections):
            return False
        return self._is_protected(listener) or len(self._open) < limits.connections

    def take(
        self, listener: str, address: str, close: Callable[[], None], now: int
    ) -> CountedConnection | None:
        """Give a connection its place; None if its address has as many as it may have.

        If the listener among brokers is over the limit of the node, the connection of another
        listener that was used least lately is closed.
        """
        if self._addresses[address] >= self.limit_of(address):
            return None
        connection = CountedConnection(listener=listener, address=address, close=close, used=now)
        self._open[connection] = None
        self._addresses[address] += 1
        self._by_listener[listener] += 1
        self._close_excess()
        return connection

    def limit_of(self, address: str) -> int:
        """Return how many connections an address may have."""
        return self._limits.by_address.get(address, self._limits.per_address)

    def give_back(self, connection: CountedConnection) -> None:
        """Free the place of a connection; do nothing if it is free already."""
        if self._forget(connection):
            self._notify()

    def _forget(self, connection: CountedConnection) -> bool:
        if connection not in self._open:
            return False
        del self._open[connection]
        self._by_listener[connection.listener] -= 1
        self._addresses[connection.address] -= 1
        if not self._addresses[connection.address]:
            del self._addresses[connection.address]
        return True

    def _close_excess(self) -> None:
        """Close what is over the limit of the node (Java: Processor.closeExcessConnections)."""
        while len(self._open) > self._limits.connections:
            others = (
                connection
                for connection in self._open
                if not self._is_protected(connection.listener)
            )
            least_used = min(others, key=lambda connection: connection.used, default=None)
            if least_used is None:
                return
            self._forget(least_used)
            least_used.close()

    def _is_protected(self, listener: str) -> bool:
        return listener == self._limits.inter_broker and len(self._rates) > 1

    def _notify(self) -> None:
        for changed in tuple(self.changed):
            changed()
