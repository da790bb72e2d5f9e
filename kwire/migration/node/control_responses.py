"""Errors in the answers to a controller's requests (kafka.migration.MigrationPropagatorBatch)."""

from __future__ import annotations

from collections.abc import Iterator

from kwire import error_codes
from kwire.codec.declaration import Response
from kwire.messages.a04_leader_and_isr import LeaderAndIsrResponse
from kwire.messages.a05_stop_replica import StopReplicaResponse
from kwire.text.ids import uuid_text

FEW = 5
"""Partitions that are named; the others are counted."""


def error_text(response: Response) -> str | None:
    """Return the errors of a response as words; None if it has none."""
    code = getattr(response, "error_code", 0)
    words = [error_codes.name(code)] if code else []
    errors = [f"{error_codes.name(code)} for {name}" for name, code in _errors(response) if code]
    words += errors[:FEW]
    if len(errors) > FEW:
        words.append(f"{len(errors) - FEW} more")
    return ", ".join(words) or None


def _errors(response: Response) -> Iterator[tuple[str, int]]:
    """Yield partitions with their codes."""
    if isinstance(response, LeaderAndIsrResponse):
        # Up to version 4 a partition has the name of its topic, then the topic has its id.
        for partition in response.partition_errors:
            yield f"{partition.topic_name}-{partition.partition_index}", partition.error_code
        for topic in response.topics:
            for partition in topic.partition_errors:
                name = f"{uuid_text(topic.topic_id)}-{partition.partition_index}"
                yield name, partition.error_code
    elif isinstance(response, StopReplicaResponse):
        for error in response.partition_errors:
            yield f"{error.topic_name}-{error.partition_index}", error.error_code
