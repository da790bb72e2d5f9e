"""The umask of this process, changed for a test."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def umask(mask: int) -> Iterator[None]:
    """Take these permissions from new files while the context lasts."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    """Return the permissions of a file or folder."""
    return stat.S_IMODE(path.stat().st_mode)
