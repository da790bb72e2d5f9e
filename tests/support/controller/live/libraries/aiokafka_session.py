"""aiokafka: a topic, records, transactions and a classic group."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.support.controller.live.libraries.answers import (
    ABORTED,
    COMMITTED,
    NUMBERS,
    PARTITIONS,
    PATIENCE,
    TRANSACTIONS,
    plain,
)
from tests.support.eventually import eventually

TOPIC, GROUP, MOVED = "by-aiokafka", "aiokafka-group", "aiokafka-moved"


def with_aiokafka(servers: str) -> dict[str, Any]:
    """Return the answers by step."""
    return asyncio.run(_session(servers))


async def _session(servers: str) -> dict[str, Any]:
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    try:
        new = [NewTopic(TOPIC, PARTITIONS, 2)]
        created = [await admin.create_topics(new) for _ in range(2)]
        codes = [[list(one[:2]) for one in each.topic_errors] for each in created]
        await eventually(
            lambda: admin.describe_topics([TOPIC]), lambda found: _has_leaders(found[0])
        )
        produced = await _produce(servers)
        await _transact(servers)
        return {
            "create twice": codes,
            "produce": produced,
            "read in a group": await _consume(servers),
            "moved offsets": plain(await admin.list_consumer_group_offsets(MOVED)),
            "groups": sorted(
                list(one) for one in await admin.list_consumer_groups() if one[0] in (GROUP, MOVED)
            ),
            "delete": [list(one) for one in (await admin.delete_topics([TOPIC])).topic_error_codes],
        }
    finally:
        await admin.close()


def _has_leaders(topic: Any) -> bool:
    partitions = topic["partitions"]
    return len(partitions) == PARTITIONS and all(one["leader"] >= 0 for one in partitions)


async def _produce(servers: str) -> list[list[int]]:
    settings = {"bootstrap_servers": servers, "enable_idempotence": True}
    async with AIOKafkaProducer(**settings) as producer:
        values = [(n % PARTITIONS, str(n).encode()) for n in NUMBERS]
        sent = [await producer.send(TOPIC, value, partition=at) for at, value in values]
        return [[one.partition, one.offset] for one in await asyncio.gather(*sent)]


async def _transact(servers: str) -> None:
    settings = {"bootstrap_servers": servers, "transactional_id": TOPIC}
    async with AIOKafkaProducer(**settings) as producer:
        for numbers, is_kept in ((ABORTED, False), (COMMITTED, True)):
            await producer.begin_transaction()
            for n in numbers:
                await producer.send_and_wait(TOPIC, str(n).encode(), partition=TRANSACTIONS)
            if is_kept:
                await producer.send_offsets_to_transaction({TopicPartition(TOPIC, 1): 7}, MOVED)
                await producer.commit_transaction()
            else:
                await producer.abort_transaction()


async def _consume(servers: str) -> list[int]:
    consumer = AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=servers,
        group_id=GROUP,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    async with asyncio.timeout(PATIENCE), consumer:
        return sorted(
            [int((await consumer.getone()).value) for _ in range(len(NUMBERS) + len(COMMITTED))]
        )
