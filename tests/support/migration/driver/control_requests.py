"""Requests to brokers with ZooKeeper, as values that compare whoever has made them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from kwire.codec.declaration import Request
from kwire.migration.driver.propagation import BrokerRequest

ShownRequest = tuple[str, int, Any]
"""Name, version and content."""

RequestsByBroker = dict[int, list[ShownRequest]]
"""The requests to each broker, in their order."""


def shown(request: Request, version: int) -> ShownRequest:
    """Return a request with the lists sorted that have the order of a hash map in Kafka.

    These are its topics, partitions, brokers and listeners. Replicas and ISR stay as they are.
    """
    return type(request).__name__, version, _sorted(msgspec.to_builtins(request))


def requests_by_broker(requests: Iterable[BrokerRequest]) -> RequestsByBroker:
    """Return kwire's requests, written to bytes and read again."""
    told: RequestsByBroker = defaultdict(list)
    for item in requests:
        kind = type(item.request)
        read = kind.decode(item.request.encode(item.version), item.version)
        told[item.broker_id].append(shown(read, item.version))
    return told


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(part) for name, part in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return sorted(map(_sorted, value), key=repr)
    return value
