"""Whether a topic can be read, asked by kwire's own connection.

Spark asks for a minute or two before it says that nobody answers.
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

LOOK = 10.0
"""Seconds between two looks at whether a cluster still answers."""

CLIENT = "kwire-pipeline"


class TopicUnreadable(LocalError):
    """No node answers, or none has the topic; the message says what to do."""


def ensure_topic(address: TopicAddress) -> None:
    """TopicUnreadable unless a node answers that it has the topic."""
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
    address: TopicAddress, warned: Callable[[str], None], every: float = LOOK
) -> Iterator[Callable[[], None]]:
    """Gives what to call again and again while the topic is read.

    warned: called with a sentence when contact is lost, and when it is there again. Where reading
    ends by an error of Spark's and the topic cannot be read, TopicUnreadable is the reason.
    """
    contact = _Contact(address, warned, every)
    try:
        yield contact.look
    except PySparkException as error:
        try:
            ensure_topic(address)
        except TopicUnreadable as reason:
            raise TopicUnreadable(f"{reason} The same command goes on where it was.") from error
        raise


class _Contact:
    """Tells when contact is lost, and when it is there again."""

    def __init__(self, address: TopicAddress, warned: Callable[[str], None], every: float) -> None:
        self._address = address
        self._warned = warned
        self._every = every
        self._next = monotonic() + every
        self._lost = False

    def look(self) -> None:
        """Ask the cluster, where it is time to."""
        if monotonic() < self._next:
            return
        try:
            ensure_topic(self._address)
        except TopicUnreadable as reason:
            if not self._lost:
                self._warned(f"{reason} Spark goes on trying.")
            self._lost = True
        else:
            if self._lost:
                self._warned(f"{self._address} can be read again.")
            self._lost = False
        self._next = monotonic() + self._every


async def _ask(address: TopicAddress) -> MetadataResponse:
    """The answer of the first node that gives one."""
    wanted = MetadataRequest(
        topics=[MetadataRequestTopic(name=address.topic)], allow_auto_topic_creation=False
    )
    reasons = []
    for server in address.servers:
        try:
            opened = await Connection.open(server.host, server.port, client_id=CLIENT)
            async with opened as connection:
                return cast(MetadataResponse, await connection.send(wanted))
        except KwireError as error:
            reasons.append(str(error))
    raise TopicUnreadable(
        f"topic {address.topic} cannot be read: {'; '.join(reasons)}: start its cluster, or check"
        " the address."
    )
