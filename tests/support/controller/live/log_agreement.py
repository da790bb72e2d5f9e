"""Checks of a mixed quorum's logs at the end, against the responses that clients got."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import UUID

from kwire.batches import read_batches
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.codec.declaration import MetadataRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.topic import TopicRecord
from tests.support.controller.live.java_nodes import log_bytes, segment
from tests.support.controller.live.mixed_quorum import JAVA, MixedQuorum, ends
from virtual_nodes.history import WriteHistory


async def check(mixed: MixedQuorum) -> None:
    """Check that everything acknowledged is in every log at the same place, and nothing was late.

    1. The logs are the same below the high watermark.
    2. Every acknowledged topic is in them, and every topic once, with its partition.
    3. A request that was not answered is there as a whole, or not at all: one request, one batch.
    4. No write to a controller of kwire's waited longer than its timeout. Kafka's heeds it only
       until the turn of the request comes, so that its late writes are printed.
    """
    end = (await mixed.until(lambda told: told.high_watermark > 0)).high_watermark
    await mixed.until(lambda told: all(its >= end for its in ends(told).values()))
    await mixed.end()
    folders = [member.data for member in mixed.kwire.members.values()]
    logs = [log_bytes(folder, end) for folder in (*folders, Path(mixed.java.folder) / "data")]
    assert [log == logs[0] for log in logs] == [True, True, True]
    records = list(_records(logs[0]))
    created = topics(records)
    assert list(mixed.history.lost(dict.fromkeys(mixed.addresses, created))) == []
    assert list(torn_apart(mixed.history, created)) == []
    late = late_writes(mixed, mixed.kwire.members)
    assert not late, "\n".join([*late, f"nodes stood still: {mixed.standstills}"])
    print("\n".join(late_writes(mixed, [JAVA])))  # noqa: T201


def late_writes(mixed: MixedQuorum, node_ids: Iterable[int]) -> list[str]:
    """Return the writes to these nodes that waited too long, a line each."""
    standstills = {node_id: mixed.standstills.get(node_id, []) for node_id in node_ids}
    return list(mixed.history.late(standstills))


def _records(log: bytes) -> Iterator[MetadataRecord]:
    for batch in read_batches(log):
        if not batch.is_control:
            for record in batch.records():
                found = read_metadata_record(record.value or b"").record
                assert not isinstance(found, OpaqueRecord), found
                yield found


def topics(records: Iterable[MetadataRecord]) -> set[str]:
    """Return the names of the topics in a log, each of which is there once with its partition."""
    names: dict[UUID, str] = {}
    partitions: Counter[UUID] = Counter()
    for record in records:
        if isinstance(record, TopicRecord):
            names[record.topic_id] = record.name
        elif isinstance(record, PartitionRecord):
            partitions[record.topic_id] += 1
    assert len(set(names.values())) == len(names), "a topic was created twice"
    assert partitions == Counter(dict.fromkeys(names, 1)), "a topic is without its partition"
    return set(names.values())


def torn_apart(history: WriteHistory, created: set[str]) -> Iterator[str]:
    """Yield the requests of which some topics exist and some do not."""
    for write in history.writes:
        present = len(created.intersection(write.names))
        if present not in (0, len(write.names)):
            yield f"TORN: {write}: {present} of its topics exist"


def latencies(history: WriteHistory) -> str:
    """Return how long acknowledged writes took, for people."""
    times = sorted(write.ended - write.sent for write in history.writes if write.acknowledged)
    middle, high = times[len(times) // 2], times[len(times) * 99 // 100]
    longest = max(write.ended - write.sent for write in history.writes)
    return (
        f"acknowledged after {middle * 1000:.0f} ms (median), {high * 1000:.0f} ms (99 %);"
        f" the longest of all took {longest:.1f} s"
    )


async def read_by_kafka(mixed: MixedQuorum) -> None:
    """Check that Kafka's own tool reads what kwire wrote."""
    for member in mixed.kwire.members.values():
        told = await asyncio.to_thread(
            mixed.java.tool,
            "org.apache.kafka.tools.DumpLogSegments",
            "--cluster-metadata-decoder",
            "--files",
            str(segment(member.data)),
        )
        assert told.returncode == 0, told.stderr
        assert told.stdout.count('"type":"TOPIC_RECORD"') >= len(mixed.history.acknowledged)
