"""Counts of the content of one capture file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from kwire.capture import NOTICE, CaptureRecord, Damage, capture_info, read_capture
from kwire.proxy.flows.text import size_text
from kwire.text.times import known_moment


@dataclass(slots=True, kw_only=True)
class CaptureFacts:
    """Counts of one file. first, last: microseconds of Unix time."""

    path: Path
    version: int
    size: int
    shows_secrets: bool = False
    captures: set[str] = field(default_factory=set)
    connections: set[tuple[str, int]] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)
    truncated: int = 0
    bytes: int = 0
    first: int | None = None
    last: int | None = None
    damages: list[Damage] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read the head of a file. Raises FileError if it is no capture."""
        info, size = capture_info(path), path.stat().st_size
        return cls(path=path, version=info.version, size=size, shows_secrets=info.shows_secrets)

    def records(self) -> Iterator[CaptureRecord]:
        """Yield the records of the file, and count them. Raises FileError."""
        for record in read_capture(self.path):
            if isinstance(record, Damage):
                self.damages.append(record)
            else:
                self.add(record)
                yield record

    def add(self, record: CaptureRecord) -> None:
        """Count a record."""
        self.captures.add(record.capture)
        self.connections.add((record.capture, record.connection))
        self.kinds[record.kind] += 1
        self.bytes += len(record.frame or b"")
        if record.redaction is not None:
            self.redactions[record.redaction] += 1
        elif record.kind != NOTICE and record.truncated:
            self.truncated += 1
        self.first = record.at_us if self.first is None else min(self.first, record.at_us)
        self.last = record.at_us if self.last is None else max(self.last, record.at_us)

    def data(self) -> dict[str, Any]:
        """Return the counts for scripts."""
        return {
            "file": str(self.path),
            "version": self.version,
            "size": self.size,
            "showsSecrets": self.shows_secrets,
            "captures": sorted(self.captures),
            "connections": len(self.connections),
            "requests": self.kinds["REQUEST"],
            "responses": self.kinds["RESPONSE"],
            "notices": self.kinds["NOTICE"],
            "frameBytes": self.bytes,
            "truncated": self.truncated,
            "redacted": dict(self.redactions),
            "first": time_text(self.first),
            "last": time_text(self.last),
            "damages": [str(damage) for damage in self.damages],
        }

    def lines(self) -> Iterator[str]:
        """Yield the counts as lines for people."""
        kinds = self.kinds
        yield f"{self.path}: version {self.version}, {size_text(self.size)}"
        yield f"  recording     {', '.join(sorted(self.captures)) or '-'}"
        yield f"  from, to      {time_text(self.first) or '-'}, {time_text(self.last) or '-'}"
        yield f"  connections   {len(self.connections)}"
        yield f"  requests      {kinds['REQUEST']}"
        yield f"  responses     {kinds['RESPONSE']}"
        yield f"  notices       {kinds['NOTICE']}"
        yield f"  frames        {size_text(self.bytes)}, {self.truncated} of them cut or not copied"
        if self.redactions:
            counts = (
                f"{count} {_REDACTED.get(kind, kind)}" for kind, count in self.redactions.items()
            )
            yield f"  redacted      {', '.join(counts)}"
        if self.shows_secrets:
            yield "  secrets       recorded as they passed, by --show-secrets"


_REDACTED = {"fields": "with secrets masked", "frame": "left out", "names": "anonymized"}


def time_text(micros: int | None) -> str | None:
    """Return a time, in microseconds of Unix time, as text in UTC."""
    time = None if micros is None else known_moment(micros / 1_000_000)
    return None if time is None else time.isoformat(timespec="microseconds")
