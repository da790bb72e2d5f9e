"""Measure writing, committing and reading a table in each format; try what each can do."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files, requires
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType
from packaging.requirements import Requirement
from pyspark.sql import SparkSession

from kwire.pipeline.session import spark_session
from process_tree import ProcessTree
from table_writers import (
    Added,
    DeltaRs,
    DeltaSpark,
    IcebergJdbc,
    PyIceberg,
    add_action,
    commit_delta,
    frames,
)

T = TypeVar("T")

KEY, LEAST = 1, 1000
WHERE = f"api_key = {KEY} AND size > {LEAST}"
ASKED = f"count(*) AS n, sum(size) AS bytes FROM t WHERE {WHERE}"
"""The query of all readers: two columns, a ninth of the rows, half of those."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One run. cpu: seconds of all processes together. wall: seconds."""

    cpu: float
    wall: float


def cost_of(work: Callable[[], object]) -> Cost:
    """Run it once."""
    with ProcessTree() as tree:
        work()
    return Cost(tree.cpu, tree.wall)


def median(costs: list[Cost]) -> Cost:
    """Return the medians of both times."""
    cpu, wall = ([getattr(cost, name) for cost in costs] for name in ("cpu", "wall"))
    return Cost(statistics.median(cpu), statistics.median(wall))


def interleaved(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, Cost]:
    """Run all ways in turn, once to warm up and then in every round; return medians."""
    costs: dict[str, list[Cost]] = {name: [] for name in ways}
    for name, way in [*ways.items()] * (rounds + 1):
        costs[name].append(cost_of(way))
    return {name: median(taken[1:]) for name, taken in costs.items()}


@contextmanager
def session(folder: str) -> Iterator[SparkSession]:
    """Start Spark with the jars of both formats; Iceberg's catalog is below the folder."""
    kinds = DeltaSpark(folder), IcebergJdbc(f"{folder}/iceberg")
    both = [kind.settings() for kind in kinds]
    extensions = ",".join(settings["spark.sql.extensions"] for settings in both)
    settings = {
        **both[0],
        **both[1],
        "spark.sql.extensions": extensions,
        "spark.sql.parquet.compression.codec": "zstd",
    }
    spark = spark_session("local[2]", packages=[*kinds[0].jars, *kinds[1].jars], settings=settings)
    try:
        yield spark
    finally:
        spark.stop()


class Tables:
    """The same files of Parquet in a table of Delta and in one of Iceberg."""

    def __init__(self, folder: str, rows: int, number: int) -> None:
        self.delta, self.iceberg = DeltaRs(f"{folder}/delta"), PyIceberg(f"{folder}/iceberg")
        for path in (self.delta.folder, self.iceberg.folder):
            Path(path).mkdir(parents=True)
        self.delta.create()
        self.iceberg.create()
        self.rows = rows // number
        self.files = [self.delta.write("b", self.rows) for _ in range(number)]

    def commit_delta(self) -> None:
        """Add all files in one commit."""
        added: Added = [add_action(name, size, self.rows) for name, size in self.files]
        commit_delta(self.delta.table(), added, "b")

    def commit_iceberg(self) -> None:
        """Add all files in one commit; pyiceberg reads the footer of each."""
        table = self.iceberg.table()
        paths = [f"{self.delta.folder}/{name}" for name, _ in self.files]
        table.add_files(paths, {"kwire.batch": "b"}, check_duplicate_files=False)


def commits(files_: int, rounds: int) -> dict[str, Cost]:
    """Commit so many files that are there already, each round to new tables."""
    costs: dict[str, list[Cost]] = {"delta-rs": [], "pyiceberg": []}
    for _ in range(rounds):
        with TemporaryDirectory() as folder:
            tables = Tables(folder, 100 * files_, files_)
            ways = (tables.commit_delta, tables.commit_iceberg)
            for taken, way in zip(costs.values(), ways, strict=True):
                cpu, wall = time.process_time(), time.monotonic()
                way()
                taken.append(Cost(time.process_time() - cpu, time.monotonic() - wall))
            assert tables.delta.rows().total() == tables.iceberg.rows().total() == 100 * files_
    return {name: median(taken) for name, taken in costs.items()}


