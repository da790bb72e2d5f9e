"""Recordings that a process left when it was killed: set aside, repaired, and given their names.

The file of a capture that is being written is locked, so that one that nobody writes is told from
one of a process that works.
"""

from __future__ import annotations

from collections.abc import Iterator
from glob import escape
from itertools import count
from pathlib import Path

from kwire.capture.appending import PAGES
from kwire.capture.file import CannotRecord, begins_header, hidden
from kwire.capture.reading import NewerCapture, read_info
from kwire.capture.repair import repair_capture
from kwire.errors import FileError
from kwire.operating_system import is_held


def set_aside(path: Path) -> None:
    """Free the name of a capture, if a process that has ended left it unfinished.

    Raises CannotRecord if a process still writes it.
    """
    part = hidden(path)
    if not part.exists():
        return
    if is_held(part):
        raise CannotRecord(f"{part} is being written by another process: choose another name.")
    names = (path.with_name(f"{path.stem}-recovered-{number}{path.suffix}") for number in count(1))
    aside = next(name for name in names if not name.exists() and not hidden(name).exists())
    part.rename(hidden(aside))


def leftovers(path: Path) -> list[Path]:
    """Return the names of the captures for `kwire proxy -w PATH` that were left unfinished.

    What somebody writes now is none of them.
    """
    name = "capture-*.avro" if path.is_dir() else f"{escape(path.stem)}-recovered-*{path.suffix}"
    folder = path if path.is_dir() else path.parent
    parts = sorted(folder.glob(f".{name}.part"))
    return [part.with_name(part.name[1:].removesuffix(".part")) for part in parts if _is_left(part)]


def recover(names: list[Path]) -> Iterator[str]:
    """Repair captures that were left unfinished, and give them their names.

    Yield a sentence for each. What cannot be repaired keeps its hidden name.
    """
    for name in names:
        part = hidden(name)
        try:
            if name.exists():
                continue
            if _has_no_record(part):
                part.unlink()
                continue
            done = repair_capture(part)
            part.rename(name)
        except (FileError, OSError) as error:
            yield f"the recording that a killed process left stays in {part}: {error}"
        else:
            lost = f"; {done.lost} bytes of it are no whole record" if done.lost else ""
            yield f"{done.records} records that a killed process left are in {name}{lost}"


def _is_left(part: Path) -> bool:
    try:
        return not is_held(part)
    except FileNotFoundError:  # it has got its name meanwhile
        return False


def _has_no_record(part: Path) -> bool:
    """True if the process was killed before its first record, also within the header.

    Zeros at the end are of a page that was written whole (`AppendedFile`).
    """
    start = 0
    with part.open("rb") as file:
        try:
            start = read_info(file, part).start
        except NewerCapture:
            return False
        except FileError:
            pass
        file.seek(start)
        data = file.read(PAGES + 1)
    rest = data.rstrip(b"\0")
    return len(data) <= PAGES and (not rest or (not start and begins_header(rest)))
