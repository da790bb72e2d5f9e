"""KIP-841's two invariants, after every batch of a metadata log, as rows of `verdicts`.

1. "A fenced or in-controlled-shutdown replica is not eligible to be in the ISR": none joins one,
   and none is in one that has a leader. Without a leader the last member stays, whatever it is.
2. "… is not eligible to become leader": none leads, and who leads is in the ISR.

A batch is applied as a whole: the controller commits it as one, and between its records the
invariants need not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

import pyarrow as pa
from msgspec import structs
from pyspark.sql import DataFrame

from kwire.batches.metadata_records import VersionedRecord
from kwire.image import EMPTY, MetadataImage, ReplayError, apply
from kwire.image.cluster import ClusterImage
from kwire.image.partition import NO_LEADER, PartitionRegistration
from kwire.pipeline.arrow_tasks import map_batches
from kwire.pipeline.schemas import VERDICTS
from kwire.pipeline.tables.folding import Fold, RecordPosition, folded, in_order

ISR, LEADER = "kip-841-isr", "kip-841-leader"

_COLUMNS = ("check", "passed", "detail", "at", "log", "offset", "epoch")
ROWS = pa.schema([VERDICTS.field(name) for name in _COLUMNS])


def eligibility(logged: DataFrame) -> DataFrame:
    """Return two rows for every batch of every log."""
    return map_batches(in_order(logged), _verdicts, ROWS)


def _verdicts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from folded(batches, Eligibility, ROWS)


class Eligibility(Fold):
    """The metadata of one log, and the violations in it after a batch."""

    def __init__(self) -> None:
        self._image = self._before = EMPTY
        self._broken: str | None = None

    def take(self, position: RecordPosition, record: VersionedRecord) -> Iterator[dict[str, Any]]:
        try:
            self._image = apply(self._image, record)
        except ReplayError as error:
            self._broken = f"offset {position.offset} cannot be applied: {error}"
        if position.last:
            yield from self._check(position)

    def restored(self, position: RecordPosition) -> Iterator[dict[str, Any]]:
        """Check all partitions, none of which has just changed."""
        # Another cluster makes `_changed` yield all partitions; with the same topics no member of
        # an ISR counts as new.
        self._before = structs.replace(self._image, cluster=EMPTY.cluster)
        yield from self._check(position)

    def _check(self, position: RecordPosition) -> Iterator[dict[str, Any]]:
        wrong: dict[str, list[str]] = {ISR: [], LEADER: []}
        image = self._image.published
        for topic_id, number, partition in _changed(self._before, image):
            known = self._before.topics.partition(topic_id, number)
            name = f"{image.topics.by_id[topic_id].name}-{number}"
            for check, text in _violations(partition, known, image.cluster):
                wrong[check].append(f"{name}: {text}")
        self._before = image
        for check, texts in wrong.items():
            problems = [self._broken] if self._broken else texts
            yield position.columns() | {
                "check": check,
                "passed": not problems,
                "detail": "; ".join(problems) or None,
            }


def _violations(
    partition: PartitionRegistration, known: PartitionRegistration | None, cluster: ClusterImage
) -> Iterator[tuple[str, str]]:
    leader, isr = partition.leader, partition.isr
    led = leader != NO_LEADER
    # With a leader the whole ISR must be active; without one only members that just joined.
    judged = isr if led else set(isr) - set(known.isr if known else ())
    for replica in sorted(judged):
        if not cluster.is_active(replica):
            yield ISR, f"{replica} in ISR {list(isr)} is fenced or shutting down"
    if led and not cluster.is_active(leader):
        yield LEADER, f"leader {leader} is fenced or shutting down"
    elif led and leader not in isr:
        yield LEADER, f"leader {leader} is not in ISR {list(isr)}"


def _changed(
    before: MetadataImage, after: MetadataImage
) -> Iterator[tuple[UUID, int, PartitionRegistration]]:
    """Yield the partitions that a batch may have affected: all of them, if a broker changed."""
    all_partitions = before.cluster is not after.cluster
    if not all_partitions and before.topics is after.topics:
        return
    for topic_id, topic in after.topics.by_id.items():
        if all_partitions or before.topics.by_id.get(topic_id) is not topic:
            for number, partition in topic.partitions.items():
                yield topic_id, number, partition
