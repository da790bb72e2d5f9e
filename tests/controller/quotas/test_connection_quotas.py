"""Connections are counted, refused and kept waiting as Kafka's own ConnectionQuotasTest expects."""

from __future__ import annotations

import pytest

from kwire.controller.quotas.connection_quotas import (
    ConnectionLimits,
    ConnectionQuotas,
    CountedConnection,
)

EXTERNAL, ADMIN, REPLICATION = "EXTERNAL", "ADMIN", "REPLICATION"
ADDRESSES = {EXTERNAL: "192.168.1.1", ADMIN: "192.168.1.2", REPLICATION: "192.168.1.3"}


class Node:
    """A node with the three listeners of Kafka's test, the last of them among brokers."""

    def __init__(self, **limits: object) -> None:
        settings = {"inter_broker": REPLICATION, **limits}
        self.quotas = ConnectionQuotas(ConnectionLimits(**settings))  # type: ignore[arg-type]
        for listener in ADDRESSES:
            self.quotas.add_listener(listener)
        self.closed: list[str] = []

    def take(self, listener: str, *, used: int = 0, name: str = "") -> CountedConnection | None:
        """Take a connection as an acceptor does; None if there is no place, or it is refused."""
        if not self.quotas.has_place(listener):
            return None
        return self.quotas.take(
            listener, ADDRESSES[listener], lambda: self.closed.append(name), used
        )

    def fill(self, listener: str, count: int) -> list[CountedConnection]:
        taken = [self.take(listener, used=number) for number in range(count)]
        return [connection for connection in taken if connection is not None]


def test_nothing_is_limited_by_default() -> None:
    """testNoConnectionLimitsByDefault."""
    node = Node()
    for listener in ADDRESSES:
        assert len(node.fill(listener, 200)) == 200
        assert all(node.quotas.throttle_time_ms(listener, 0) == 0 for _ in range(200))


def test_an_address_has_as_many_as_it_may_and_no_more() -> None:
    """testMaxConnectionsPerIp: 17 each, by an override 20 for one of them."""
    node = Node(per_address=17, by_address={ADDRESSES[ADMIN]: 20})
    assert len(node.fill(EXTERNAL, 30)) == 17
    admins = node.fill(ADMIN, 30)
    assert len(admins) == 20
    node.quotas.give_back(admins[0])
    node.quotas.give_back(admins[0])  # only one place is free
    assert len(node.fill(ADMIN, 2)) == 1


def test_a_node_that_is_full_has_room_for_brokers_only() -> None:
    """testMaxBrokerWideConnectionLimit, and Processor.closeExcessConnections."""
    node = Node(connections=800)
    external = node.fill(EXTERNAL, 800)
    assert len(external) == 800
    assert node.take(EXTERNAL) is None
    assert node.take(ADMIN) is None
    assert node.closed == []
    external[0].used = 1000  # the first has been busy since

    assert node.take(REPLICATION) is not None
    assert node.quotas.count == 800
    assert node.closed == [""]
    node.quotas.give_back(external[1])  # it was the one that was closed
    assert not node.quotas.has_place(ADMIN)
    node.quotas.give_back(external[0])
    assert node.quotas.has_place(ADMIN)


def test_only_one_listener_is_protected_from_nobody() -> None:
    quotas = ConnectionQuotas(ConnectionLimits(connections=1, inter_broker=REPLICATION))
    quotas.add_listener(REPLICATION)
    assert quotas.take(REPLICATION, "a", lambda: None, 0) is not None
    assert not quotas.has_place(REPLICATION)


def test_a_listener_may_have_fewer_than_the_node() -> None:
    """testMaxListenerConnectionLimits."""
    node = Node(connections=100, by_listener={EXTERNAL: 5, REPLICATION: 7})
    assert len(node.fill(EXTERNAL, 10)) == 5
    assert len(node.fill(REPLICATION, 10)) == 7
    assert len(node.fill(ADMIN, 100)) == 100 - 5 - 7


def test_a_limit_that_is_lowered_closes_those_that_were_used_least_lately() -> None:
    node = Node()
    for used, name in ((3, "c"), (1, "a"), (2, "b")):
        node.take(EXTERNAL, used=used, name=name)
    node.take(REPLICATION, used=0, name="broker")
    changes: list[int] = []
    node.quotas.changed.append(lambda: changes.append(node.quotas.count))
    node.quotas.set_limits(ConnectionLimits(connections=2, inter_broker=REPLICATION))
    assert node.closed == ["a", "b"]
    assert changes == [2]


@pytest.mark.parametrize(
    ("limits", "listener", "waits"),
    [
        pytest.param({"rate": 1}, EXTERNAL, True, id="of the node"),
        pytest.param({"rate_by_listener": {EXTERNAL: 1}}, EXTERNAL, True, id="of the listener"),
        pytest.param({"rate_by_listener": {EXTERNAL: 1}}, ADMIN, False, id="of another one"),
        pytest.param(
            {"rate": 1, "rate_by_listener": {REPLICATION: 1000}},
            REPLICATION,
            False,
            id="brokers are not subject to the node's",
        ),
        pytest.param(
            {"rate": 1}, REPLICATION, True, id="a listener without its own has the node's"
        ),
    ],
)
def test_rates_hold_for_nodes_and_listeners(
    limits: dict[str, object], listener: str, waits: bool
) -> None:
    """KIP-612; a listener's own value stands for the node's (valuesWithPrefixOverride)."""
    node = Node(**limits)
    found = [node.quotas.throttle_time_ms(listener, 0) for _ in range(20)]
    # Ten windows of a second that have not been yet count, too: ten come at once.
    assert found[:10] == [0] * 10
    assert (found[10] > 0, found[-1] > 0) == (waits, waits)
