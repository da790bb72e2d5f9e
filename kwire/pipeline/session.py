"""The Spark session of the pipeline: the same on a laptop and on a cluster.

The executors of a cluster get kwire's code with the job, native engine included: the package is an
archive that Spark unpacks as `kwire` into the folder of its files, which is the first on a Python
worker's path, so that no executor runs another version than the driver. The libraries that kwire
needs have to be there (docs/debuggers/pipeline.md).
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

import kwire
from kwire.pipeline.installed import require_spark
from kwire.pipeline.java import spark_java

BATCH_ROWS = 2000
"""Rows that Spark hands to a Python worker at once, and records of a log that one does."""

SETTINGS = {
    # `date` and `hour` of the tables are UTC, wherever the job runs.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    # Files that are older than a column are read with null in it.
    "spark.sql.parquet.mergeSchema": "true",
    "spark.sql.maxConcurrentOutputFileWriters": "4",
    "spark.ui.showConsoleProgress": "false",
}

LOGGING = Path(__file__).with_name("log4j2.properties")

COMPILED_ONCE = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""On one machine, C2's second compilation of Spark's generated code costs as much CPU as ingesting
some hundred thousand frames, and saves little: most of the work is Python's. The size is Java's
default with both compilers; with one it is 48 MB, and "CodeCache is full" ends all compilation.
"""

LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.python.daemon.module": "kwire.pipeline.worker_daemon",
}
"""On one machine: no port that others reach, no more tasks than it has cores for, and workers that
have kwire's code when they start.
"""


def spark_session(
    master: str = "local[*]",
    *,
    packages: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    stderr: Callable[[], int] | None = None,
) -> SparkSession:
    """Start a session, or return the one that runs; send kwire's code to a cluster's executors.

    packages: Maven coordinates, see `kwire.pipeline.installed`. settings: win over kwire's own.
    stderr: opens what a JVM that is started here gets as stderr, instead of this process's own.
    Raises MissingExtra if PySpark or a library is missing, JavaNotFound.
    """
    require_spark()
    # Without these, workers run the system's python3, which lacks pyarrow and kwire's libraries.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    local = master.startswith("local")
    options = f"-Dlog4j2.configurationFile={LOGGING.as_uri()} {COMPILED_ONCE if local else ''}"
    chosen = {
        "spark.master": master,
        "spark.app.name": "kwire",
        "spark.driver.defaultJavaOptions": options,
        **SETTINGS,
        **(LOCAL if local else {}),
        **(settings or {}),
    }
    if packages:
        chosen["spark.jars.packages"] = ",".join(packages)
    with spark_java():
        if stderr is not None and SparkContext._gateway is None:
            _start_jvm(chosen, stderr())
        session = SparkSession.builder.config(map={**chosen}).getOrCreate()
    _remove_artifacts(session)
    if not local:
        _send_code(session.sparkContext)
    return session


def _start_jvm(settings: Mapping[str, str], stderr: int) -> None:
    """Start the JVM of the session that is made next. stderr: is closed here."""
    conf = SparkConf().setAll(list(settings.items()))
    try:
        gateway = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
    finally:
        os.close(stderr)
    SparkContext._ensure_initialized(gateway=gateway)


def _send_code(context: SparkContext) -> None:
    """Send kwire's code to every executor.

    Executors that start later fetch it, too: the archive stays until this process ends.
    """
    folder = Path(tempfile.mkdtemp(prefix="kwire-code-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / "kwire"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(kwire.__file__).parent, copy, ignore=ignored)
    context.addArchive(f"{shutil.make_archive(str(copy), 'zip', copy)}#kwire")


def _remove_artifacts(session: SparkSession) -> None:
    """Remove the folder that Spark 4.0 makes in the current one, for files added to a session.

    ArtifactManager gives its name to Utils.createTempDir as the folder to make one in, and nobody
    removes it. Spark makes it again if a file is ever added.
    """
    made = Path(session._jsparkSession.artifactManager().artifactPath().toString()).parent
    if made.parent == Path.cwd() / "artifacts":
        with suppress(OSError):  # not empty: another process's are in it, or files of the user's
            made.rmdir()
            made.parent.rmdir()
