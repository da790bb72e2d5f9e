"""`kwire pipeline`: tables of captures and of metadata logs, on Spark."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option, reads_options, repeated
from kwire.cli.unpack_limit import UNPACK_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from kwire.pipeline.ingest import Summary

app = command_group(
    "Make tables of captures and metadata logs on Spark. Needs `pip install 'kwire[pipeline]'`.",
    {
        "stream": "kwire.cli.pipeline.stream:stream",
        "analyse": "kwire.cli.pipeline.analyse:analyse",
        "compare": "kwire.cli.pipeline.analyse:compare",
        "sql": "kwire.cli.pipeline.analyse:sql",
        "report": "kwire.cli.pipeline.report:report",
        "maintain": "kwire.cli.pipeline.maintain:maintain",
        "export": "kwire.cli.pipeline.maintain:export",
    },
)

OUTPUT = option(
    "--output", "-o", default=..., metavar="DIR", help="The folder, or URL, of the tables."
)
MASTER = option(
    default="local[*]", metavar="URL", help="Spark's master: local[2], spark://host:7077, yarn, …"
)
PACKAGES = option(metavar="LIST", help="More JVM packages: group:artifact:version,…")
AS_JSON = flag("--json", help="Print JSON for scripts.")

_KWIRE_ERROR = re.compile(r"^kwire[\w.]*\.(?:\w+): (.+)$", re.MULTILINE)
_JAVA_ERROR = re.compile(r"^(?:Caused by)?: (?:\w+\.)*\w*(?:Error|Exception): (.+)$", re.MULTILINE)
_KILLED = ("Python worker exited unexpectedly", "ExecutorLostFailure", "OutOfMemoryError")
_KILLED_SENTENCE = (
    "a process of Spark was killed or has crashed, mostly because memory ran out: give it more, as"
    " docs/debuggers/pipeline.md says under 'Memory and slices', or close other programs."
)
_PYTHON_ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): (.+)$", re.MULTILINE)


@app.command()
@reads_options
def ingest(
    paths: list[str] = argument(
        metavar="PATH...",
        help="Captures, pcap files, __cluster_metadata folders, or folders of them; or URLs.",
    ),
    output: str = OUTPUT,
    master: str = MASTER,
    table: list[str] = repeated(metavar="NAME", help="This table only; may be repeated."),
    avro: bool = flag("--avro", help="Read captures with Spark's Avro reader, spark-avro."),
    packages: str | None = PACKAGES,
    as_json: bool = AS_JSON,
    unpack_limit: int = UNPACK_LIMIT,
) -> None:
    """Make tables of captures and metadata logs: frames, calls, messages, records, quorum,
    partitions, verdicts. They are described in docs/debuggers/pipeline.md.

    What cannot be decoded becomes a row that says why. All of it is added to the tables at once, or
    nothing if the command is interrupted: run it again. Frames and records that the tables have
    already are left out, and counted as repeated.
    Exit code 1 where bytes were lost to damage, or a check does not hold.

    \b
    kwire pipeline ingest captures/ --output tables
    kwire pipeline ingest /var/lib/kafka/__cluster_metadata-0 --output tables --master 'local[2]'
    """
    from kwire.pipeline.installed import require_spark

    require_spark()
    from kwire.pipeline.ingest import Summary, readable
    from kwire.pipeline.ingest import ingest as run
    from kwire.pipeline.installed import AVRO, coordinates
    from kwire.pipeline.opening import ensure_no_plain_tables
    from kwire.pipeline.schemas import TABLES

    if unknown := sorted(set(table) - set(TABLES)):
        raise WrongUsage(f"no table is called {unknown[0]!r}: {', '.join(TABLES)}.")
    ensure_no_plain_tables(output)
    if not avro:
        readable(paths)  # before Spark takes its time to start
    jars = [*(coordinates([AVRO]) if avro else []), *(packages.split(",") if packages else [])]
    summary = Summary()
    try:
        with session(master, jars) as spark, progress(spark) as on_step:
            run(
                spark,
                paths,
                output,
                tables=table,
                avro=avro,
                on_step=on_step,
                summary=summary,
            )
    except KeyboardInterrupt:
        _print_stopped(summary, output)
        raise
    print_summary(summary, as_json)
    if summary.damaged or summary.failed:
        raise typer.Exit(1)


def _print_stopped(summary: Summary, output: str) -> None:
    """Print whether the ingest came into the tables before the stop."""
    done = "everything was added before" if summary.ingest else "they are as before; run it again"
    typer.secho(f"Stopped. The tables in {output}: {done}.", err=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOptions:
    """The options of the Spark that does the work."""

    master: str = MASTER
    packages: str | None = PACKAGES

    def session(self) -> AbstractContextManager[SparkSession]:
        """Return a context of a Spark session, as `session` does."""
        return session(self.master, self.packages.split(",") if self.packages else [])


@contextmanager
def session(master: str, packages: list[str]) -> Iterator[SparkSession]:
    """Yield a Spark session; turn its errors into one sentence.

    A session that ran before keeps running. Ctrl-C and SIGTERM are a KeyboardInterrupt, once
    Spark's jobs have ended. Raises CommandFailed.
    """
    # PySpark also logs every failed query, with a trace: the sentence would be printed twice.
    import logging
    import warnings

    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    from kwire.cli.pipeline.interruption import Interruption, spark_stderr
    from kwire.pipeline.session import spark_session

    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True
    ran, logged_from = SparkSession.getActiveSession() is not None, logging.root.manager.disable
    spark = None
    try:
        with Interruption() as interruption:
            spark = spark_session(master, packages=packages, stderr=spark_stderr)
            interruption.watch(spark)
            yield spark
    except (PySparkException, Py4JJavaError) as error:
        raise CommandFailed(spark_sentence(error)) from error
    finally:
        if spark is not None and not ran:
            # The JVM is gone where the signal went to it as well, of which PySpark warns.
            with suppress(Exception), warnings.catch_warnings(action="ignore"):
                spark.stop()
        logging.disable(logged_from)  # which Interruption has turned off


def spark_sentence(error: Exception) -> str:
    """Return the reason of a failed job; kwire's own error, if a worker raised one."""
    # Around it stand the traces of Python and of the JVM, some hundred lines.
    text = str(error)
    if any(sign in text for sign in _KILLED):
        return _KILLED_SENTENCE
    for pattern in (_KWIRE_ERROR, _PYTHON_ERROR, _JAVA_ERROR):
        if reasons := pattern.findall(text):
            return str(reasons[-1])
    return text.strip().partition("\n")[0]


