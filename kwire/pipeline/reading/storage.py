"""Finds files and opens them through fsspec: local paths, and URLs such as s3://bucket/captures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

import fsspec

from kwire.errors import LocalError
from kwire.logdir.names import (
    BOOTSTRAP_CHECKPOINT,
    METADATA_FOLDER,
    segment_offset,
    snapshot_id,
)
from kwire.pipeline.store.location import absolute


class FileKind(Enum):
    """The kind of a file, by its name."""

    CAPTURE = "capture"
    PACKETS = "packets"
    SEGMENT = "segment"
    SNAPSHOT = "snapshot"


CAPTURED = frozenset({FileKind.CAPTURE, FileKind.PACKETS})
LOGGED = frozenset({FileKind.SEGMENT, FileKind.SNAPSHOT})

_SUFFIXES = {
    ".avro": FileKind.CAPTURE,
    ".pcap": FileKind.PACKETS,
    ".pcapng": FileKind.PACKETS,
    ".cap": FileKind.PACKETS,
}


class NothingToRead(LocalError):
    """A path is not there, or there is nothing in it that the pipeline reads."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to read. path: absolute, or a URL. size: in bytes, when it was found."""

    kind: FileKind
    path: str
    size: int

    @property
    def folder(self) -> str:
        """The folder of the file."""
        return self.path.rpartition("/")[0] or "."

    @property
    def name(self) -> str:
        """The name without the folder."""
        return self.path.rpartition("/")[2]


def find(paths: Iterable[str], kinds: frozenset[FileKind]) -> list[File]:
    """Find the files of these kinds at the paths; return them sorted.

    A folder stands for the captures and packets in it, and for the metadata log that it is or has
    (`__cluster_metadata-0`). Hidden files are left out: a
    recorder writes to them, and gives them their names when they are whole. Raises NothingToRead.
    """
    by_path: dict[str, File] = {}
    for path in paths:
        here = list(files_in(path))
        if not here:
            raise NothingToRead(
                f"{path} has nothing to read: give captures (.avro), packets (.pcap, .pcapng), or"
                f" the folder of a metadata log ({METADATA_FOLDER})."
            )
        by_path |= {file.path: file for file in here}
    return sorted(
        (file for file in by_path.values() if file.kind in kinds), key=lambda file: file.path
    )


def open_file(path: str) -> BinaryIO:
    """Open a file to read, with seek and tell."""
    return cast(BinaryIO, fsspec.open(path, "rb").open())


def files_in(path: str) -> Iterator[File]:
    """Yield the files of any kind that a path stands for. Raises NothingToRead if it is missing."""
    filesystem, inside = fsspec.core.url_to_fs(path)
    if not filesystem.exists(inside):
        raise NothingToRead(f"{path} is not there.")
    if filesystem.isfile(inside):
        kind = kind_of(inside)
        if kind is not None:
            yield File(kind, absolute(path), filesystem.size(inside))
        return
    for entry in sorted(filesystem.ls(inside, detail=True), key=lambda entry: str(entry["name"])):
        yield from _inside(absolute(path), entry)


def _inside(folder: str, entry: dict[str, Any]) -> Iterator[File]:
    name = PurePosixPath(entry["name"]).name
    path = f"{folder}/{name}"
    if entry["type"] == "directory":
        if name == METADATA_FOLDER:
            yield from files_in(path)
    elif (kind := kind_of(name)) is not None:
        yield File(kind, path, entry["size"])


def kind_of(path: str) -> FileKind | None:
    """Return the kind of a file by its name; None if it has none of them, or is hidden."""
    name = PurePosixPath(path).name
    if name.startswith("."):
        return None
    if segment_offset(name) is not None:
        return FileKind.SEGMENT
    if snapshot_id(name) is not None or name == BOOTSTRAP_CHECKPOINT:
        return FileKind.SNAPSHOT
    plain = PurePosixPath(name.lower().removesuffix(".gz"))
    kind = _SUFFIXES.get(plain.suffix)
    # Packets may be gzip'ed, captures are not.
    return kind if kind is FileKind.PACKETS or not name.lower().endswith(".gz") else None
