"""Two ways from Maven coordinates to jars: ``mvn`` where it is installed, else jgo in Python.

``KWIRE_RESOLVER`` forces one of them: ``mvn`` or ``jgo``.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import escape

from kwire.extras import pip_line
from kwire.testing.local_kafka.errors import JarsNotFound

Progress = Callable[[str], None]
"""Told, in a few words, what is being done right now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The jars of ``coordinates`` and what they need at run time, less what only ``without`` needs.

    Coordinates are ``group:artifact:version``, exclusions ``group:artifact``.
    """

    coordinates: tuple[str, ...]
    without: tuple[str, ...] = ()


Resolver = Callable[[Wanted, Path, Progress], None]
"""Puts the wanted jars into an empty folder."""

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kwire</groupId><artifactId>real-kafka</artifactId><version>0</version>
  <dependencies>{}</dependencies>
</project>
"""


def resolver() -> Resolver:
    """The way to jars on this machine. Raises JarsNotFound where there is none."""
    wanted = os.environ.get("KWIRE_RESOLVER") or "auto"
    if wanted not in ("auto", "mvn", "jgo"):
        raise JarsNotFound(f"KWIRE_RESOLVER is {wanted!r}: set it to mvn or jgo, or unset it.")
    if wanted == "mvn" or (wanted == "auto" and shutil.which("mvn")):
        return with_mvn
    return with_jgo


def with_mvn(wanted: Wanted, target: Path, progress: Progress) -> None:
    """Maven's own resolution; it keeps and checks what it loads in its own repository."""
    with tempfile.TemporaryDirectory(dir=target.parent) as project:
        Path(project, "pom.xml").write_text(_pom(wanted))
        command = ["mvn", "-B", "-C", f"{PLUGIN}:copy-dependencies"]
        command += [f"-DoutputDirectory={target}", "-DincludeScope=runtime"]
        try:
            _follow(command, project, progress)
        except OSError as error:
            raise JarsNotFound(f"mvn does not run ({error}): set KWIRE_RESOLVER=jgo.") from error


def _pom(wanted: Wanted) -> str:
    def coordinate(text: str) -> str:
        parts = zip(("groupId", "artifactId", "version"), text.split(":"), strict=False)
        return "".join(f"<{tag}>{escape(part)}</{tag}>" for tag, part in parts)

    out = "".join(f"<exclusion>{coordinate(one)}</exclusion>" for one in wanted.without)
    return POM.format(
        "".join(
            f"<dependency>{coordinate(one)}<exclusions>{out}</exclusions></dependency>"
            for one in wanted.coordinates
        )
    )


def _follow(command: Sequence[str], folder: str, progress: Progress) -> None:
    """Run mvn, passing on the name of each jar it starts to load."""
    last = deque[str](maxlen=20)
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as mvn:
        for line in mvn.stdout or ():
            last.append(line)
            if found := re.search(r"Downloading from .*/([^/]+\.jar)\s*$", line):
                progress(f"downloading {found[1]}")
    if mvn.returncode:
        raise JarsNotFound(f"mvn ended with {mvn.returncode}:\n{''.join(last)}")


def with_jgo(wanted: Wanted, target: Path, progress: Progress) -> None:
    """jgo's resolution, into a repository of its own that lives as long as the call.

    jgo takes whatever file lies in its repository for whole, so one that outlives an interrupted
    download would poison every later run.
    """
    try:
        from jgo.maven import MavenContext, PythonResolver
        from jgo.parse import Coordinate
    except ImportError as error:
        raise JarsNotFound(
            f"Neither mvn nor jgo is installed: install Maven, or {pip_line('kafka')}."
        ) from error

    @contextmanager
    def loading(name: str, size: int) -> Iterator[Callable[[int], None]]:
        progress(f"downloading {name}")
        yield lambda _bytes: None

    with tempfile.TemporaryDirectory(dir=target.parent) as repository:
        python = PythonResolver(progress_callback=loading)
        context = MavenContext(resolver=python, repo_cache=Path(repository), timeout=60)
        out = [context.project(*one.split(":")) for one in wanted.without]
        try:
            named = [Coordinate.parse(coordinate) for coordinate in wanted.coordinates]
            direct, transitive = python.resolve(
                [context.create_dependency(replace(one, scope="compile"), out) for one in named]
            )
            needed = [one for one in transitive if one.scope in ("compile", "runtime")]
            for dependency in [*direct, *needed]:
                shutil.move(dependency.artifact.resolve(), target)
        except (OSError, RuntimeError) as error:  # requests' own errors are OSErrors
            raise JarsNotFound(f"jgo did not load {wanted.coordinates[0]}: {error}") from error
