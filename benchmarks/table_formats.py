"""Delta, Iceberg and plain Parquet as the format of kwire's tables: rows kept, and costs.

    python benchmarks/table_formats.py [TRIAL...] [--quick] [--results FILE] [--write]

Trials: append, twice, kill, disk, store, commit, write, scan, features, size. FILE keeps results of
trials that ran earlier; `none` runs no trial. --write puts the tables into
docs/reference/performance.md. Needs pyiceberg[sql-sqlite], duckdb, polars and moto[server] beside
kwire's own libraries, the Maven packages of table_writers.py, and root for the trial `disk`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from performance_page import write_section
from table_costs import (
    Cost,
    Tables,
    commits,
    delta_rs_can,
    delta_spark_can,
    iceberg_spark_can,
    installed_megabytes,
    pyiceberg_can,
    scanned,
    session,
    wheels,
    writes,
)
from table_trials import Outcome, appended, filled, killed, object_store
from table_writers import FORMATS

Row = dict[str, str]
"""A line of a table in Markdown, by the title of its column."""

JVM_APPENDS = 40
"""Appends of a process, where each takes a JVM a second or more."""

SIZES = ((100_000, 1), (1_000_000, 4), (10_000_000, 10))
SCANS = ((100_000, 10), (1_000_000, 10), (10_000_000, 100))
"""Rows of a table and its files."""


def formats(*, alone: bool = False) -> list[str]:
    """Return the names of all formats, or of those without a JVM and own retries."""
    return [
        name
        for name in FORMATS
        if not alone or not (FORMATS[name].from_spark or name.endswith("retries"))
    ]


def append(quick: bool) -> Iterator[Row]:
    """Processes append to one table at once."""
    for kind in formats():
        appends = 10 if quick else JVM_APPENDS if FORMATS[kind].from_spark else 100
        yield _appends(appended(kind, 2, appends))
    for kind in formats(alone=True):
        yield _appends(appended(kind, 4, 10 if quick else 100))


def twice(quick: bool) -> Iterator[Row]:
    """Two processes append the same batches; each looks whether the table has one already."""
    for kind in formats():
        if kind not in ("Parquet folder, Spark", "Iceberg, Spark jar, Hadoop"):
            appends = 10 if quick else 20 if FORMATS[kind].from_spark else 100
            yield _appends(appended(kind, 2, appends, same=True))


def kill(quick: bool) -> Iterator[Row]:
    """One of two processes that append is killed again and again."""
    for kind in formats():
        if not kind.endswith("retries"):
            kills = 3 if quick else 5 if FORMATS[kind].from_spark else 40
            yield _kills(killed(kind, kills, seed=1))


def disk(_: bool) -> Iterator[Row]:
    """The disk is full, to begin with for the data, then for the commit."""
    for kind in formats():
        if not kind.endswith("retries"):
            row = _kills(filled(kind))
            yield {title: row[title] for title in row if title not in ("kills", "in flight, there")}


def store(quick: bool) -> Iterator[Row]:
    """Two and four processes append to a table in an object store."""
    with object_store() as address:
        for writers in (2, 4):
            for kind in formats(alone=True):
                yield _appends(appended(kind, writers, 10 if quick else 30, s3=address))


def commit(quick: bool) -> Iterator[Row]:
    """Files that are there already are added in one commit; medians."""
    for number in (10, 100, 1000):
        for kind, cost in commits(number, 2 if quick else 7).items():
            yield {"files": f"{number:,}", "by": kind} | _costs(cost)


def write(quick: bool) -> Iterator[Row]:
    """Rows of Parquet files become rows of a new table, once by each writer."""
    with TemporaryDirectory() as warm, session(warm) as spark:
        writes(spark, warm, 10_000, 1)
        for rows, number in SIZES[: 1 if quick else None]:
            for kind, cost in writes(spark, warm, rows, number).items():
                yield {"rows": f"{rows:,}", "files": str(number), "by": kind} | _costs(cost)


def scan(quick: bool) -> Iterator[Row]:
    """Count and sum two columns under a filter; every reader opens the table anew."""
    for rows, number in SCANS[: 1 if quick else None]:
        with TemporaryDirectory() as folder, session(folder) as spark:
            tables = Tables(folder, rows, number)
            tables.commit_delta()
            tables.commit_iceberg()
            for kind, cost in scanned(spark, tables, 1 if quick else 3).items():
                yield {"rows": f"{rows:,}", "files": f"{number:,}", "by": kind} | _costs(cost)


def features(_: bool) -> Iterator[Row]:
    """A column is added, files are compacted, version 3 is read, what is not needed is removed."""
    with TemporaryDirectory() as folder, session(folder) as spark:
        for name in ("delta-rs", "pyiceberg", "delta-spark", "iceberg"):
            Path(folder, name).mkdir()
        seen = {
            "Delta, delta-rs": delta_rs_can(f"{folder}/delta-rs"),
            "Delta, Spark jar": delta_spark_can(spark, f"{folder}/delta-spark"),
            "Iceberg, pyiceberg": pyiceberg_can(f"{folder}/pyiceberg"),
            "Iceberg, Spark jar, SQLite": iceberg_spark_can(spark, f"{folder}/iceberg"),
        }
    for kind, feature in seen.items():
        yield {
            "format": kind,
            "null in the added column": feature.nulls,
            "compaction": feature.compaction,
            "rows of version 3": feature.early,
            "files removed": feature.removed,
        }


def size(_: bool) -> Iterator[Row]:
    """Measure what has to be installed beside PySpark and pyarrow, with what it needs itself."""
    have = wheels("pyarrow") | wheels("pandas") | wheels("pyspark")
    for name in ("deltalake", "pyiceberg", "duckdb"):
        more = wheels(name) - have
        extra = wheels("sqlalchemy") - have if name == "pyiceberg" else set[str]()
        yield _installed(f"{name} (wheels, unpacked)", len(more | extra), more | extra)
    with TemporaryDirectory() as folder, session(folder) as spark:
        jars = [Path(urlsplit(jar).path) for jar in str(spark.conf.get("spark.jars")).split(",")]
    for jar in jars:
        megabytes = jar.stat().st_size / 1e6
        yield {"what": jar.name, "number": "1", "MB": f"{megabytes:.1f}"}


def _installed(what: str, number: int, names: set[str]) -> Row:
    return {"what": what, "number": str(number), "MB": f"{installed_megabytes(names):.0f}"}


def _costs(cost: Cost) -> Row:
    return {"CPU s": f"{cost.cpu:.3f}", "s": f"{cost.wall:.3f}"}


def _appends(outcome: Outcome) -> Row:
    row = {
        "format": outcome.kind,
        "processes": str(outcome.writers),
        "ok / failed": f"{outcome.ok} / {outcome.failed}",
        "rows expected / there": f"{outcome.expected:,} / {outcome.there:,}",
        "batches wrong": str(outcome.wrong),
        "races lost": str(outcome.lost),
        "ms of an append": f"{outcome.median * 1000:,.0f}",
        "of the last tenth": f"{outcome.last * 1000:,.0f}",
    }
    return _told(row, outcome)


def _kills(outcome: Outcome) -> Row:
    row = {
        "format": outcome.kind,
        "kills": str(outcome.kills),
        "ok / failed": f"{outcome.ok} / {outcome.failed}",
        "rows expected / there": f"{outcome.expected:,} / {outcome.there:,}",
        "in flight, there": str(outcome.in_flight),
        "batches wrong": str(outcome.wrong),
    }
    return _told(row, outcome)


def _told(row: Row, outcome: Outcome) -> Row:
    sys.stderr.write(f"{outcome}\n")
    return row


TRIALS: dict[str, Callable[[bool], Iterator[Row]]] = {
    one.__name__: one
    for one in (append, twice, kill, disk, store, commit, write, scan, features, size)
}


def table(rows: list[Row]) -> list[str]:
    """In Markdown."""
    titles = list(rows[0])
    lines = [titles, ["---", *("---:" for _ in titles[1:])], *(list(row.values()) for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def section(results: dict[str, list[Row]]) -> str:
    """Return the tables of all trials."""
    libraries = ("deltalake", "pyiceberg", "pyarrow", "pyspark", "duckdb", "pandas", "polars")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    lines = [f"Python {sys.version.split()[0]}, {versions}; two cores."]
    for name, trial in TRIALS.items():
        if results.get(name):
            lines += ["", f"**{name}.** {trial.__doc__}", "", *table(results[name])]
    return "\n".join(lines)


def main() -> None:
    """Run the trials, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trials", nargs="*", default=list(TRIALS))
    parser.add_argument("--quick", action="store_true", help="a few of everything")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    kept = given.results and given.results.exists()
    results: dict[str, list[Row]] = json.loads(given.results.read_text()) if kept else {}
    for name in given.trials if given.trials != ["none"] else ():
        results[name] = []
        for row in TRIALS[name](given.quick):
            results[name].append(row)
            if given.results:
                given.results.write_text(json.dumps(results, indent=1))
    text = section(results)
    sys.stdout.write(f"{text}\n")
    if given.write:
        write_section("table formats", text)


if __name__ == "__main__":
    main()
