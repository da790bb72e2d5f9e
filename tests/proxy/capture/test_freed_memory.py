"""Freed memory is kept while long frames pass, and given back behind them."""

import os
from pathlib import Path

import pytest

from kwire.proxy.capture.freed_memory import KEPT, QUIET, USUAL, FreedMemory

STATM = Path("/proc/self/statm")


def test_memory_is_kept_from_the_first_long_frame_on_until_it_is_quiet() -> None:
    sizes: list[int] = []
    memory = FreedMemory(sizes.append)
    memory.tick(0.0)
    for now in (1.0, 2.0, 3.0):
        memory.use(now)
        memory.tick(now)
    memory.tick(3.0 + QUIET - 0.1)
    assert sizes == [KEPT]
    memory.tick(3.0 + QUIET)
    memory.tick(100.0)
    assert sizes == [KEPT, USUAL]
    memory.use(200.0)
    memory.release()
    memory.release()
    assert sizes == [KEPT, USUAL, KEPT, USUAL]


@pytest.mark.skipif(not STATM.exists(), reason="no /proc here")
def test_a_process_gives_back_what_long_frames_took() -> None:
    memory = FreedMemory()
    memory.use(0.0)
    before = resident()
    frames = [bytes(4 * 1024 * 1024) + b"x" for _ in range(10)]
    held = resident()
    del frames
    memory.release()
    after = resident()
    assert held - before > 30e6
    assert after - before < 12e6


def resident() -> int:
    """Return the bytes of memory that this process has."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
