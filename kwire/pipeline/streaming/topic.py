"""A stream of the records of a topic that a proxy records into (`kwire proxy --record-topic`).

It needs the package spark-sql-kafka (`kwire.pipeline.installed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from kwire.capture import CaptureRecord, Damage
from kwire.capture.encoding import BadRecord
from kwire.capture.message import MessageDecoder
from kwire.pipeline.reading.captured import captured_batches
from kwire.pipeline.streaming.job import StreamSource
from kwire.pipeline.writing.captures import RowWork

MESSAGES = 1_000_000
"""Messages in one batch, at most."""


def messages(spark: SparkSession, topic: str, bootstrap: str) -> StreamSource:
    """Return the messages that are, or will be, in a topic."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    # From the begin of the topic; a later run goes on from Spark's checkpoint instead.
    stream = reader.options(
        subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger=MESSAGES
    ).load()
    rows = stream.select("topic", "partition", "offset", "value")
    return StreamSource(rows, lambda batch: RowWork(batch, read_messages))


def read_messages(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches of messages; one that is no record becomes a row of damage."""
    decoder = MessageDecoder()
    for batch in batches:
        for name, rows in groupby(batch.to_pylist(), _partition):
            yield from captured_batches((_record(decoder, name, row) for row in rows), name)


def _partition(row: dict[str, Any]) -> str:
    return f"{row['topic']}-{row['partition']}"


def _record(decoder: MessageDecoder, name: str, row: dict[str, Any]) -> CaptureRecord | Damage:
    value = row["value"] or b""
    try:
        return decoder.decode(value)
    except BadRecord as error:
        location = f"{name}, offset {row['offset']}"
        return Damage(file=location, offset=0, size=len(value), reason=str(error))
