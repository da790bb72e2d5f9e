"""A standalone cluster of Spark, of several processes, makes the same tables as one process.

Its lines are those of docs/debuggers/pipeline.md, with other names and numbers.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kwire.pipeline.ingest import ingest
from tests.support.eventually import eventually_blocking
from tests.support.paths import DOCS, ROOT
from tests.support.pipeline.command_process import QUICK
from tests.support.pipeline.decodable_calls import write_captures
from tests.support.pipeline.recordings import plain_rows

HIDE = f"""import sys
inside = {str(ROOT)!r}
sys.path[:] = [path for path in sys.path if "-packages" in path or not path.startswith(inside)]
"""
"""Takes the checkout, to which an editable install points, off the path of executors.

The libraries in `site-packages` stay: executors have them, and only kwire has to come with the job.
"""

RUN = """from kwire.cli.main import main

main()
"""
"""The program for spark-submit; the document has it, too."""

SMALL = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_MASTER_WEBUI_PORT": "0",
    "SPARK_WORKER_WEBUI_PORT": "0",
}

PATIENCE = 180.0
"""Seconds for a line to be logged, on a busy machine."""

COMMAND = 300.0
"""Seconds for a command of the document."""


class Lines:
    """The lines of the document, with the names and numbers of this test.

    exports: that every machine needs. commands: of the driver.
    """

    def __init__(self, folder: Path, port: int) -> None:
        text = (DOCS / "debuggers" / "pipeline.md").read_text()
        block = text.partition("<!-- standalone: begin -->")[2].partition("<!-- standalone")[0]
        changed = {
            "10.0.0.1:7077": f"127.0.0.1:{port}",
            "--host 10.0.0.1 --port 7077": f"--host 127.0.0.1 --port {port}",
            "--cores 8 --memory 24g": "--cores 1 --memory 1g",
            "/shared/": f"{folder}/",
            "run.py": f"{folder}/run.py",
        }
        for documented, here in changed.items():
            assert documented in block, documented
            block = block.replace(documented, here)
        whole = block.replace("\\\n", "").splitlines()
        lines = [line for line in whole if not line.startswith(("#", "```"))]
        self.exports = [line for line in lines if line.startswith("export ")]
        (self.master,) = (line for line in lines if ".Master " in line)
        (self.worker,) = (line for line in lines if ".Worker " in line)
        self.commands = [
            line for line in lines if " pipeline " in line and line not in self.exports
        ]


class Cluster:
    """A master and two workers, whose Python does not find this checkout."""

    def __init__(self, folder: Path, lines: Lines, processes: ExitStack) -> None:
        self.folder, self.lines = folder, lines
        self._processes = processes
        path = folder / "path"
        path.mkdir()
        (path / "sitecustomize.py").write_text(HIDE)
        self._start("master", lines.master, path)
        self._logged("master", "Starting Spark master at ")
        for worker in ("first", "second"):
            self._start(worker, lines.worker, path)
        for worker in ("first", "second"):
            self._logged(worker, "Successfully registered with master ")

    def run(self, line: str) -> str:
        """Run a line of the driver; return what it prints."""
        done = subprocess.run(
            ["bash", "-c", "\n".join([*self.lines.exports, line])],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=COMMAND,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}{self.logs()}"
        return done.stdout

    def workers_of_applications(self) -> list[list[str]]:
        """Return the names of the workers that each application had executors on."""
        found: dict[str, list[str]] = {}
        for path in self.folder.glob("*/app-*/*/stderr"):
            worker, application, *_ = path.relative_to(self.folder).parts
            found.setdefault(application, []).append(worker)
        return [sorted(workers) for workers in found.values()]

    def logs(self) -> str:
        """Return the logs of the master and the workers."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def _start(self, name: str, line: str, path: Path) -> None:
        # PYTHONPATH behind the other lines, which import kwire.
        own = [f"export PYTHONPATH={path}", f"export SPARK_WORKER_DIR={self.folder / name}"]
        with (self.folder / f"{name}.log").open("w") as output:
            process = subprocess.Popen(
                ["bash", "-c", "\n".join([*self.lines.exports, *own, f"exec {line}"])],
                env=environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._processes.callback(process.wait)
        self._processes.callback(process.terminate)

    def _logged(self, log: str, words: str) -> None:
        """Wait until a log has these words."""
        path = self.folder / f"{log}.log"
        eventually_blocking(path.read_text, lambda text: words in text, timeout=PATIENCE)


def environment() -> dict[str, str]:
    """The environment of a user in whose virtual environment kwire is installed."""
    binaries = str(Path(sys.executable).parent)
    return os.environ | QUICK | SMALL | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}


def free_port() -> int:
    """A port that was free a moment ago: workers have to be told it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Ended with all its processes: executors end with their workers."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    with ExitStack() as processes:
        yield Cluster(folder, Lines(tmp_path, free_port()), processes)


@pytest.mark.nightly
@pytest.mark.timeout(1500)
def test_a_cluster_makes_the_tables_of_one_process(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    write_captures(captures, captures=2)
    (tmp_path / "run.py").write_text(RUN)
    ingested, streamed, latencies, checks = map(cluster.run, cluster.lines.commands)
    assert "frames" in ingested
    assert "frames" in streamed
    (_, *_) = json.loads(latencies)["latencies"]
    assert all(check["broken"] == 0 for check in json.loads(checks)["checks"])
    assert all(workers == ["first", "second"] for workers in cluster.workers_of_applications())
    ingest(spark, [str(captures)], str(tmp_path / "local"))
    expected = plain_rows(tmp_path / "local")
    assert plain_rows(tmp_path / "tables") == expected
    assert plain_rows(tmp_path / "streamed") == expected


def test_the_document_has_the_program_for_spark_submit() -> None:
    indented = "".join(f"    {line}".rstrip() + "\n" for line in RUN.splitlines())
    assert indented in (DOCS / "debuggers" / "pipeline.md").read_text()
