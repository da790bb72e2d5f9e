"""A standalone cluster of Spark, of several processes, makes the same tables as one process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from kwire.pipeline.ingest import OF_CAPTURES, ingest
from kwire.pipeline.java import java_environment
from kwire.pipeline.packages import SCALA
from tests.support.eventually import eventually_blocking
from tests.support.paths import ROOT
from tests.support.pipeline.decodable_calls import write_captures
from tests.support.pipeline.streamed_tables import QUICK, rows

JARS = Path(pyspark.__file__).parent / "jars"
HIDE = f"""import sys
inside = {str(ROOT)!r}
sys.path[:] = [path for path in sys.path if "-packages" in path or not path.startswith(inside)]
"""
"""Takes the checkout, to which an editable install points, off the path of executors.

The libraries in `site-packages` stay: executors have them, and only kwire has to come with the job.
"""

RUN = """import sys

from kwire.pipeline.ingest import ingest
from kwire.pipeline.session import spark_session
from kwire.pipeline.streaming.captures import follow_captures
from kwire.pipeline.streaming.job import stream

captures, ingested, streamed, master = sys.argv[1:]
spark = spark_session(master)
ingest(spark, [captures], ingested)
stream(follow_captures(spark, captures), streamed, every=None)
spark.stop()
"""
"""The program for spark-submit: batch and stream, on the same executors."""

PATIENCE = 180.0
"""Seconds for a line to be logged, on a busy machine."""


class Cluster:
    """A master and two workers, whose Python does not find this checkout. master: its URL."""

    def __init__(self, folder: Path, processes: ExitStack) -> None:
        self.folder = folder
        self._processes = processes
        path = folder / "path"
        path.mkdir()
        (path / "sitecustomize.py").write_text(HIDE)
        self._environment = (
            os.environ
            | java_environment()
            | {
                "PYTHONPATH": str(path),
                "SPARK_HOME": str(JARS.parent),
                "SPARK_SCALA_VERSION": SCALA,
                "SPARK_LOCAL_IP": "127.0.0.1",
            }
        )
        self._start("master", "--port", "0")
        self.master = self._logged("master", "Starting Spark master at ")
        for worker in ("first", "second"):
            work = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / worker)]
            self._start("worker", *work, self.master, log=worker)
        for worker in ("first", "second"):
            self._logged(worker, "Successfully registered with master ")

    def executors(self) -> list[str]:
        """Return the names of the workers, one for each executor of the only application."""
        found = self.folder.glob("*/app-*/*/stderr")
        return sorted(path.relative_to(self.folder).parts[0] for path in found)

    def logs(self) -> str:
        """Return the logs of the master and the workers."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def _start(self, what: str, *options: str, log: str = "") -> None:
        name = f"org.apache.spark.deploy.{what}.{what.capitalize()}"
        java = Path(self._environment["JAVA_HOME"], "bin", "java")
        command = [str(java), "-Xmx256m", "-cp", f"{JARS}/*", name, "--host", "127.0.0.1"]
        with (self.folder / f"{log or what}.log").open("w") as output:
            process = subprocess.Popen(
                [*command, "--webui-port", "0", *options],
                env=self._environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._processes.callback(process.wait)
        self._processes.callback(process.terminate)

    def _logged(self, log: str, words: str) -> str:
        """Wait until a log has these words; return what follows them in their line."""
        path = self.folder / f"{log}.log"
        text = eventually_blocking(path.read_text, lambda text: words in text, timeout=PATIENCE)
        (line, *_) = (line for line in text.splitlines() if words in line)
        return line.partition(words)[2]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Ended with all its processes: executors end with their workers."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    with ExitStack() as processes:
        yield Cluster(folder, processes)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_cluster_makes_the_tables_of_one_process(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    names = ("captures", "local", "ingested", "streamed", "run.py")
    captures, local, ingested, streamed, run = (tmp_path / name for name in names)
    captures.mkdir()
    write_captures(captures, captures=2)
    run.write_text(RUN)
    submit = [JARS.parent / "bin" / "spark-submit", "--master", cluster.master, run]
    done = subprocess.run(
        [str(one) for one in (*submit, captures, ingested, streamed, cluster.master)],
        env=os.environ
        | java_environment()
        | QUICK
        | {"SPARK_HOME": str(JARS.parent), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + cluster.logs()
    assert cluster.executors() == ["first", "second"]
    ingest(spark, [str(captures)], str(local))
    for table in OF_CAPTURES:
        expected = rows(spark, local, table)
        assert rows(spark, ingested, table) == expected, table
        assert rows(spark, streamed, table) == expected, table
