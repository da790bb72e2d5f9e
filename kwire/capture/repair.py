"""Repair of damaged captures, for readers that accept valid files only."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from kwire.capture.encoding import RecordEncoder
from kwire.capture.file import CaptureFile, hidden
from kwire.capture.reading import Damage, capture_info, read_capture
from kwire.capture.salvage import salvaged
from kwire.errors import FileError


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """The outcome of a repair: the number of records kept, and the damages that were left out."""

    records: int
    damages: tuple[Damage, ...]

    @property
    def lost(self) -> int:
        """Bytes that were not kept."""
        return sum(damage.size for damage in self.damages)


def repair_capture(source: Path, target: Path | None = None) -> Repair:
    """Copy every record whose CRC is right, also those of a block without its end.

    target: the repaired copy; by default it replaces the source, which is for a torn tail only.
    Raises FileError, and changes nothing, if more than the tail is damaged or no record can be
    kept.
    """
    if target is not None:
        return _copy(source, target)
    torn = _torn(source)
    if torn is None:
        return Repair(records=_count(source), damages=())
    # A copy takes the place of the file at once: a crash in between costs nothing.
    # Hidden, so that neither Spark nor `captures_at` takes it for a capture while it is written.
    mended = source.with_name(f".{source.name.lstrip('.')}.mended")
    hidden(mended).unlink(missing_ok=True)  # of a repair that was killed: the source is whole
    mended.unlink(missing_ok=True)
    done = _copy(source, mended)
    shutil.copymode(source, mended)
    mended.replace(source)
    return done


def _copy(source: Path, target: Path) -> Repair:
    info = capture_info(source)
    out, encoder = CaptureFile(target, shows_secrets=info.shows_secrets), RecordEncoder()
    records = 0
    damages: list[Damage] = []
    try:
        with source.open("rb") as file:
            for item in salvaged(file, source, info):
                if isinstance(item, Damage):
                    # What is not kept is counted: its records are missing in the event numbers too,
                    # so that readers notice.
                    damages.append(item)
                else:
                    out.write(encoder.encode(item))
                    records += 1
        # A header alone is no capture worth keeping, and in place the file would lose what a better
        # repair might still find.
        if not records:
            reason = "no record of it is whole: nothing was written, the file stays as it was"
            raise FileError(reason, file=source, offset=info.start)
        out.flush()
    except BaseException:
        out.discard()
        raise
    out.close()
    return Repair(records=records, damages=tuple(damages))


def _torn(source: Path) -> Damage | None:
    """Return the torn tail of a file, None where there is none.

    Raises FileError for any other damage.
    """
    torn = None
    for damage in read_capture(source):
        if not isinstance(damage, Damage):
            continue
        # Damage in the middle is not what a crash leaves. The original stays, for it is the
        # evidence.
        if not damage.torn:
            reason = f"{damage.reason}, not only its tail is torn: repair it into another file"
            raise FileError(reason, file=source, offset=damage.offset)
        torn = damage
    return torn


def _count(source: Path) -> int:
    return sum(1 for _ in read_capture(source))
