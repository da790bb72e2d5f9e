"""One table of frames in each format that `table_formats.py` compares, and a process that appends.

    python benchmarks/table_writers.py FORMAT FOLDER LOG --prefix a --appends 100 [--rows 1000]

A line of LOG says that an append begins, and another one what became of it, before the next begins.
FOLDER may be an s3:// address; --s3 is its server. --gate names a file that is waited for after the
first append, which warms up. --room leaves so many kilobytes of the disk before each append.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar
from uuid import uuid4

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.session import spark_session

DELTA_JAR = "io.delta:delta-spark_2.13:4.0.0"
ICEBERG_JARS = (
    "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",
    "org.xerial:sqlite-jdbc:3.47.1.0",
)

TRIES = 100
"""Commits that are tried for one append, each on the then newest version."""

APIS = (0, 1, 3, 18, 52, 53, 55, 56, 63)

SCHEMA = pa.schema(
    {
        "batch": pa.string(),
        "event": pa.int64(),
        "connection": pa.int32(),
        "time": pa.timestamp("us", "UTC"),
        "kind": pa.string(),
        "api_key": pa.int32(),
        "api_version": pa.int32(),
        "correlation_id": pa.int32(),
        "client_id": pa.string(),
        "size": pa.int32(),
        "error_code": pa.int32(),
        "latency_ms": pa.float64(),
    }
)


def frames(batch: str, rows: int, first: int = 0) -> pa.Table:
    """Rows as a table of frames has them, the same ones for the same arguments."""
    random = np.random.default_rng(first)
    events = np.arange(first, first + rows)
    kinds, clients = pa.array(["request", "response"]), pa.array([f"client-{n}" for n in range(9)])
    columns = {
        "batch": pa.array([batch]).take(pa.array(np.zeros(rows, dtype=np.int32))),
        "event": events,
        "connection": random.integers(0, 40, rows, dtype=np.int32),
        "time": pa.array(1_764_000_000_000_000 + events * 313, pa.timestamp("us", "UTC")),
        "kind": kinds.take(pa.array(events % 2)),
        "api_key": random.choice(np.array(APIS, dtype=np.int32), rows),
        "api_version": random.integers(0, 13, rows, dtype=np.int32),
        "correlation_id": (events // 2).astype(np.int32),
        "client_id": clients.take(pa.array(random.integers(0, 9, rows))),
        "size": random.integers(20, 2000, rows, dtype=np.int32),
        "error_code": np.zeros(rows, dtype=np.int32),
        "latency_ms": random.exponential(2.0, rows),
    }
    return pa.table(columns, schema=SCHEMA)


T = TypeVar("T")
Added = list[AddAction | RemoveAction]


class TableFormat(ABC):
    """A table of frames below a folder. s3: the server of an s3:// address."""

    name: str
    from_spark = False

    def __init__(self, folder: str, s3: str | None = None) -> None:
        self.folder, self.s3 = folder, s3
        self.options = {"endpoint_url": s3} if s3 else {}

    @abstractmethod
    def create(self) -> None:
        """Make the table, without rows."""

    @abstractmethod
    def append(self, batch: str, rows: int) -> int:
        """Append one file, unless the table has this batch; return how many commits lost a race."""

    @abstractmethod
    def rows(self) -> Counter[str]:
        """Count the rows of each batch, by a reader that opens the table anew."""

    def write(self, batch: str, rows: int) -> tuple[str, int]:
        """Write one Parquet file below the folder; return its name and its size."""
        name = f"part-{uuid4()}.parquet"
        with fsspec.open(f"{self.folder}/{name}", "wb", **self.options) as file:
            pq.write_table(frames(batch, rows), file, compression="zstd")
            size = file.tell()
        return name, size


