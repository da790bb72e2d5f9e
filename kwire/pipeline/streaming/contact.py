"""Checks that a topic can be read, over kwire's own connection.

Spark itself tries for a minute or two before it reports that no node answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import cast

from pyspark.errors import PySparkException

from kwire.error_codes import ErrorCode, name
from kwire.errors import KwireError, LocalError
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kwire.net.connection import Connection
from kwire.proxy.capture.record_topic import TopicAddress

CHECK_EVERY = 10.0
"""Seconds between two checks that a cluster still answers."""

CLIENT = "kwire-pipeline"


class TopicUnreadable(LocalError):
    """No node answers, or none has the topic; the message says what to do."""


def ensure_topic(address: TopicAddress) -> None:
    """Raise TopicUnreadable unless a node answers that it has the topic."""
    answer = asyncio.run(_ask(address))
    (topic,) = answer.topics
    if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        raise TopicUnreadable(
            f"{address.bootstrap} has no topic {address.topic}: start kwire proxy --record-topic"
            f" {address} first, or check the name."
        )
    if topic.error_code not in (ErrorCode.NONE, ErrorCode.LEADER_NOT_AVAILABLE):
        raise TopicUnreadable(
            f"{address.bootstrap} refuses topic {address.topic}: {name(topic.error_code)}."
        )


@contextmanager
def watched(
    address: TopicAddress, warned: Callable[[str], None], every: float = CHECK_EVERY
) -> Iterator[Callable[[], None]]:
    """Give a function to call again and again while the topic is read.

    warned: called with a sentence when contact is lost, and when it is there again. If reading ends
    with an error of Spark's and the topic cannot be read, TopicUnreadable is raised instead.
    """
    contact = _Contact(address, warned, every)
    try:
        yield contact.look
    except PySparkException as error:
        try:
            ensure_topic(address)
        except TopicUnreadable as reason:
            raise TopicUnreadable(f"{reason} Run the same command again to go on.") from error
        raise


class _Contact:
    """Warns when contact is lost, and when it is there again."""

    def __init__(self, address: TopicAddress, warned: Callable[[str], None], every: float) -> None:
        self._address = address
        self._warned = warned
        self._every = every
        self._next = monotonic() + every
        self._lost = False

    def look(self) -> None:
        """Ask the cluster, if the last check is long enough ago."""
        if monotonic() < self._next:
            return
        try:
            ensure_topic(self._address)
        except TopicUnreadable as reason:
            if not self._lost:
                self._warned(f"{reason} Spark keeps trying.")
            self._lost = True
        else:
            if self._lost:
                self._warned(f"{self._address} can be read again.")
            self._lost = False
        self._next = monotonic() + self._every


async def _ask(address: TopicAddress) -> MetadataResponse:
    """Return the answer of the first node that gives one."""
    # The check must not create the topic that it looks for (auto.create.topics.enable).
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=address.topic)], allow_auto_topic_creation=False
    )
    reasons = []
    for server in address.servers:
        try:
            opened = await Connection.open(server.host, server.port, client_id=CLIENT)
            async with opened as connection:
                return cast(MetadataResponse, await connection.send(request))
        except KwireError as error:
            reasons.append(str(error))
    raise TopicUnreadable(f"topic {address.topic} cannot be read: {'; '.join(reasons)}.")
