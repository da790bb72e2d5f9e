"""A topic that a proxy records into becomes the tables that captures of the same become."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import SparkSession

from kwire.capture import RecordEncoder
from kwire.capture.message import message_head
from kwire.pipeline.ingest import ingest
from kwire.pipeline.installed import KAFKA, coordinates
from kwire.pipeline.streaming.job import stream
from kwire.pipeline.streaming.topic import messages, read_messages
from kwire.proxy.capture.record_topic import TopicAddress, TopicProducer
from real_kafka import Cluster, artifact
from tests.support.capture.capture_records import record, write
from tests.support.pipeline.decodable_calls import call, notice
from tests.support.pipeline.recordings import plain_rows

PATIENCE = 120.0
RECORDS = [notice(1_000), *(entry for event in range(40) for entry in call(event))]


def test_what_is_no_record_is_a_row_that_says_so() -> None:
    whole = message_head() + RecordEncoder().encode(record(3))
    sent = [("t", 0, 0, whole), ("t", 0, 1, b"junk"), ("t", 1, 7, None), ("t", 1, 8, whole)]
    names = ("topic", "partition", "offset", "value")
    batch = pa.RecordBatch.from_pylist([dict(zip(names, message, strict=True)) for message in sent])
    found = [row for out in read_messages([batch]) for row in out.to_pylist()]
    assert [(row["file"], row["event"], row["text"]) for row in found] == [
        ("t-0", 3, None),
        ("t-0", None, "t-0, offset 1, byte 0: no record of a capture (4 bytes are lost)"),
        ("t-1", None, "t-1, offset 7, byte 0: no record of a capture"),
        ("t-1", 3, None),
    ]


@pytest.fixture
def captured(combined: Cluster) -> Iterator[TopicAddress]:
    """A topic of two partitions, gone in the end."""
    admin = AdminClient({"bootstrap.servers": combined.bootstrap_servers})
    name = f"captured-{uuid4()}"
    admin.create_topics([NewTopic(name, num_partitions=2)])[name].result(PATIENCE)
    yield TopicAddress.parse(f"{name}@{combined.bootstrap_servers}")
    admin.delete_topics([name])[name].result(PATIENCE)


@pytest.fixture
def spark_kafka(spark: SparkSession) -> SparkSession:
    """The session with the package that the command would load."""
    (coordinate,) = coordinates([KAFKA])
    for jar in artifact(coordinate):
        if not jar.name.startswith(("hadoop", "scala", "slf4j", "lz4", "snappy", "jsr305")):
            spark.sql(f"ADD JAR '{jar}'")
    return spark


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_topic_becomes_the_tables_of_a_capture(
    spark_kafka: SparkSession, captured: TopicAddress, tmp_path: Path
) -> None:
    (tmp_path / "captures").mkdir()
    write(tmp_path / "captures" / "night.avro", RECORDS)
    ingest(spark_kafka, [str(tmp_path / "captures")], str(tmp_path / "ingested"))
    topic, encoder = TopicProducer(captured), RecordEncoder()
    for part in (RECORDS[:50], RECORDS[50:]):  # which parts a request from its response
        topic.write(0.0, *(message_head() + encoder.encode(one) for one in part))
        topic.close()
        followed = messages(spark_kafka, captured.topic, captured.bootstrap)
        summary = stream(followed, str(tmp_path / "streamed"), every=None)
    assert topic.lost == 0
    assert sum(summary.frames.values()) == len(RECORDS) - 50
    streamed, ingested = (plain_rows(tmp_path / name) for name in ("streamed", "ingested"))
    for table in ("calls", "quorum", "messages", "verdicts"):
        assert streamed[table] == ingested[table], table