class DeltaRs(TableFormat):
    """Delta: a file of pyarrow, committed through delta-rs on the version that was looked at."""

    name = "Delta, delta-rs"
    retries: int | None = 0

    def __init__(self, folder: str, s3: str | None = None) -> None:
        super().__init__(folder, s3)
        self._storage = {"AWS_ENDPOINT_URL": s3, "AWS_ALLOW_HTTP": "true"} if s3 else None
        if s3:
            self._storage = {**(self._storage or {}), "aws_conditional_put": "etag"}
        self._table: DeltaTable | None = None

    def table(self) -> DeltaTable:
        """Open the newest version."""
        return despite_gaps(lambda: DeltaTable(self.folder, storage_options=self._storage))

    def create(self) -> None:
        DeltaTable.create(self.folder, SCHEMA, storage_options=self._storage)

    def append(self, batch: str, rows: int) -> int:
        if self._table is None:
            self._table = self.table()
        added: Added = [add_action(*self.write(batch, rows), rows)]
        # A commit leaves the object at the version before it.
        despite_gaps(self._table.update_incremental)
        for lost in range(TRIES):
            if self._table.transaction_version(batch) is not None:
                return lost
            try:
                commit_delta(self._table, added, batch, self.retries)
            except CommitFailedError:
                despite_gaps(self._table.update_incremental)
            else:
                return lost
        raise TimeoutError(f"{TRIES} commits lost a race")

    def rows(self) -> Counter[str]:
        return counted(self.table().to_pyarrow_dataset().to_table(["batch"]))


def despite_gaps(look: Callable[[], T]) -> T:
    """Look into the log again if a file of it was missed.

    The list of a folder to which others add files may have a later one and not an earlier one.
    delta-rs takes that for a damaged log.
    """
    for _ in range(TRIES):
        try:
            return look()
        except DeltaError as error:
            if "found gap" not in str(error):
                raise
            sys.stderr.write(f"gap: {error}\n")
    return look()


def add_action(name: str, size: int, rows: int) -> AddAction:
    """Describe a file to be added.

    Of statistics it has the number of rows. If it had the least and greatest values of some columns
    only, to_pyarrow_dataset() of delta-rs 1.6.6 would take the others for null everywhere: a filter
    on them finds no rows, without an error.
    """
    stats = json.dumps({"numRecords": rows})
    return AddAction(name, size, {}, int(time.time() * 1000), True, stats)


def commit_delta(table: DeltaTable, added: Added, batch: str, retries: int | None = 0) -> None:
    """Commit on the version of `table`; raise CommitFailedError if there is a newer one."""
    done = [Transaction(batch, 1)]
    properties = CommitProperties(max_commit_retries=retries, app_transactions=done)
    table.create_write_transaction(added, "append", SCHEMA, commit_properties=properties)


class DeltaRsRetrying(DeltaRs):
    """The same, with delta-rs's own retries: it puts a commit behind those that were faster."""

    name = "Delta, delta-rs's retries"
    retries = None


class PyIceberg(TableFormat):
    """Iceberg: a file of pyarrow, committed through pyiceberg to a catalog in SQLite."""

    name = "Iceberg, pyiceberg"
    properties: Mapping[str, str] = MappingProxyType({"commit.retry.num-retries": "0"})

    def __init__(self, folder: str, s3: str | None = None) -> None:
        super().__init__(folder, s3)
        self._table: Any = None
        database = os.environ.get("KWIRE_CATALOG", folder)
        self._catalog = f"sqlite:///{database}/catalog.db"

    def table(self) -> Any:
        """Open the newest snapshot."""
        return self.catalog().load_table("db.frames")

    def catalog(self) -> Any:
        """Connect to the catalog."""
        from pyiceberg.catalog.sql import SqlCatalog

        s3 = {"s3.endpoint": self.s3, "s3.region": "us-east-1"} if self.s3 else {}
        where = self.folder if self.s3 else f"file://{self.folder}"
        return SqlCatalog("kwire", uri=self._catalog, warehouse=where, **s3)

    def create(self) -> None:
        catalog = self.catalog()
        catalog.create_namespace("db")
        catalog.create_table("db.frames", SCHEMA, properties=dict(self.properties))

    def append(self, batch: str, rows: int) -> int:
        from pyiceberg.exceptions import CommitFailedException

        name, _ = self.write(batch, rows)
        self._table = self._table.refresh() if self._table else self.table()
        for lost in range(TRIES):
            if self.has(batch):
                return lost
            try:
                self.commit([name], batch)
            except CommitFailedException:
                self._table = self.table()
            else:
                return lost
        raise TimeoutError(f"{TRIES} commits lost a race")

    def has(self, batch: str) -> bool:
        """Look for the batch in the properties of all snapshots, as nothing else remembers it."""
        properties = (one.summary.additional_properties for one in self._table.snapshots())
        return any(one.get("kwire.batch") == batch for one in properties)

    def commit(self, names: list[str], batch: str) -> None:
        """Add files that lie below the folder; their footers are read again."""
        paths = [f"{self.folder}/{name}" for name in names]
        self._table = self._table or self.table()
        # Names are unique. The check for files that the table has would read all its manifests.
        self._table.add_files(paths, {"kwire.batch": batch}, check_duplicate_files=False)

    def rows(self) -> Counter[str]:
        return counted(self.table().scan(selected_fields=("batch",)).to_arrow())


