"""The examples of docs/examples, as a user runs them: each with its own client."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import real_kafka
from tests.support.paths import ROOT
from vectors.program import compile_java

EXAMPLES = ROOT / "docs/examples"
CLIENTS = ("confluent_kafka", "kafka_python", "aiokafka", "java")
OTHERS = ("controller_dies", "partitioned_leader")

pytestmark = pytest.mark.cluster


def test_no_example_is_forgotten() -> None:
    assert {path.stem for path in EXAMPLES.glob("test_*.py")} == {
        f"test_{name}" for name in (*CLIENTS, *OTHERS)
    }


@pytest.mark.java
def test_clients_of_four_kinds_meet_the_faults_of_their_tests(tmp_path: Path) -> None:
    jars = real_kafka.class_path("4.3.1")
    compile_java(EXAMPLES / "TwoRecords.java", jars, tmp_path)
    java = real_kafka.java().parent
    run_examples(
        CLIENTS,
        CLASSPATH=os.pathsep.join(map(str, [*jars, tmp_path])),
        PATH=f"{java}{os.pathsep}{os.environ['PATH']}",
    )


@pytest.mark.nightly
def test_clients_survive_the_loss_of_controllers() -> None:
    run_examples(OTHERS)


def run_examples(names: tuple[str, ...], **environment: str) -> None:
    """Run examples in one run, which share their cluster."""
    files = [str(EXAMPLES / f"test_{name}.py") for name in names]
    load = ["-p", "kwire.testing.pytest_plugin", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *load, *files],
        env={
            **os.environ,
            "PYTEST_ADDOPTS": "",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    if done.returncode or f"{len(names)} passed" not in done.stdout:
        pytest.fail(done.stdout, pytrace=False)
