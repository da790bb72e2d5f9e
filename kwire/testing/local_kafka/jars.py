"""The jars of Kafka's server, its tools and a logger, in a cache that survives interruption.

The cache is $KWIRE_CACHE, else $XDG_CACHE_HOME/kwire, else ~/.cache/kwire. A set of jars appears in
it by one rename, after every jar was read to its end; a file lock lets one process load at a time.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kwire.permissions import changeable_by_others, make_private_folder
from kwire.testing.local_kafka.errors import JarsNotFound
from kwire.testing.local_kafka.maven import Progress, Wanted, resolver

VERSIONS = ("4.4.0", "4.3.1", "3.9.1")
"""The releases of Apache Kafka that kwire is held against, newest first."""

TOOLS_OF = {"4.4.0": "4.3.1"}
"""Releases that are on Maven Central without kafka-tools and kafka-tools-api, and the release whose
tools are used in their place."""

LOGGER = "org.slf4j:slf4j-simple:1.7.36"
"""Kafka's own set either logs nothing at all or wants a configuration file."""

LEFT_OUT = (
    *("org.slf4j:slf4j-nop", "org.slf4j:slf4j-reload4j", "org.slf4j:slf4j-log4j12"),
    "org.apache.kafka:connect-runtime",
)
"""Other loggers, and Connect with its web server: half the jars, for a tool nobody calls here.

slf4j-log4j12 is what Kafka 3.6 names: its pom says that it moved to slf4j-reload4j, which Maven
follows and jgo does not.
"""

UNPUBLISHED = ("org.apache.kafka:kafka-tools-api",)
"""The artifacts that a release of TOOLS_OF names and Maven Central does not have."""

MANIFEST = "manifest.json"

ALSO = {"3.9.1": ("ch.qos.reload4j:reload4j:1.2.25",)}
"""Classes that a release's own code names, whichever logger is behind slf4j."""


def quiet(doing: str) -> None:
    """Progress that nobody looks at."""


def cache() -> Path:
    """The folder of everything that is loaded or built once: jars, and images to be."""
    if chosen := os.environ.get("KWIRE_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "kwire").absolute()


def class_path(version: str, progress: Progress = quiet) -> list[Path]:
    """Return the jars of Kafka ``version``: the server, its tools if they are published, and
    slf4j-simple as the only logger.

    Raises JarsNotFound when they are not cached and cannot be loaded.
    """
    progress(f"looking for the jars of Kafka {version}")
    return _cached(f"kafka-{version}", _kafka(version), progress)


def tools_class_path(version: str, progress: Progress = quiet) -> list[Path]:
    """Return the jars that Kafka's tools for ``version`` run with.

    Another release's tools need that release's clients, so they get a class path of their own.
    """
    return class_path(TOOLS_OF.get(version, version), progress)


def _kafka(version: str) -> Wanted:
    coordinates = (f"org.apache.kafka:kafka_2.13:{version}", LOGGER, *ALSO.get(version, ()))
    if version in TOOLS_OF:
        # The server's pom names the API of the tools; nodes run without it.
        return Wanted(coordinates=coordinates, without=(*LEFT_OUT, *UNPUBLISHED))
    tools = f"org.apache.kafka:kafka-tools:{version}"
    return Wanted(coordinates=(*coordinates, tools), without=LEFT_OUT)


def artifact(coordinate: str, progress: Progress = quiet) -> list[Path]:
    """The jar of any ``group:artifact:version`` and the jars it needs, say a compiler's (ecj).

    Raises JarsNotFound when they are not cached and cannot be loaded.
    """
    if not re.fullmatch(r"[\w.-]+:[\w.-]+:[\w.-]+", coordinate):
        raise JarsNotFound(f"{coordinate!r} is no coordinate: write group:artifact:version.")
    return _cached(coordinate.replace(":", "+"), Wanted(coordinates=(coordinate,)), progress)


def _cached(name: str, wanted: Wanted, progress: Progress) -> list[Path]:
    folder = cache() / "jars" / name
    for trusted in (folder.parent, folder):
        if reason := changeable_by_others(trusted):
            raise JarsNotFound(f"the jars are not run: {reason}, or name another KWIRE_CACHE.")
    if (jars := whole(folder)) is not None:
        return jars
    try:
        make_private_folder(folder.parent)
    except OSError as error:
        raise JarsNotFound(
            f"the cache {cache()} cannot be made ({error.strerror}):"
            " name another folder in KWIRE_CACHE."
        ) from error
    with locked(folder.with_name(f"{name}.lock"), progress):
        if (jars := whole(folder)) is None:
            _load(folder, wanted, progress)
            jars = whole(folder)
    if jars is None:
        raise JarsNotFound(f"{folder} changes while it is read: remove it and try again.")
    return jars


def _load(folder: Path, wanted: Wanted, progress: Progress) -> None:
    """Load a set and rename it to its place. The caller holds the lock."""
    for stale in folder.parent.glob(f"{folder.name}~*"):  # of a process that was killed
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}~") as work:
        fresh = Path(work, "jars")
        fresh.mkdir(0o755)
        resolver()(wanted, fresh, progress)
        progress(f"checking {folder.name}")
        _seal(fresh)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)


def _seal(folder: Path) -> None:
    """Read every jar to its end, then write down their names and digests."""
    jars = sorted(folder.glob("*.jar"))
    for jar in jars:
        try:
            with zipfile.ZipFile(jar) as archive:
                broken = archive.testzip()
        except zipfile.BadZipFile as error:
            raise JarsNotFound(f"{jar.name} arrived broken ({error}): try again.") from error
        if broken:
            raise JarsNotFound(f"{jar.name} arrived with a broken {broken}: try again.")
    if not jars:
        raise JarsNotFound(f"No jar came for {folder.parent.name}: check the coordinates.")
    digests = {jar.name: _digest(jar) for jar in jars}
    (folder / MANIFEST).write_text(json.dumps(digests, indent=1))


def whole(folder: Path) -> list[Path] | None:
    """The jars of a cached set; None unless all are there, unchanged since they were loaded."""
    try:
        digests = json.loads((folder / MANIFEST).read_bytes())
        if all(_digest(folder / name) == digest for name, digest in digests.items()):
            return [folder / name for name in digests]
    except (OSError, ValueError):
        pass
    return None


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@contextmanager
def locked(file: Path, progress: Progress = quiet) -> Iterator[None]:
    """Hold an advisory lock, which the system drops when its holder dies."""
    import fcntl  # POSIX only; nothing here runs elsewhere

    with file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another process to finish {file.stem}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