@contextmanager
def progress(spark: SparkSession) -> Iterator[Any]:
    """Show the step and the number of finished tasks of Spark on a terminal's stderr."""
    from kwire.cli.pipeline.progress import JobProgress

    with JobProgress(spark) as progress:
        yield progress.show


def print_summary(summary: Summary, as_json: bool) -> None:
    """Print the files read, the rows written, damage and failed checks."""
    from dataclasses import asdict

    from kwire.cli.screen import print_json
    from kwire.text.phrases import count
    from kwire.text.untrusted import harmless

    if as_json:
        print_json(asdict(summary))
        return
    for damage in summary.damages:
        typer.secho(harmless(damage), fg="yellow", err=True)
    if (more := summary.damaged - len(summary.damages)) > 0:
        typer.secho(f"and {more:,} more: frames where notice = 'DAMAGE'", fg="yellow", err=True)
    typer.echo(count(len(summary.read), "file"))
    for status, number in summary.frames.items():
        typer.echo(f"  {status.lower():12} {number:>12,}")
    if summary.repeated:
        typer.echo(f"  {'repeated':12} {summary.repeated:>12,}, not written again")
    for name, number in summary.rows.items():
        typer.echo(f"{name:14} {number:>12,} rows")
    for check, number in summary.failed.items():
        typer.secho(f"{check}: failed {number} times", fg="red", err=True)
