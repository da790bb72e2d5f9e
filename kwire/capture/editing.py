"""Captures out of captures: several merged into one, one split into several.

A request and its response stay together, and nothing is decoded: records are copied as they are.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from kwire.capture.encoding import RecordEncoder
from kwire.capture.file import CaptureFile
from kwire.capture.reading import Damage, any_shows_secrets, capture_info, read_capture
from kwire.capture.record import CaptureRecord
from kwire.text.times import known_moment

DamageReport = Callable[[Damage], None]
"""Takes the bytes that could not be read and are therefore not in the result."""

_MICROS = 1_000_000


def events_of(
    records: Iterable[CaptureRecord | Damage], report: DamageReport
) -> Iterator[list[CaptureRecord]]:
    """Yield the records of one event after the other."""
    group: list[CaptureRecord] = []
    for record in records:
        if isinstance(record, Damage):
            report(record)
            continue
        if group and _identity(group[0]) != _identity(record):
            yield group
            group = []
        group.append(record)
    if group:
        yield group


def merge_captures(sources: Sequence[Path], target: Path, report: DamageReport) -> int:
    """Write the events of all captures in the order of their times, as far as each is in order.

    An event that stands in two of them is written once. Returns how many were written.
    """
    streams = [events_of(read_capture(path), report) for path in sources]
    merged = heapq.merge(*streams, key=lambda group: (group[0].at_us, _identity(group[0])))
    return write_events(_distinct(merged), target, shows_secrets=any_shows_secrets(sources))


def write_events(
    groups: Iterable[list[CaptureRecord]], target: Path, *, shows_secrets: bool = False
) -> int:
    """Write events to a capture, all or nothing; how many there were.

    shows_secrets: True if a capture that they come from has secrets that are not masked.
    """
    file, encoder, count = CaptureFile(target, shows_secrets=shows_secrets), RecordEncoder(), 0
    try:
        for group in groups:
            file.write(*map(encoder.encode, group))
            count += 1
        file.flush()
    except BaseException:
        file.discard()
        raise
    file.close()
    return count


def split_capture(
    source: Path, directory: Path, report: DamageReport, *, seconds: float | None, size: int | None
) -> list[Path]:
    """Write the events of a capture to files of so many seconds, or of so many bytes.

    A file is named by the time of its first event: `STEM-YYYYMMDDTHHMMSSZ.avro`, numbered where two
    begin in the same second. An event that ends late stays in the file it is met for.
    """
    encoder, shows_secrets = RecordEncoder(), capture_info(source).shows_secrets
    paths: list[Path] = []
    file: CaptureFile | None = None
    began = 0
    try:
        for group in events_of(read_capture(source), report):
            at = group[0].at_us
            if file is not None and _is_full(file, at - began, seconds, size):
                file.close()
                file = None
            if file is None:
                path = _free(directory, source.stem, at)
                file = CaptureFile(path, shows_secrets=shows_secrets)
                began = _begin(at, seconds)
                paths.append(path)
            file.write(*map(encoder.encode, group))
    finally:
        if file is not None:
            file.close()
    return paths


def _begin(at: int, seconds: float | None) -> int:
    """Return the edge that a file's seconds count from: the same whatever its first event."""
    return at if seconds is None else at - at % max(1, round(seconds * _MICROS))


def _is_full(file: CaptureFile, age: int, seconds: float | None, size: int | None) -> bool:
    if seconds is not None and age >= seconds * _MICROS:
        return True
    return size is not None and file.size + file.waiting >= size


def _free(directory: Path, stem: str, at: int) -> Path:
    time = known_moment(at // _MICROS)
    stamp = time.strftime("%Y%m%dT%H%M%SZ") if time else "unknown"
    path, number = directory / f"{stem}-{stamp}.avro", 1
    while path.exists():
        path, number = directory / f"{stem}-{stamp}-{number}.avro", number + 1
    return path


def _identity(record: CaptureRecord) -> tuple[str, int]:
    return record.capture, record.event


def _distinct(groups: Iterable[list[CaptureRecord]]) -> Iterator[list[CaptureRecord]]:
    last: list[CaptureRecord] = []
    for group in groups:
        if group != last:
            yield group
        last = group
