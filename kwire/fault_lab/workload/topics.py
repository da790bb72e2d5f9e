"""Topics: clients create, delete, grow and probe the same few names at controllers (KIP-919)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.fault_lab.history import Fate, RecordedOperation
from kwire.fault_lab.session import WorkloadClient, judged
from kwire.fault_lab.workload.pace import wait_turn
from kwire.fault_lab.workload.shared_name import SharedName
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a20_delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kwire.messages.a37_create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from kwire.text.ids import uuid_text

CLIENTS_A_NAME = 3
MOST_PARTITIONS = 6
TIMEOUT_MS = 5000
PAUSE = 0.2

_EXISTS = frozenset({ErrorCode.TOPIC_ALREADY_EXISTS})
_ABSENT = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
_GROWS = _ABSENT | {ErrorCode.INVALID_PARTITIONS}


async def work_on_topics(client: WorkloadClient, topic: SharedName) -> None:
    """Work on one name at a time until the run stops."""
    while not client.run.stopping:
        topic.renew_if_due()
        client.choose()
        topic.note(await change_topic(client, topic.name))
        await wait_turn(client, 0.1)


async def view_topics(client: WorkloadClient, topic: SharedName) -> None:
    """Ask brokers for the topic that is worked on, until the run stops.

    A broker answers from the image that it has read, which lags behind: a stale read.
    """
    while not client.run.stopping:
        if topic.name:
            client.choose()
            work = partial(view, client, topic.name)
            await client.record(topic.key, "read", work, stale=True)
        await wait_turn(client, 0.05)


async def change_topic(client: WorkloadClient, name: str) -> RecordedOperation:
    """Carry out one operation, chosen at random."""
    choice = client.random.random()
    key = f"topic:{name}"
    if choice < 0.4:
        count = client.random.randint(1, 2)
        return await client.record(key, "create", lambda: create(client, name, count), count)
    if choice < 0.65:
        return await client.record(key, "delete", lambda: delete(client, name))
    if choice < 0.85:
        count = client.random.randint(2, MOST_PARTITIONS)
        return await client.record(key, "grow", lambda: grow(client, name, count), count)
    return await client.record(key, "probe", lambda: create(client, name, 1, only_validate=True))


async def create(
    client: WorkloadClient, name: str, partitions: int, *, only_validate: bool = False
) -> tuple[Fate, object]:
    """Create a topic, or have its creation validated; the result is its id."""
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
    request = CreateTopicsRequest(
        topics=[topic], timeout_ms=TIMEOUT_MS, validate_only=only_validate
    )
    answer = await client.ask(CreateTopicsResponse, request)
    (result,) = answer.topics
    id = uuid_text(result.topic_id)
    return judged(result.error_code, result.error_message, _EXISTS, id)


async def create_replicated(
    client: WorkloadClient, name: str, partitions: int, replicas: int
) -> None:
    """Create a topic before the faults begin; ask again until it is there."""
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)
    request = CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)
    while True:
        with suppress(KwireError):
            answer = await client.ask(CreateTopicsResponse, request)
            if answer.topics[0].error_code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                return
        client.move()
        await asyncio.sleep(PAUSE)


async def view(client: WorkloadClient, name: str) -> tuple[Fate, object]:
    """Ask for a topic; the result is its id and how many partitions it has, or None."""
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
    )
    answer = await client.ask(MetadataResponse, request)
    (found,) = answer.topics
    if found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return Fate.OK, None
    state = [uuid_text(found.topic_id), len(found.partitions)]
    return judged(found.error_code, None, frozenset(), state)


async def delete(client: WorkloadClient, name: str) -> tuple[Fate, object]:
    """Delete a topic by its name; the result is its id."""
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=TIMEOUT_MS)
    answer = await client.ask(DeleteTopicsResponse, request)
    (result,) = answer.responses
    id = uuid_text(result.topic_id)
    return judged(result.error_code, result.error_message, _ABSENT, id)


async def grow(client: WorkloadClient, name: str, count: int) -> tuple[Fate, object]:
    """Give a topic this many partitions."""
    topic = CreatePartitionsTopic(name=name, count=count, assignments=None)
    request = CreatePartitionsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)
    answer = await client.ask(CreatePartitionsResponse, request)
    (result,) = answer.results
    return judged(result.error_code, result.error_message, _GROWS)
