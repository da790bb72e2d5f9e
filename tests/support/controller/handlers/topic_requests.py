"""Requests about topics."""

from __future__ import annotations

from typing import Any

from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
)


def topic(name: str = "foo", **changes: Any) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1).replace(**changes)


def create(lab: Any, *topics: CreatableTopic, **changes: Any) -> Any:
    request = CreateTopicsRequest(topics=list(topics)).replace(**changes)
    return lab.ask(request).topics
