"""The examples of docs/examples and docs/engineers/testing.md, as a user runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import real_kafka
from tests.support.markdown import code_blocks
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
        [*map(example, CLIENTS), *page_tests(tmp_path)],
        CLASSPATH=os.pathsep.join(map(str, [*jars, tmp_path])),
        PATH=f"{java}{os.pathsep}{os.environ['PATH']}",
    )


@pytest.mark.nightly
def test_clients_survive_the_loss_of_controllers() -> None:
    run_examples([*map(example, OTHERS)])


def example(name: str) -> Path:
    """Return the file of an example."""
    return EXAMPLES / f"test_{name}.py"


def page_tests(folder: Path) -> list[Path]:
    """Return the tests that stand on the page, each in a file of its own."""
    page = (ROOT / "docs/engineers/testing.md").read_text()
    blocks = [block for block in code_blocks(page, "python") if "def test_" in block]
    assert len(blocks) == 2
    files = [folder / f"test_page_{number}.py" for number in range(len(blocks))]
    for file, block in zip(files, blocks, strict=True):
        file.write_text(block)
    return files


def run_examples(files: list[Path], **environment: str) -> None:
    """Run examples in one run, which share their cluster."""
    settings = ["-c", str(EXAMPLES / "pytest.ini"), "-p", "kwire.testing.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *settings, "-p", "no:cacheprovider", *map(str, files)],
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
    if done.returncode or f"{len(files)} passed" not in done.stdout:
        pytest.fail(done.stdout, pytrace=False)
