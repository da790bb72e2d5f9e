"""The reports that a run of `kwire conform` is to make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kwire.cli.errors import CommandFailed


class ReportNotWritten(CommandFailed):
    """A file of a report cannot be written; the run itself was printed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """The reports of a run. as_json: print it as JSON. save, junit, html: files to write."""

    as_json: bool
    verbose: bool
    name: str
    expect: Path | None
    save: Path | None
    junit: Path | None
    html: Path | None
