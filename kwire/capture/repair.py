"""Makes a damaged capture whole again, for readers that take no other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kwire.capture.encoding import RecordEncoder
from kwire.capture.file import CaptureFile
from kwire.capture.reading import Damage, capture_info, read_capture
from kwire.errors import FileError


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What became of a capture: records kept, and what was not kept."""

    records: int
    damages: tuple[Damage, ...]

    @property
    def lost(self) -> int:
        """Bytes that were not kept."""
        return sum(damage.size for damage in self.damages)


def repair_capture(source: Path, target: Path | None = None) -> Repair:
    """Keep what can be read.

    target: the repaired copy. Without one the file itself is cut behind its last whole block,
    which is right for a torn tail only; FileError, and no change, where more is wrong with it.
    """
    return _cut(source) if target is None else _copy(source, target)


def _copy(source: Path, target: Path) -> Repair:
    capture_info(source)
    out, encoder = CaptureFile(target), RecordEncoder()
    records = 0
    damages: list[Damage] = []
    try:
        for one in read_capture(source):
            if isinstance(one, Damage):
                damages.append(one)
            else:
                out.write(encoder.encode(one))
                records += 1
        out.flush()
    except BaseException:
        out.discard()
        raise
    out.close()
    return Repair(records=records, damages=tuple(damages))


def _cut(source: Path) -> Repair:
    records = 0
    damages: list[Damage] = []
    for one in read_capture(source):
        if isinstance(one, Damage):
            damages.append(one)
        else:
            records += 1
    for damage in damages:
        if not damage.torn:
            reason = f"{damage.reason}, which cutting does not mend: repair it into another file"
            raise FileError(reason, file=source, offset=damage.offset)
    if damages:
        with source.open("r+b") as file:
            file.truncate(damages[-1].offset)
    return Repair(records=records, damages=tuple(damages))
