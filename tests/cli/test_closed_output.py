"""The other end of a pipe is closed while nothing is printed."""

from __future__ import annotations

import io
import os
import sys

import pytest

from kwire.cli.migration.watch import is_closed, sleep_while_read


async def test_a_sleep_ends_when_the_reader_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        await sleep_while_read(0.0)
        assert not is_closed(stream)
        os.close(reading)
        assert is_closed(stream)
        with pytest.raises(BrokenPipeError):
            await sleep_while_read(3600.0)


def test_a_file_and_a_stream_in_memory_are_not_closed() -> None:
    assert not is_closed(io.StringIO())
    with open(os.devnull, "w") as stream:
        assert not is_closed(stream)
