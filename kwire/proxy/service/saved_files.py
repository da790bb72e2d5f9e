"""Notices when files have been saved."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

LOOK_INTERVAL = 0.3
"""Seconds between looks at the files."""


class SavedFiles:
    """Files, with their times and sizes when they were last looked at."""

    def __init__(self, files: Iterable[Path] = ()) -> None:
        self._stamps = _stamps(files)

    def changed(self, files: Iterable[Path]) -> set[Path]:
        """Look again; return those that were looked at before and have been saved since."""
        before, self._stamps = self._stamps, _stamps(files)
        return {path for path, stamp in self._stamps.items() if stamp != before.get(path, stamp)}


def _stamps(files: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    stamps = {}
    for path in files:
        try:
            status = os.stat(path)
            stamps[path] = status.st_mtime_ns, status.st_size
        except OSError:  # while an editor replaces it
            stamps[path] = 0, 0
    return stamps
