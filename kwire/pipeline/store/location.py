"""The place of tables: a local folder, or a URL that fsspec, delta-rs and Spark can each open."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

import fsspec
from fsspec import AbstractFileSystem

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_OF_HADOOP = {"s3": "s3a", "gs": "gs", "abfs": "abfs"}
"""Schemes of URLs, as Hadoop's file systems have them."""


@dataclass(frozen=True, slots=True)
class Location:
    """A folder of tables. url: a local path without `file:`, absolute, or a URL."""

    url: str

    @staticmethod
    def of(text: str) -> Location:
        """Return the location that a user names; a local path becomes absolute."""
        if is_local(text):
            return Location(
                str(Path(text.removeprefix("file://").removeprefix("file:")).absolute())
            )
        return Location(text.rstrip("/"))

    @property
    def local(self) -> bool:
        """True for a path of this machine."""
        return is_local(self.url)

    def below(self, *names: str) -> str:
        """Return the path, or URL, of something in the folder."""
        return "/".join((self.url, *names))

    def files(self) -> tuple[AbstractFileSystem, str]:
        """Return the file system, and the folder's path in it."""
        filesystem, path = fsspec.core.url_to_fs(self.url)
        # Other processes write here, too: a listing that was made before is not to be trusted.
        filesystem.invalidate_cache()
        return filesystem, path

    def flush(self, *names: str) -> None:
        """Have the disk keep a file, and its name; a store of objects does so by itself."""
        if not self.local:
            return
        path = Path(self.below(*names))
        # A checkpoint may have replaced it.
        for part in (path, path.parent):
            with suppress(FileNotFoundError, PermissionError):
                descriptor = os.open(part, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def options(self) -> dict[str, str]:
        """Return what delta-rs needs beside the variables of the environment."""
        endpoint = next((os.environ[name] for name in _ENDPOINTS if name in os.environ), "")
        return {"aws_allow_http": "true"} if endpoint.startswith("http://") else {}


def absolute(path: str) -> str:
    """Return a local path as all machines of a cluster name it, wherever their processes run."""
    return Location.of(path).url


def new_file(path: str) -> BinaryIO:
    """Open a new file to write, at a path or URL; make its folder."""
    filesystem, inside = fsspec.core.url_to_fs(path)
    filesystem.makedirs(str(PurePosixPath(inside).parent), exist_ok=True)
    return cast(BinaryIO, filesystem.open(inside, "wb"))


def modified(filesystem: AbstractFileSystem, path: str) -> datetime:
    """Return when a file was written; now, if it is not there any more."""
    try:
        at: datetime = filesystem.modified(path)
    except FileNotFoundError:
        return datetime.now(UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def is_local(path: str) -> bool:
    """Return True for a path of this machine, with `file:` before it or not."""
    return "://" not in path or path.startswith("file:")


def of_hadoop(url: str) -> str:
    """Return the path or URL as Spark's own readers take it: s3a for s3."""
    scheme, separator, rest = url.partition("://")
    return f"{_OF_HADOOP.get(scheme, scheme)}://{rest}" if separator else url
