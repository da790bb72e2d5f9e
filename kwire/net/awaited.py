"""The nodes that were asked and have not answered yet, for people who wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from kwire.text.phrases import joined

SHOWN = 5
"""Names in one sentence."""

METADATA_LOG = "the metadata log of the controllers"


class Awaited:
    """Keeps what is waited for, and since when."""

    def __init__(self) -> None:
        self._since: dict[object, tuple[str, float]] = {}

    @contextmanager
    def asking(self, name: object) -> Iterator[None]:
        """Count this as awaited inside the context."""
        key = object()
        self._since[key] = str(name), asyncio.get_running_loop().time()
        try:
            yield
        finally:
            del self._since[key]

    def text(self, longer: float = 0.0) -> str:
        """Return what is awaited for at least so many seconds: `a and b`; empty if nothing is."""
        latest = asyncio.get_running_loop().time() - longer
        names = [*dict.fromkeys(name for name, since in self._since.values() if since <= latest)]
        if len(names) > SHOWN:
            names[SHOWN:] = [f"{len(names) - SHOWN} more"]
        return joined(names) if names else ""