class PyIcebergRetrying(PyIceberg):
    """The same, with pyiceberg's own retries."""

    name = "Iceberg, pyiceberg's retries"
    properties: Mapping[str, str] = MappingProxyType({})


class FromSpark(TableFormat):
    """A table that a JVM writes and commits."""

    from_spark = True
    jars: tuple[str, ...] = ()

    def settings(self) -> dict[str, str]:
        """Return what Spark has to be told of the format."""
        return {}

    def spark(self) -> SparkSession:
        """Start or return the session of this process."""
        return spark_session("local[1]", packages=self.jars, settings=self.settings())

    def batch(self, batch: str, rows: int) -> DataFrame:
        """Make the rows of an append in Spark, for one file."""
        names = [
            f"'{batch}' AS batch",
            "id AS event",
            "CAST(id % 40 AS INT) AS connection",
            "timestamp_micros(1764000000000000 + id * 313) AS time",
            "IF(id % 2 = 0, 'request', 'response') AS kind",
            "CAST(id % 60 AS INT) AS api_key",
            "CAST(id % 13 AS INT) AS api_version",
            "CAST(id / 2 AS INT) AS correlation_id",
            "concat('client-', id % 9) AS client_id",
            "CAST(rand(0) * 2000 AS INT) AS size",
            "0 AS error_code",
            "rand(1) AS latency_ms",
        ]
        return self.spark().range(0, rows, 1, 1).selectExpr(*names)


class ParquetFolder(FromSpark):
    """No table format: Spark appends to a folder of Parquet files."""

    name = "Parquet folder, Spark"

    def create(self) -> None:
        Path(self.folder, "table").mkdir()

    def append(self, batch: str, rows: int) -> int:
        self.batch(batch, rows).write.mode("append").parquet(f"{self.folder}/table")
        return 0

    def rows(self) -> Counter[str]:
        where = ds.dataset(f"{self.folder}/table", SCHEMA, format="parquet")
        return counted(where.to_table(["batch"]))


class DeltaSpark(FromSpark):
    """Delta, committed by its Spark jar. A batch is the version of a transaction of its own."""

    name = "Delta, Spark jar"
    jars = (DELTA_JAR,)

    def settings(self) -> dict[str, str]:
        return {
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.databricks.delta.snapshotPartitions": "1",
        }

    def create(self) -> None:
        DeltaTable.create(self.folder, SCHEMA)

    def append(self, batch: str, rows: int) -> int:
        once = {"txnAppId": batch, "txnVersion": "1"}
        writer = self.batch(batch, rows).write.format("delta").mode("append")
        writer.options(**once).save(self.folder)
        return 0

    def rows(self) -> Counter[str]:
        return counted(DeltaTable(self.folder).to_pyarrow_dataset().to_table(["batch"]))


