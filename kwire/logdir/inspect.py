"""Looks at a node's directories without changing them, as kafka-storage info does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kwire.errors import FileError
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.meta_properties import MetaProperties, read_meta_properties


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The directories that exist, the first meta.properties, and a sentence for each problem."""

    existing: tuple[Path, ...]
    meta: MetaProperties | None
    problems: tuple[str, ...]


def inspect(folders: Iterable[Path], fs: FileSystem = DISK) -> Inspection:
    """Look at the directories of one node; no problem is an error."""
    existing, problems = [], []
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
        problems += _problems(folder, meta, first)
        first = first or meta
    return Inspection(existing=tuple(existing), meta=first, problems=tuple(problems))


def _problems(folder: Path, meta: MetaProperties | None, first: MetaProperties | None) -> list[str]:
    if meta is None:
        return [f"{folder} is not formatted."]
    problems = []
    if meta.version == 0:
        problems.append(f"{folder} was formatted for ZooKeeper; Kafka 4 has no use for it.")
    if first and first.cluster_id != meta.cluster_id:
        problems.append("Mismatched cluster IDs between storage directories.")
    elif first and first.node_id != meta.node_id:
        problems.append("Mismatched node IDs between storage directories.")
    return problems
