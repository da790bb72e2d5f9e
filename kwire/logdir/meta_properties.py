"""meta.properties: which cluster, node and directory a log directory belongs to (KIP-631, KIP-858).

Version 0 was ZooKeeper's, with a broker id in place of the node id; only its reading is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import UUID

from kwire.errors import FileError, InvalidValue
from kwire.logdir.filesystem import DISK, FileSystem, check_is_file
from kwire.logdir.names import META_PROPERTIES, METADATA_FOLDER, PARTITION_METADATA
from kwire.text.ids import parse_uuid, uuid_text
from kwire.text.properties import parse_properties, properties_text

RESERVED_DIRECTORY_IDS = 100
"""Ids below it are Kafka's own (Java: DirectoryId.reserved)."""

_DAYS = "MonTueWedThuFriSatSun"
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """The four values. cluster_id is text, not an id: it is compared letter by letter."""

    cluster_id: str | None
    node_id: int | None
    directory_id: UUID | None = None
    version: int = 1

    def text(self, now: datetime) -> str:
        """Return the file's text in the order of Java's hash table, under the time it was written.

        now: with a time zone; Kafka prints the day in English whatever the locale.
        """
        node = "node.id" if self.version else "broker.id"
        values = {
            node: self.node_id,
            "directory.id": self.directory_id and uuid_text(self.directory_id),
            "version": self.version,
            "cluster.id": self.cluster_id,
        }
        pairs = {name: str(value) for name, value in values.items() if value is not None}
        return f"#\n#{_java_date(now)}\n{properties_text(pairs)}"

    def as_properties(self) -> dict[str, str]:
        """Return the names and values, sorted by name."""
        pairs = parse_properties(self.text(datetime.min))
        return dict(sorted(pairs.items()))


def parse_meta_properties(data: bytes, file: Path) -> MetaProperties:
    """FileError where a value is missing or is not what its name says. No version means 0."""
    pairs = parse_properties(data.decode("utf-8", "replace"))
    version = _number(pairs, "version", file) if "version" in pairs else 0
    if version not in (0, 1):
        raise FileError(f"version {version}: 0 and 1 are known", file=file)
    node = "node.id" if version else "broker.id"
    if version:
        for name in ("cluster.id", node):
            if name not in pairs:
                raise FileError(f"{name} is missing", file=file)
    return MetaProperties(
        version=version,
        cluster_id=pairs.get("cluster.id"),
        node_id=_number(pairs, node, file) if node in pairs else None,
        directory_id=_directory_id(pairs, file),
    )


def read_meta_properties(folder: Path, fs: FileSystem = DISK) -> MetaProperties | None:
    """Return the file of a log directory; None where it is not formatted."""
    file = folder / META_PROPERTIES
    check_is_file(fs, file)
    return parse_meta_properties(fs.read_file(file), file) if fs.exists(file) else None


def write_meta_properties(
    folder: Path, properties: MetaProperties, now: datetime, fs: FileSystem = DISK
) -> None:
    """Write the file of a log directory, flushed."""
    fs.replace_file(folder / META_PROPERTIES, properties.text(now).encode())


def verify_directories(
    folders: Iterable[Path], node_id: int, fs: FileSystem = DISK
) -> dict[Path, MetaProperties]:
    """Return the file of each directory of a node (Java: MetaPropertiesEnsemble.verify).

    1. Every directory is formatted, and for this node.
    2. All are of one cluster.
    3. No two have one directory id, as a copied disk has; Kafka keeps the first hundred ids.

    Raises InvalidValue or FileError, as Kafka then refuses to start.
    """
    found: dict[Path, MetaProperties] = {}
    for folder in folders:
        # 1.
        meta = read_beside_log(folder, node_id, fs)
        if meta is None or meta.cluster_id is None or meta.node_id is None:
            raise InvalidValue(f"{folder} is not formatted: run `kwire storage format` first")
        if meta.node_id != node_id:
            raise InvalidValue(
                f"{folder} belongs to node {meta.node_id}, not {node_id}: set node.id to"
                f" {meta.node_id}, or name another directory"
            )
        # 2.
        first = next(iter(found.values()), meta)
        if meta.cluster_id != first.cluster_id:
            raise FileError(
                f"is of cluster {meta.cluster_id}, {next(iter(found))} of {first.cluster_id}: a"
                " node has one cluster",
                file=folder / META_PROPERTIES,
            )
        found[folder] = meta
    # 3.
    for problem in directory_id_problems(found):
        raise problem
    return found


