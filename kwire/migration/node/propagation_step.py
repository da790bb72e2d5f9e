"""The requests of one image or change, made when the first broker is to get them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator

from kwire.controller.server.large_messages import in_thread_if
from kwire.image import MetadataImage
from kwire.image.changes import MetadataChanges
from kwire.migration.driver.propagation import (
    BrokerRequest,
    ControlRequestSender,
    full_requests,
    incremental_requests,
    is_told,
)

MANY = 200
"""Partitions of a step whose requests are made in a thread; each costs some 20 microseconds."""


class PropagationStep:
    """The requests to all brokers, until each has taken its own.

    size: partitions in the largest of its requests, as an upper bound.
    """

    def __init__(self, make: Callable[[], Iterator[BrokerRequest]], *, size: int) -> None:
        self.size = size
        self._make = make
        self._making = asyncio.Lock()
        self._requests: defaultdict[int, list[BrokerRequest]] | None = None

    @classmethod
    def full(
        cls, sender: ControlRequestSender, image: MetadataImage, raft_epoch: int
    ) -> PropagationStep:
        """Return the step that replaces what brokers know by a committed image."""
        return cls(lambda: full_requests(sender, image, raft_epoch), size=_partitions(image))

    @classmethod
    def incremental(
        cls, sender: ControlRequestSender, changes: MetadataChanges, raft_epoch: int
    ) -> PropagationStep:
        """Return the step of a change; brokers that came with it get the whole image."""
        size = sum(len(topic.partitions) for topic in changes.topics.values())
        if any(is_told(change.after) for change in changes.brokers.values() if change.after):
            size += _partitions(changes.after)
        return cls(lambda: incremental_requests(sender, changes, raft_epoch), size=size)

    async def take(self, broker_id: int) -> list[BrokerRequest]:
        """Return the requests to a broker, which are not kept any longer."""
        async with self._making:
            if self._requests is None:
                self._requests = await in_thread_if(self.size > MANY, self._by_broker)
        return self._requests.pop(broker_id, [])

    def _by_broker(self) -> defaultdict[int, list[BrokerRequest]]:
        requests: defaultdict[int, list[BrokerRequest]] = defaultdict(list)
        for request in self._make():
            requests[request.broker_id].append(request)
        return requests


def _partitions(image: MetadataImage) -> int:
    return sum(len(topic.partitions) for topic in image.topics.by_id.values())
