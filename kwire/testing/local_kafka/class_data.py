"""An archive of the classes that Kafka loads when it starts: Java maps it in place of reading jars.

A node of 4.3.1 answers after 1.0 s of CPU in place of 1.7, and a tool takes 0.4 s in place of 0.6.
The archive is made once for a Java and a class path, and lies beside the jars.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kwire.java import version_text
from kwire.testing.local_kafka.errors import RealKafkaError
from kwire.testing.local_kafka.jars import TOOLS_OF, cache, locked, quiet
from kwire.testing.local_kafka.local_site import LocalSite, run_tool
from kwire.testing.local_kafka.maven import Progress
from kwire.testing.local_kafka.node import KafkaNode, KafkaVoter, KnownQuorum, random_uuid
from kwire.testing.local_kafka.running import RunningNode

TOOL = "org.apache.kafka.tools.MetadataQuorumCommand"
"""A tool whose classes are those of most others: options, an Admin client, tables."""

DUMP_TIMEOUT = 300.0
"""Seconds; 5 on a quiet machine."""


def node_options(
    binary: Path, version: str, jars: Sequence[Path], progress: Progress = quiet
) -> tuple[str, ...]:
    """Return the options with which Java starts nodes of a release from an archive.

    jars: the class path. Returns none if no archive can be made: a start without one takes longer,
    and is no failure. Java ignores an archive that is damaged or of another Java.
    """
    archive = _archive(binary, version, jars, progress)
    if archive is None:
        return ()
    # Java checks the sums of an archive only if it is told to, and crashes on a damaged one.
    return (f"-XX:SharedArchiveFile={archive}", "-XX:+VerifySharedSpaces", "-Xlog:cds=off")


def tool_options(
    binary: Path, version: str, jars: Sequence[Path], progress: Progress = quiet
) -> tuple[str, ...]:
    """Return the options for the tools that belong to a release, as `node_options` does."""
    return node_options(binary, TOOLS_OF.get(version, version), jars, progress)


def _archive(binary: Path, version: str, jars: Sequence[Path], progress: Progress) -> Path | None:
    digest = hashlib.sha256("\n".join([version_text(binary), *map(str, jars)]).encode())
    folder = cache() / "jars"
    archive = folder / f"kafka-{version}-{digest.hexdigest()[:12]}.jsa"
    try:
        if not archive.exists():
            with locked(folder / f"kafka-{version}.lock", progress):
                if not archive.exists():
                    _make(archive, binary, version, jars, progress)
        return archive if archive.stat().st_size else None
    except OSError:  # a full disk, a cache that others own, or one that is emptied meanwhile
        return None


def _make(
    archive: Path, binary: Path, version: str, jars: Sequence[Path], progress: Progress
) -> None:
    """Note the classes of a node and of a tool, and put them into an archive.

    If that fails the archive is empty, so that the next start does not try it again.
    """
    progress(f"making an archive of the classes of Kafka {version}, once")
    prefix = f"classes-{version}~"
    for left in archive.parent.glob(f"{prefix}*"):  # of a process that was killed; this one locks
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=prefix) as work:
        fresh = Path(work, archive.name)
        try:
            _dump(fresh, binary, jars, _class_lists(Path(work), binary, version, jars))
        except (RealKafkaError, subprocess.SubprocessError) as error:
            progress(f"without an archive of classes: {error}; remove {archive} to try again")
            fresh.write_bytes(b"")
        fresh.replace(archive)


def _class_lists(work: Path, binary: Path, version: str, jars: Sequence[Path]) -> list[Path]:
    """Run a node, and a tool that asks it; return the lists of the classes that they loaded."""
    lists = [work / "node.lst", work / "tool.lst"]
    list_options = [f"-XX:DumpLoadedClassList={path}" for path in lists]
    site = LocalSite(binary, version, jars, jars)
    try:
        machine = site.machine(1)
        roles = ("broker", "controller")
        listeners = site.listeners(1, roles)
        address = next(listener.advertised for listener in listeners if listener.controller)
        voter = KafkaVoter(node_id=1, directory_id=random_uuid(), address=address)
        quorum = KnownQuorum(cluster_id=random_uuid(), voters=(voter,), static=True)
        node = RunningNode(
            KafkaNode(
                node_id=1,
                roles=roles,
                listeners=listeners,
                quorum=quorum,
                folder=machine.folder,
                jvm=(list_options[0],),
            ),
            machine,
            quiet,
        )
        node.start()
        if version not in TOOLS_OF:
            servers = str(node.broker_address)
            arguments = [TOOL, "--bootstrap-server", servers, "describe", "--status"]
            run_tool(str(binary), site.jars, arguments, DUMP_TIMEOUT, options=list_options[1:])
        node.stop()  # Java writes the list when it ends
    finally:
        site.close()
    return [path for path in lists if path.exists()]


def _names(lines: Iterable[str]) -> Iterator[str]:
    """Yield what lists of classes have, without numbers, which each list has its own of.

    Java numbers classes from 21 on, and names the source of those of other loaders, whose lines are
    left out: they tell superclasses by number.
    """
    for line in lines:
        if " source: " not in line:
            yield line.partition(" id: ")[0]


def _dump(archive: Path, binary: Path, jars: Sequence[Path], lists: Sequence[Path]) -> None:
    names = dict.fromkeys(_names(line for path in lists for line in path.read_text().splitlines()))
    merged = archive.with_suffix(".lst")
    merged.write_text("\n".join(names) + "\n")
    command = [str(binary), "-Xshare:dump", f"-XX:SharedClassListFile={merged}"]
    command += [f"-XX:SharedArchiveFile={archive}", "-cp", os.pathsep.join(map(str, jars))]
    subprocess.run(command, capture_output=True, timeout=DUMP_TIMEOUT, check=True)