def read_beside_log(folder: Path, node_id: int, fs: FileSystem = DISK) -> MetaProperties | None:
    """Return the file of a directory; FileError if it says less than the log beside it needs.

    A crash while a directory is formatted leaves no log.
    """
    has_log = fs.exists(folder / METADATA_FOLDER / PARTITION_METADATA)
    try:
        meta = read_meta_properties(folder, fs)
    except FileError as error:
        if not has_log:
            raise
        reason = error.reason
    else:
        is_whole = meta and meta.cluster_id is not None and meta.node_id is not None
        if is_whole or not has_log:
            return meta
        reason = "has no cluster.id or no node id" if meta else "is not there"
    raise FileError(
        f"{reason}, but {METADATA_FOLDER} is there: restore the file; to go on without, write"
        f" version=1, node.id={node_id}, cluster.id=… and directory.id=…, a line each,"
        " with the ids that the other controllers know",
        file=folder / META_PROPERTIES,
    )


def directory_id_problems(metas: Mapping[Path, MetaProperties]) -> list[FileError]:
    """Return what is wrong with the directory ids of a node's directories."""
    problems, owners = [], dict[UUID, Path]()
    for folder, meta in metas.items():
        file, id = folder / META_PROPERTIES, meta.directory_id
        if id is None:
            continue
        text = uuid_text(id)
        if id.int < RESERVED_DIRECTORY_IDS:
            reason = f"directory.id {text} is one of those that Kafka keeps for itself: remove the"
            problems.append(FileError(f"{reason} line, and the node gets another one", file=file))
        elif id in owners:
            reason = f"directory.id {text} is that of {owners[id]}, too: remove the line from the"
            reason += " copied directory, and it gets another one"
            problems.append(FileError(reason, file=file))
        else:
            owners[id] = folder
    return problems


def add_directory_ids(
    folders: Iterable[Path], new_id: Callable[[], UUID], now: datetime, fs: FileSystem = DISK
) -> tuple[Path, ...]:
    """Give formatted directories an id that have none; return which got one (KIP-853, KIP-858).

    Kafka does so at the start of a node that was formatted before 3.7.
    """
    changed = []
    for folder in folders:
        properties = read_meta_properties(folder, fs)
        if properties is not None and properties.directory_id is None:
            fresh = replace(properties, directory_id=new_id())
            write_meta_properties(folder, fresh, now, fs)
            changed.append(folder)
    return tuple(changed)


def _number(pairs: dict[str, str], name: str, file: Path) -> int:
    text = pairs.get(name)
    if text is None:
        raise FileError(f"{name} is missing", file=file)
    # As Java's Integer.parseInt, which takes no underscores.
    if not re.fullmatch(r"[+-]?\d{1,10}", text, re.ASCII) or not -(1 << 31) <= int(text) < 1 << 31:
        raise FileError(f"{name} is {text!r}, not a number of 32 bits", file=file)
    return int(text)


def _directory_id(pairs: dict[str, str], file: Path) -> UUID | None:
    text = pairs.get("directory.id")
    if text is None:
        return None
    try:
        return parse_uuid(text)
    except InvalidValue as error:
        raise FileError(f"directory.id: {error}", file=file) from None


def _java_date(now: datetime) -> str:
    """java.util.Date: `Sat Nov 21 10:28:56 UTC 2026`."""
    day = _DAYS[3 * now.weekday() : 3 * now.weekday() + 3]
    month = _MONTHS[3 * now.month - 3 : 3 * now.month]
    zone = now.tzname() or "UTC"
    return f"{day} {month} {now:%d %H:%M:%S} {zone} {now.year:04d}"
