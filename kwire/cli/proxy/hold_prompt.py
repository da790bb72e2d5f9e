"""`kwire proxy --hold`: lines of stdin decide what becomes of the messages that are held."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from kwire.cli.screen import screen
from kwire.proxy import Action, Close, Drop

_ACTIONS: dict[str, Action | None] = {"": None, "drop": Drop(), "close": Close()}


class HoldPrompt:
    """Reads lines: Enter sends the oldest held message on; drop, close and all do other things.

    release: releases the oldest message with an action; False if none is held.
    """

    def __init__(self, release: Callable[[Action | None], bool]) -> None:
        self._release = release

    def start(self) -> None:
        """Read in a thread and decide in the running loop, until stdin or the loop ends."""
        loop = asyncio.get_running_loop()
        # A daemon: nothing can interrupt a read of a terminal, and the proxy must end without one.
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError, ValueError):  # the loop or stdin is closed
            for line in sys.stdin or ():
                loop.call_soon_threadsafe(self._decide, line.strip())

    def _decide(self, word: str) -> None:
        if word == "all":
            while self._release(None):
                pass
        elif word not in _ACTIONS:
            _print(f"{word!r} is no answer: press Enter, or write drop, close or all", "red")
        elif not self._release(_ACTIONS[word]):
            _print("nothing is held", "dim")


def _print(text: str, style: str) -> None:
    screen(stderr=True).print(text, style=style, markup=False, highlight=False)