class IcebergJdbc(FromSpark):
    """Iceberg by its Spark jar, with the same catalog in SQLite that pyiceberg has."""

    name = "Iceberg, Spark jar, SQLite"
    jars = ICEBERG_JARS
    table = "kwire.db.frames"

    def settings(self) -> dict[str, str]:
        database = f"{self.folder}/catalog.db?busy_timeout=2000"
        return self.extension() | {
            "spark.sql.catalog.kwire": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.kwire.type": "jdbc",
            "spark.sql.catalog.kwire.uri": f"jdbc:sqlite:{database}",
            "spark.sql.catalog.kwire.jdbc.schema-version": "V1",
            "spark.sql.catalog.kwire.warehouse": f"file://{self.folder}",
            "spark.sql.catalog.kwire.cache-enabled": "false",
        }

    def extension(self) -> dict[str, str]:
        """Return the setting that gives Spark Iceberg's procedures."""
        extensions = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        return {"spark.sql.extensions": extensions}

    def create(self) -> None:
        PyIcebergRetrying(self.folder).create()

    def append(self, batch: str, rows: int) -> int:
        writer = self.batch(batch, rows).writeTo(self.table)
        writer.option("snapshot-property.kwire.batch", batch).append()
        return 0

    def rows(self) -> Counter[str]:
        return PyIceberg(self.folder).rows()


class IcebergHadoop(IcebergJdbc):
    """Iceberg by its Spark jar, without a catalog: a rename of the metadata file decides."""

    name = "Iceberg, Spark jar, Hadoop"

    def settings(self) -> dict[str, str]:
        return self.extension() | {
            "spark.sql.catalog.kwire": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.kwire.type": "hadoop",
            "spark.sql.catalog.kwire.warehouse": f"file://{self.folder}",
            "spark.sql.catalog.kwire.cache-enabled": "false",
        }

    def create(self) -> None:
        self.batch("", 0).writeTo(self.table).create()

    def rows(self) -> Counter[str]:
        from pyiceberg.table import StaticTable

        metadata = Path(self.folder, "db", "frames", "metadata")
        newest = max(int(one.name[1:].split(".")[0]) for one in metadata.glob("v*.metadata.json"))
        table: Any = StaticTable.from_metadata(f"file://{metadata}/v{newest}.metadata.json")
        return counted(table.scan(selected_fields=("batch",)).to_arrow())


def counted(table: pa.Table) -> Counter[str]:
    """Count the rows of each batch."""
    groups = table.group_by("batch").aggregate([("batch", "count")])
    counts = zip(groups["batch"].to_pylist(), groups["batch_count"].to_pylist(), strict=True)
    return Counter(dict(counts))


FORMATS: dict[str, type[TableFormat]] = {
    one.name: one
    for one in (
        DeltaRs,
        DeltaRsRetrying,
        DeltaSpark,
        PyIceberg,
        PyIcebergRetrying,
        IcebergJdbc,
        IcebergHadoop,
        ParquetFolder,
    )
}


@contextmanager
def only_room(folder: str, kilobytes: int | None) -> Iterator[None]:
    """Leave so many kilobytes on the disk of the folder meanwhile."""
    if kilobytes is None:
        yield
        return
    filler = Path(folder, "_filler")
    state = os.statvfs(folder)
    size = state.f_bavail * state.f_frsize - kilobytes * 1024
    filler.write_bytes(bytes(max(0, size)))
    try:
        yield
    finally:
        filler.unlink()


def append_all(table: TableFormat, log: int, given: argparse.Namespace) -> None:
    """Append every batch; say in the log when one begins and how it ended."""
    rooms = given.room or [None] * given.appends
    for number, room in enumerate(rooms):
        batch = f"{given.prefix}-{number}"
        _say(log, {"try": batch})
        with only_room(given.folder, room):
            start = time.monotonic()
            try:
                lost = table.append(batch, given.rows)
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
                _say(log, {"failed": batch, "error": text[:2000]})
            else:
                _say(log, {"ok": batch, "seconds": time.monotonic() - start, "lost": lost})
        while given.gate and not given.gate.exists():
            time.sleep(0.001)


def _say(log: int, what: dict[str, Any]) -> None:
    os.write(log, f"{json.dumps(what)}\n".encode())


def main() -> None:
    """Append what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("folder")
    parser.add_argument("log", type=Path)
    parser.add_argument("--prefix", default="batch")
    parser.add_argument("--appends", type=int, default=0)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--room", nargs="*", type=int)
    parser.add_argument("--gate", type=Path)
    parser.add_argument("--s3")
    parser.add_argument("--create", action="store_true")
    given = parser.parse_args()
    table = FORMATS[given.format](given.folder, given.s3)
    if given.create:
        table.create()
    log = os.open(given.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    append_all(table, log, given)


if __name__ == "__main__":
    main()
