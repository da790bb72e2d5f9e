"""The order in which functions of kwire are entered for the first time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def entered() -> Iterator[list[str]]:
    """Record functions of this thread as `module:qualified name`, below `kwire`, while it lasts."""
    functions: dict[str, None] = {}

    def see(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("kwire."):
            functions.setdefault(f"{module[6:]}:{frame.f_code.co_qualname}")

    names: list[str] = []
    sys.setprofile(see)
    try:
        yield names
    finally:
        sys.setprofile(None)
        names += functions
