"""Counts the bytes of record batches in a message by topic: those of Produce and Fetch."""

from __future__ import annotations

from typing import Any

from kwire.codec.declaration import Message
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a01_fetch import FetchResponse
from kwire.pipeline.body import id_text, printable
from kwire.text.ids import ZERO_UUID

_FIELDS: dict[type[Message], tuple[str, str, str]] = {
    ProduceRequest: ("topic_data", "name", "partition_data"),
    FetchResponse: ("responses", "topic", "partitions"),
}
"""Of the messages with record batches by topic: their topics, and these' names and partitions."""


def topic_bytes(body: Message) -> list[dict[str, Any]] | None:
    """Return TOPICS of a message with its record batches; None if it is neither of the two."""
    fields = _FIELDS.get(type(body))
    if fields is None:
        return None
    topics, name, partitions = fields
    counts: list[dict[str, Any]] = []
    for topic in getattr(body, topics):
        count = 0
        for partition in getattr(topic, partitions):
            if partition.records:
                count += len(partition.records)
        if count:
            id_ = None if topic.topic_id == ZERO_UUID else id_text(topic.topic_id)
            title = printable(getattr(topic, name)) or None
            counts.append({"topic": title, "topic_id": id_, "records_bytes": count})
    return counts