def writes(spark: SparkSession, folder: str, rows: int, number: int) -> dict[str, Cost]:
    """Copy rows from Parquet into tables, of so many files, by each writer, once.

    Iceberg's table is the one of the session's catalog, whatever it has; the others are new.
    """
    with TemporaryDirectory(dir=folder) as here:
        source = Path(here, "source")
        source.mkdir()
        for part in range(number):
            pq.write_table(frames("b", rows // number, part), source / f"{part}.parquet")
        rows_of = spark.read.parquet(str(source))
        catalog = Path(folder, "iceberg")
        if not catalog.exists():
            catalog.mkdir()
            PyIceberg(str(catalog)).create()
        delta = DeltaRs(f"{here}/delta-rs")
        Path(delta.folder).mkdir()
        delta.create()
        ways: dict[str, Callable[[], object]] = {
            "pyarrow, delta-rs": lambda: copy_by_pyarrow(source, delta, rows // number),
            "Delta, Spark jar": lambda: rows_of.write.format("delta").save(f"{here}/delta"),
            "Iceberg, Spark jar": lambda: rows_of.writeTo("kwire.db.frames").append(),
            "Parquet folder, Spark": lambda: rows_of.write.parquet(f"{here}/parquet"),
        }
        return {name: cost_of(way) for name, way in ways.items()}


def copy_by_pyarrow(source: Path, delta: DeltaRs, rows: int) -> None:
    """Write every file again, of so many rows each, and commit them."""
    added: Added = []
    for path in sorted(source.iterdir()):
        copy = Path(delta.folder, path.name)
        pq.write_table(pq.read_table(path), copy, compression="zstd")
        added.append(add_action(copy.name, copy.stat().st_size, rows))
    commit_delta(delta.table(), added, "b")


def scans(spark: SparkSession, tables: Tables) -> dict[str, Callable[[], tuple[int, int]]]:
    """Return the ways to ask both tables the same, each opening its table anew."""
    delta = tables.delta.folder
    found = ds.field("api_key") == KEY, ds.field("size") > LEAST

    def by_spark(frame: Any) -> tuple[int, int]:
        frame.createOrReplaceTempView("t")
        row = spark.sql(f"SELECT {ASKED}").first()
        return _pair(row)

    def by_duckdb(source: Any) -> tuple[int, int]:
        with duckdb.connect() as database:
            database.register("t", source(database) if callable(source) else source)
            return _pair(database.execute(f"SELECT {ASKED}").fetchone())

    def by_duckdb_files() -> tuple[int, int]:
        with duckdb.connect() as database:
            names = DeltaTable(delta).file_uris()
            query = ASKED.replace("FROM t", "FROM read_parquet(?)")
            return _pair(database.execute(f"SELECT {query}", [names]).fetchone())

    def by_pandas() -> tuple[int, int]:
        filters = [("api_key", "=", KEY), ("size", ">", LEAST)]
        frame = DeltaTable(delta).to_pandas(filters=filters, columns=["api_key", "size"])
        return len(frame), int(frame["size"].sum())

    def by_pyarrow() -> tuple[int, int]:
        dataset = DeltaTable(delta).to_pyarrow_dataset()
        return _sizes(dataset.to_table(["size"], filter=found[0] & found[1]))

    def by_polars() -> tuple[int, int]:
        lazy = pl.scan_delta(delta).filter(pl.col("api_key") == KEY, pl.col("size") > LEAST)
        return _sizes(lazy.select("size").collect().to_arrow())

    def by_pyiceberg() -> tuple[int, int]:
        scan = tables.iceberg.table().scan(row_filter=WHERE, selected_fields=("api_key", "size"))
        return _sizes(scan.to_arrow())

    return {
        "Spark, files of a Delta version": lambda: by_spark(
            spark.read.parquet(*DeltaTable(delta).file_uris())
        ),
        "Spark, Delta jar": lambda: by_spark(spark.read.format("delta").load(delta)),
        "Spark, Iceberg jar": lambda: by_spark(spark.table("kwire.db.frames")),
        "Spark, Parquet folder": lambda: by_spark(spark.read.parquet(f"{delta}/*.parquet")),
        "DuckDB, to_pyarrow_dataset": lambda: by_duckdb(DeltaTable(delta).to_pyarrow_dataset()),
        "DuckDB, files of a Delta version": by_duckdb_files,
        "pyarrow, to_pyarrow_dataset": by_pyarrow,
        "pandas, Delta": by_pandas,
        "polars, Delta": by_polars,
        "pyiceberg": by_pyiceberg,
    }


def _pair(row: tuple[Any, ...] | None) -> tuple[int, int]:
    assert row is not None
    return int(row[0]), int(row[1])


def _sizes(table: pa.Table) -> tuple[int, int]:
    return table.num_rows, int(pa.compute.sum(table["size"]).as_py())


def scanned(spark: SparkSession, tables: Tables, rounds: int) -> dict[str, Cost]:
    """Ask by all readers in turn; the answers have to be the same."""
    ways = scans(spark, tables)
    answers = {name: way() for name, way in ways.items()}
    assert len(set(answers.values())) == 1, answers
    return interleaved(dict(ways), rounds)


BATCHES = 8
EARLY = 3
"""Batches that a table has before its features are tried, and when it is looked back at."""


@dataclass(frozen=True, slots=True)
class Feature:
    """Findings about a format. nulls: in the added column. early: rows of an old version."""

    nulls: str
    compaction: str
    early: str
    removed: str


def delta_rs_can(folder: str) -> Feature:
    """Add a column, compact, look back, and remove what no version needs, with delta-rs alone."""
    delta = DeltaRs(folder)
    delta.create()
    for number in range(BATCHES):
        delta.append(f"b-{number}", 1000)
    delta.table().alter.add_columns([Field("added", PrimitiveType("string"))])
    added = delta.table().to_pyarrow_dataset().to_table(["added"])["added"]
    before = len(delta.table().file_uris())
    _, taken = timed(delta.table().optimize.compact)
    early = DeltaTable(folder, version=EARLY).to_pyarrow_dataset().count_rows()
    after = len(delta.table().file_uris())
    removed = delta.table().vacuum(0, dry_run=False, enforce_retention_duration=False)
    return Feature(
        nulls_of(added), compacted(before, after, taken), f"{early:,}", str(len(removed))
    )


def pyiceberg_can(folder: str) -> Feature:
    """The same with pyiceberg, which has no compaction of its own: all rows are written again."""
    from pyiceberg.types import StringType

    iceberg = PyIceberg(folder)
    iceberg.create()
    for number in range(BATCHES):
        iceberg.append(f"b-{number}", 1000)
    table = iceberg.table()
    with table.update_schema() as change:
        change.add_column("added", StringType())
    table = iceberg.table()
    added = table.scan(selected_fields=("added",)).to_arrow()["added"]
    before, old = len(list(table.scan().plan_files())), table.snapshots()[EARLY - 1].snapshot_id
    _, taken = timed(lambda: table.overwrite(table.scan().to_arrow()))
    early = table.scan(snapshot_id=old).to_arrow().num_rows
    after = len(list(iceberg.table().scan().plan_files()))
    return Feature(
        nulls_of(added),
        f"{compacted(before, after, taken)} (overwritten)",
        f"{early:,}",
        "- (snapshots expire, files stay)",
    )


def delta_spark_can(spark: SparkSession, folder: str) -> Feature:
    """The same with Delta's jar."""
    delta = DeltaSpark(folder)
    delta.create()
    for number in range(BATCHES):
        delta.append(f"b-{number}", 1000)
    table = f"delta.`{folder}`"
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (added STRING)")
    added = spark.read.format("delta").load(folder).select("added").toArrow()["added"]
    before = len(DeltaTable(folder).file_uris())
    _, taken = timed(lambda: spark.sql(f"OPTIMIZE {table}").collect())
    early = spark.read.format("delta").option("versionAsOf", EARLY).load(folder).count()
    after = len(DeltaTable(folder).file_uris())
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    files_ = len(list(Path(folder).glob("*.parquet")))
    spark.sql(f"VACUUM {table} RETAIN 0 HOURS").collect()
    removed = files_ - len(list(Path(folder).glob("*.parquet")))
    return Feature(nulls_of(added), compacted(before, after, taken), f"{early:,}", str(removed))


def iceberg_spark_can(spark: SparkSession, folder: str) -> Feature:
    """The same with Iceberg's jar. The catalog of the session has to be below the folder."""
    iceberg = IcebergJdbc(folder)
    iceberg.create()
    for number in range(BATCHES):
        iceberg.append(f"b-{number}", 1000)
    table = iceberg.table
    spark.sql(f"ALTER TABLE {table} ADD COLUMN added STRING")
    added = spark.table(table).select("added").toArrow()["added"]
    before = spark.table(f"{table}.files").count()
    call = (
        "CALL kwire.system.rewrite_data_files("
        "table => 'db.frames', options => map('rewrite-all', 'true'))"
    )
    _, taken = timed(lambda: spark.sql(call).collect())
    ids = [
        row.snapshot_id
        for row in spark.table(f"{table}.history").orderBy("made_current_at").collect()
    ]
    early = spark.read.option("snapshot-id", ids[EARLY - 1]).table(table).count()
    after = spark.table(f"{table}.files").count()
    expire = (
        "CALL kwire.system.expire_snapshots(table => 'db.frames', retain_last => 1,"
        " older_than => current_timestamp())"
    )
    removed = spark.sql(expire).first()
    assert removed is not None
    return Feature(
        nulls_of(added),
        compacted(before, after, taken),
        f"{early:,}",
        str(removed.deleted_data_files_count),
    )


def nulls_of(column: pa.ChunkedArray) -> str:
    """Say how many of the rows have null."""
    return f"{column.null_count:,} of {len(column):,}"


def compacted(before: int, after: int, seconds: float) -> str:
    """Say what compaction did."""
    return f"{before} files to {after}, {seconds:.2f} s"


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what it returns, and the seconds."""
    start = time.monotonic()
    return work(), time.monotonic() - start


def wheels(name: str, seen: set[str] | None = None) -> set[str]:
    """Return the distributions that one needs, itself included."""
    seen = seen if seen is not None else set()
    plain = re.sub(r"[-_.]+", "-", name).lower()
    if plain not in seen:
        try:
            needed = requires(name) or []
        except PackageNotFoundError:
            return seen
        seen.add(plain)
        for text in needed:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                wheels(requirement.name, seen)
    return seen


def installed_megabytes(names: set[str]) -> float:
    """Return the room that distributions take once they are unpacked."""
    paths = [path.locate() for name in names for path in files(name) or []]
    return sum(Path(str(path)).stat().st_size for path in paths if Path(str(path)).exists()) / 1e6
