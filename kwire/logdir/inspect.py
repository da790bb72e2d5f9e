"""Looks at a node's directories without changing them, as kafka-storage info does.

The tool calls version 0 of meta.properties, ZooKeeper's, a problem of every KRaft node. It is none:
a broker that was migrated keeps version 0 for ever (KIP-866). Kafka 3.9.1 and 4.3.1 start with it,
add a directory.id and write version 0 again (Java: KafkaRaftServer.initializeLogDirs). So the
problems here are those with which a node does not start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kwire.errors import FileError
from kwire.logdir.bootstrap import read_bootstrap
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.meta_properties import (
    MetaProperties,
    directory_id_problems,
    read_meta_properties,
)
from kwire.logdir.names import METADATA_FOLDER
from kwire.logdir.recovery import check_folder, contradiction


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The directories that exist, the first meta.properties, and a sentence for each problem."""

    existing: tuple[Path, ...]
    meta: MetaProperties | None
    problems: tuple[str, ...]


def inspect(
    folders: Iterable[Path], fs: FileSystem = DISK, *, requires_version_0: bool = False
) -> Inspection:
    """Look at the directories of one node; no problem is an error.

    requires_version_0: of meta.properties, as a broker in ZooKeeper mode does that is not in a
    migration (Java: KafkaServer, REQUIRE_V0).
    """
    existing, problems = [], []
    metas: dict[Path, MetaProperties] = {}
    first: MetaProperties | None = None
    for folder in sorted(folders):
        if not fs.is_folder(folder):
            what = "is not a directory" if fs.exists(folder) else "does not exist"
            problems.append(f"{folder} {what}")
            continue
        existing.append(folder)
        try:
            meta = read_meta_properties(folder, fs)
        except FileError as error:
            problems.append(str(error))
            continue
        problems += _problems(folder, meta, first, requires_version_0)
        first = first or meta
        if meta is not None:
            metas[folder] = meta
    problems += map(str, directory_id_problems(metas))
    problems += _log_problems(fs, existing, metas)
    # A snapshot of the first voters is read with the log and as what it begins with.
    problems = list(dict.fromkeys(problems))
    return Inspection(existing=tuple(existing), meta=first, problems=tuple(problems))


def _log_problems(
    fs: FileSystem, folders: list[Path], metas: Mapping[Path, MetaProperties]
) -> list[str]:
    logs = [folder for folder in folders if fs.is_folder(folder / METADATA_FOLDER)]
    found = (contradiction(fs, folder / METADATA_FOLDER, metas.get(folder)) for folder in logs)
    problems = [problem for problem in found if problem]
    # Of a node of KRaft; which of several directories had the log is not known.
    is_lost = not logs and any(meta.version for meta in metas.values())
    problems += map(str, _around_log(fs, folders if is_lost else logs))
    if len(logs) > 1:
        problems.append(f"{' and '.join(map(str, logs))} have a metadata log each.")
    return problems


def _around_log(fs: FileSystem, folders: list[Path]) -> Iterator[FileError]:
    for folder in folders:
        try:
            check_folder(fs, folder)
            read_bootstrap(folder, fs)
        except FileError as error:
            yield error


def _problems(
    folder: Path,
    meta: MetaProperties | None,
    first: MetaProperties | None,
    requires_version_0: bool,
) -> list[str]:
    if meta is None:
        return [f"{folder} is not formatted."]
    problems = []
    if requires_version_0:
        if meta.version != 0:
            problems.append(
                f"{folder} was formatted for KRaft; a broker in ZooKeeper mode starts with it only"
                " if zookeeper.metadata.migration.enable is set."
            )
    else:
        values = (("broker.id", meta.node_id), ("cluster.id", meta.cluster_id))
        missing = [name for name, value in values if value is None]
        if missing:
            names = " and ".join(missing)
            problems.append(f"{folder} has no {names}: a node of KRaft does not start with it.")
    if first and first.cluster_id != meta.cluster_id:
        problems.append("Mismatched cluster IDs between storage directories.")
    elif first and first.node_id != meta.node_id:
        problems.append("Mismatched node IDs between storage directories.")
    return problems
