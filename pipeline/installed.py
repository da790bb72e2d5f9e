"""Whether this environment can run Spark: PySpark, what it needs, and a Java for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec

from kwire.errors import LocalError

EXTRA = "pip install 'kwire[pipeline]'"

LIBRARIES = ("pyspark", "pyarrow", "pandas", "fsspec")
REPORTING = ("plotly", "jinja2")
"""What the report needs besides."""

OLDEST_JAVA = 17
NEWEST_JAVA = 22
"""Of Spark before 4.2, whose Hadoop asks for what Java 23 took away (HADOOP-19212)."""

TIMEOUT = 60.0
"""Seconds for Java to say its version, on a busy machine."""

_VERSION = re.compile(r'version "(?:1\.)?(?P<feature>\d+)')


class SparkUnavailable(LocalError):
    """PySpark, a library or a fitting Java is missing; the message says what to install."""


def require_spark(*libraries: str) -> None:
    """SparkUnavailable unless a session can be started here; imports nothing heavy.

    libraries: what is needed besides PySpark and its own.
    """
    for package in (*LIBRARIES, *libraries):
        if find_spec(package) is None:
            raise SparkUnavailable(f"the pipeline needs {package}: {EXTRA}")
    java = _java()
    found = _feature(java)
    if found < OLDEST_JAVA or (found > NEWEST_JAVA and _spark() < (4, 2)):
        raise SparkUnavailable(
            f"Spark {version('pyspark')} needs Java 17 or 21, and {java} is Java {found}: put"
            " another java on PATH, or set JAVA_HOME."
        )


def _java() -> str:
    """The java that PySpark starts."""
    if home := os.environ.get("JAVA_HOME"):
        java = shutil.which("java", path=os.path.join(home, "bin"))
        if java is None:
            raise SparkUnavailable(
                f"Spark needs Java 17 or 21: JAVA_HOME is {home}, which has no bin/java."
            )
        return java
    java = shutil.which("java")
    if java is None:
        raise SparkUnavailable("Spark needs Java 17 or 21: put java on PATH, or set JAVA_HOME.")
    return java


@cache
def _feature(java: str) -> int:
    """The first number of its version: 17 for 17.0.15, 8 for 1.8.0_392."""
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=TIMEOUT, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SparkUnavailable(f"{java} does not run: {error}") from error
    match = _VERSION.search(told.stderr)
    if match is None:
        raise SparkUnavailable(
            f"{java} does not say its version: set JAVA_HOME to a Java 17 or 21."
        )
    return int(match["feature"])


def _spark() -> tuple[int, int]:
    major, minor = version("pyspark").split(".")[:2]
    return int(major), int(minor)
