"""Whether this environment can run Spark: PySpark, what it needs, and a Java for it."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

from kwire.errors import LocalError

EXTRA = "pip install 'kwire[pipeline]'"


class SparkUnavailable(LocalError):
    """PySpark or Java is missing; the message says what to install."""


def require_spark() -> None:
    """SparkUnavailable unless a session can be started here; imports nothing heavy."""
    for package in ("pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            raise SparkUnavailable(f"the pipeline needs {package}: {EXTRA}")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise SparkUnavailable("Spark needs Java 17 or 21: put java on PATH, or set JAVA_HOME.")
