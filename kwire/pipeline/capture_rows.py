"""The rows of the tables of captures, each frame once, made in one process without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa

from kwire.capture import capture_info
from kwire.pipeline.decoding import WITH_BODIES, decode_batch
from kwire.pipeline.reading.captured import damage_texts, read_captured
from kwire.pipeline.reading.planning import plan
from kwire.pipeline.reading.storage import CAPTURED, File, FileKind, NothingToRead, find, kind_of
from kwire.pipeline.store.location import absolute
from kwire.pipeline.store.sources import Stretch, is_gap
from kwire.pipeline.tables.captured import CapturedTables, TableRows
from kwire.pipeline.tables.clusters import NamedClusters, clusters_of, named_clusters
from kwire.pipeline.tables.pairing import Positions
from kwire.pipeline.writing.stretches import Course, overlapping
from kwire.text.times import known_moment

OnShare = Callable[[float], None]
"""Called with the share of the bytes that are read."""


@dataclass(slots=True)
class CaptureRows:
    """Makes the rows of tables from files; `rows` may be called again. tables: their names.

    After it: damages, sentences about bytes that could not be read. statuses: frames by `status`.
    clusters: by recording. courses: what became of the recordings in each file.
    """

    files: Sequence[File]
    tables: Sequence[str]
    on_share: OnShare
    damages: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    clusters: dict[str, str] = field(default_factory=dict)
    courses: dict[str, Course] = field(default_factory=dict)

    def rows(self, left_out: Positions | None = None) -> Iterator[TableRows]:
        """Yield the rows of all tables. left_out: positions in `captured` of frames without rows.

        Raises FileError.
        """
        tables, bodies = CapturedTables(self.tables), bool(WITH_BODIES & set(self.tables))
        named: NamedClusters = Counter()
        self.damages, self.statuses, self.courses = [], Counter(), {}
        for first, path, batch in self.captured():
            self.courses.setdefault(path, Course()).follow(batch)
            if left_out is not None:
                positions = np.arange(first, first + batch.num_rows)
                batch = batch.filter(pa.array(~np.isin(positions, left_out)))
            self.damages += damage_texts(batch).to_pylist()
            decoded = decode_batch(batch, bodies=bodies)
            self.statuses.update(decoded["status"].drop_null().to_pylist())
            named.update(named_clusters(decoded))
            yield from tables.take(decoded)
        yield from tables.finish()
        self.clusters = clusters_of((*one, count) for one, count in named.items())

    def captured(self) -> Iterator[tuple[int, str, pa.RecordBatch]]:
        """Yield rows of CAPTURED, with the position of the first and their file. Raises FileError.

        A slice may end within a block, whose rows are of the slice that it begins in.
        """
        parts, first, done = plan(self.files), 0, 0
        size = sum(part.stop - part.start for part in parts)
        for part in parts:
            for batch in read_captured(part):
                yield first, part.file.path, batch
                first += batch.num_rows
            done += part.stop - part.start
            self.on_share(done / max(size, 1))

    @property
    def may_repeat(self) -> bool:
        """True if files overlap, or frames are not in their recorder's order."""
        ranges = [one for course in self.courses.values() for one in course.ranges]
        unbroken = all(course.unbroken for course in self.courses.values())
        return not unbroken or bool(overlapping(ranges))

    def gaps(self) -> Iterator[str]:
        """Yield a sentence for every second or more of events that are missing in a recording."""
        stretches = (one for course in self.courses.values() for one in course.stretches)
        known = [one for one in stretches if one.begin is not None]
        known.sort(key=lambda one: (one.source, one.first))
        for source, of_source in groupby(known, lambda one: one.source):
            yield from _gaps(source, of_source)


def capture_files(paths: Iterable[str]) -> list[File]:
    """Return the captures and packets that paths stand for: a folder for all that are whole in it.

    Raises NothingToRead, and FileError for a capture that is none or is still being written.
    """
    files: dict[str, File] = {}
    for path in map(absolute, paths):
        if Path(path).is_dir():
            found = find([path], CAPTURED)
            if not found:
                raise NothingToRead(f"{path} has neither captures nor packets in it.")
        else:
            kind = FileKind.PACKETS if kind_of(path) is FileKind.PACKETS else FileKind.CAPTURE
            if kind is FileKind.CAPTURE:
                capture_info(Path(path))
            found = [File(kind, path, Path(path).stat().st_size)]
        files |= {file.path: file for file in found}
    return list(files.values())


def _gaps(source: str, stretches: Iterable[Stretch]) -> Iterator[str]:
    last, end = None, 0
    for one in stretches:
        begin = one.begin or 0
        if last is not None and is_gap(one.first - last, begin - end):
            edges = " and ".join(str(known_moment(at / 1_000_000)) for at in (end, begin))
            yield f"recording {source}: {one.first - last - 1:,} events are missing between {edges}"
        last, end = max(last or 0, one.last), max(end, one.end or 0)
