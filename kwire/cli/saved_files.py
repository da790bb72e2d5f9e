"""Tells when files have been saved."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

LOOK = 0.3
"""Seconds between looks at the files."""


class SavedFiles:
    """Files, as they were when they were last looked at."""

    def __init__(self, files: Iterable[Path] = ()) -> None:
        self._seen = _stamps(files)

    def changed(self, files: Iterable[Path]) -> set[Path]:
        """Look again; return those that were looked at before and have been saved since."""
        before, self._seen = self._seen, _stamps(files)
        return {path for path, seen in self._seen.items() if seen != before.get(path, seen)}


def _stamps(files: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    found = {}
    for path in files:
        try:
            status = os.stat(path)
            found[path] = status.st_mtime_ns, status.st_size
        except OSError:  # while an editor replaces it
            found[path] = 0, 0
    return found
