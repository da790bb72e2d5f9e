"""The cluster that administration is measured on: one node with many partitions and groups."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kwire.admin import AdminClient, TopicPartition
from kwire.admin.group_offsets import OffsetAndMetadata
from kwire.admin.topics import NewTopic
from real_kafka import Layout

LAYOUT = Layout(
    controllers=(1,),
    brokers=(1,),
    properties={
        # Two index files of 10 MB are mapped for each partition otherwise.
        "log.index.size.max.bytes": "4096",
        "offsets.topic.num.partitions": "10",
        "group.initial.rebalance.delay.ms": "0",
    },
    jvm=("-Xmx3g",),
)
"""A node whose heap is big enough for 10,000 partitions."""

SMALL = "small"
"""A topic of one partition, for describes that cost little each."""

AT_ONCE = 16
PATIENCE = 120.0


def topic_names(count: int) -> list[str]:
    """Return the names of the big topics."""
    return [f"topic-{number:02}" for number in range(count)]


async def fill(servers: str, topics: int, partitions: int, groups: int, offsets: int) -> None:
    """Create topics of so many partitions each, and groups with offsets of so many of them."""
    async with AdminClient(servers, timeout=PATIENCE, request_timeout=PATIENCE) as admin:
        names = topic_names(topics)
        for name in names:
            (await admin.create_topics([NewTopic(name=name, partitions=partitions)])).all()
        (await admin.create_topics([NewTopic(name=SMALL, partitions=1)])).all()
        ids = [f"group-{number:04}" for number in range(groups)]
        # The first commit makes the topic of offsets, whose partitions need a moment each.
        await _commit(admin, ids[0], 0, names, partitions, offsets)
        slots = asyncio.Semaphore(AT_ONCE)

        async def commit(number: int, group: str) -> None:
            async with slots:
                await _commit(admin, group, number * offsets, names, partitions, offsets)

        await asyncio.gather(*(commit(number, group) for number, group in enumerate(ids)))


async def _commit(
    admin: AdminClient, group: str, start: int, names: Sequence[str], partitions: int, offsets: int
) -> None:
    """Commit offset 0 of partitions that differ from group to group."""
    places = [
        TopicPartition(names[number % len(names)], number // len(names) % partitions)
        for number in range(start, start + offsets)
    ]
    zero = OffsetAndMetadata(offset=0)
    (await admin.alter_group_offsets(group, dict.fromkeys(places, zero))).all()
