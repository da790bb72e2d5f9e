"""Spark's own Avro reader gives what the data source in Python gives, of every version."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import pytest
from crc32c import crc32c
from pyspark.sql import SparkSession

from kwire.capture import CaptureFile, RecordEncoder
from kwire.capture.avro import long_bytes
from kwire.capture.schema import schema
from kwire.pipeline.decoding import CAPTURED
from kwire.pipeline.installed import AVRO, coordinates
from kwire.pipeline.reading.avro import read_avro
from kwire.pipeline.reading.source import KwireSource
from real_kafka import artifact
from tests.support.capture.capture_records import KINDS, record, write


@pytest.fixture(scope="module")
def avro(spark: SparkSession) -> SparkSession:
    """The session with the package that the command would load."""
    (coordinate,) = coordinates([AVRO])
    (jar,) = (one for one in artifact(coordinate) if one.name.startswith("spark-avro"))
    spark.sql(f"ADD JAR '{jar}'")
    return spark


def first_version(path: Path) -> None:
    """A capture as the first version wrote it: without `deeds`."""
    file = CaptureFile(path, schema(1), 1)
    encoded = RecordEncoder().encode(record(7, notice="N", text="T"))
    tail = b"\2" + long_bytes(1) + b"N" + b"\2" + long_bytes(1) + b"T"
    body = encoded[:-4].removesuffix(b"\0" + tail) + tail
    data = body + crc32c(body).to_bytes(4, "big")
    file.write(data)
    file.close()
    with path.open("rb") as opened:
        found: Iterator[Any] = fastavro.reader(opened)
        assert [item["text"] for item in found] == ["T"]


def test_both_readers_give_the_same_rows(avro: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "night.avro", list(KINDS))
    first_version(tmp_path / "older.avro")
    theirs = read_avro(avro, [str(tmp_path)])
    avro.dataSource.register(KwireSource)
    ours = avro.read.format("kwire").load(str(tmp_path))
    assert theirs.columns == CAPTURED.names
    rows = [tuple(row) for row in ours.drop("file").orderBy("event", "kind").collect()]
    assert [tuple(row) for row in theirs.drop("file").orderBy("event", "kind").collect()] == rows
    assert len(rows) == len(KINDS) + 1
