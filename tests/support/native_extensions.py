"""Helpers for tests of the native extensions: builds that lack one, leaks, other threads."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def needs_extension() -> Iterator[None]:
    """Skip the module or test whose import in this context finds no extension.

    With KWIRE_NATIVE=1 it fails instead.
    """
    try:
        yield
    except ImportError:
        if os.environ.get("KWIRE_NATIVE") == "1":
            raise
        pytest.skip("no native engine here: it takes a C compiler", allow_module_level=True)


def assert_nothing_leaks(work: Callable[[], object], rounds: int, *objects: object) -> None:
    """Assert that work leaves no block of memory behind, and no reference to these objects."""

    def counts() -> list[int]:
        gc.collect()
        return [sys.getallocatedblocks(), *map(sys.getrefcount, objects)]

    for _ in range(20):  # what is made once, such as caches
        work()
    before = counts()
    for _ in range(rounds):
        work()
    after = counts()
    grown = [new - old for old, new in zip(before, after, strict=True)]
    assert max(map(abs, grown)) < rounds / 2, f"blocks and references grew by {grown}"


@contextmanager
def collecting(also: Callable[[], object] = lambda: None) -> Iterator[list[str]]:
    """Have the collector run all the time, and look at everything it knows, which must be whole.

    also: what to do each time. Yields the phases that it came in.
    """
    visits: list[str] = []

    def visit(phase: str, info: dict[str, int]) -> None:
        visits.append(phase)
        for known in gc.get_objects():
            if type(known) in (list, tuple) and known:
                _ = known[0], known[-1]
        also()

    thresholds = gc.get_threshold()
    gc.freeze()  # what exists already would only make the visits slow
    gc.callbacks.append(visit)
    gc.set_threshold(1)
    try:
        yield visits
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(visit)
        gc.unfreeze()


def interfere(write: Callable[[], object], change: Callable[[], object]) -> None:
    """Write in a thread, and change what is written as soon as that lets this thread go on."""
    begun = threading.Event()

    def begin() -> None:
        begun.set()
        write()

    writing = threading.Thread(target=begin)
    writing.start()
    begun.wait()
    change()
    writing.join()
