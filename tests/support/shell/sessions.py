"""Shells over images and files, whose output is kept."""

from __future__ import annotations

from typing import Self

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.shell import Shell
from kwire.shell.position import ImageSource, OffsetNotAvailable, PositionedImage


class FixedSource:
    """One image, at offset 41."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image

    def __str__(self) -> str:
        return "a test"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def latest(self) -> PositionedImage:
        return PositionedImage(image=self._image, offset=41, epoch=7, timestamp=1_700_000_000_000)

    def reload(self) -> None:
        pass

    def at(self, offset: int) -> PositionedImage:
        if offset != 41:
            raise OffsetNotAvailable(offset, self, 41, 41)
        return self.latest()


class Session:
    """A shell; `session("ls /image")` returns the lines that the command prints."""

    def __init__(self, source: ImageSource, width: int | None = None) -> None:
        self.lines: list[str] = []
        self.complaints: list[str] = []
        self.succeeded = True
        self.shell = Shell(source, self.lines.append, self.complaints.append, width=lambda: width)

    def __call__(self, line: str) -> list[str]:
        self.lines.clear()
        self.complaints.clear()
        self.succeeded = self.shell.run_line(line)
        return list(self.lines)


def session_of(*records: MetadataRecord | VersionedRecord, width: int | None = None) -> Session:
    """Return a shell over the image of records."""
    return Session(FixedSource(apply_all(EMPTY, records)), width)
