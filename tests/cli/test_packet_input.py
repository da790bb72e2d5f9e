"""A pipe of packets: its bytes are there at once, and time passes while it is silent."""

import os
import time
from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO

import pytest

from kwire.cli import packet_input
from kwire.cli.packet_input import PacketInput


class Pipe:
    """Both ends of a pipe."""

    def __init__(self) -> None:
        self._end, self.start = os.pipe()
        self.file = os.fdopen(self._end, "rb")


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.file.close()


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packet_input, "MOMENT", 0.05)
    monkeypatch.setattr(packet_input, "_PAUSE", 0.01)
    monkeypatch.setattr(packet_input, "_REST", 0.05)


def next_bytes(file: BinaryIO, size: int) -> tuple[Any, int]:
    """Return the next bytes, and how many moments passed before them."""
    moments = 0
    while (data := file.read(size)) is None:
        moments += 1
    return data, moments


def test_what_is_there_comes_at_once_and_a_silent_pipe_tells_the_time(pipe: Pipe) -> None:
    file = PacketInput().file(pipe.file)
    os.write(pipe.start, b"abc")
    assert next_bytes(file, 2)[0] == b"ab"
    assert file.read(4) is None
    os.write(pipe.start, b"defg")
    assert next_bytes(file, 4)[0] == b"cdef"
    os.close(pipe.start)
    assert next_bytes(file, 4)[0] == b"g"
    assert next_bytes(file, 4)[0] == b""


def test_time_passes_in_a_pipe_that_is_never_silent(pipe: Pipe) -> None:
    file = PacketInput().file(pipe.file)
    end, moments = time.monotonic() + 0.3, 0
    while time.monotonic() < end:
        os.write(pipe.start, b"x" * 100)
        moments += file.read(1) is None
        time.sleep(0.002)
    os.close(pipe.start)
    assert moments >= 3


def test_a_pipe_that_stays_open_ends_soon_after_a_stop_with_what_it_has(pipe: Pipe) -> None:
    packets = PacketInput()
    file = packets.file(pipe.file)
    packets.stop()
    os.write(pipe.start, b"the last words")
    assert next_bytes(file, 100) == (b"the last words", 0)
    os.close(pipe.start)


def test_a_file_has_no_moments() -> None:
    file: Any = BytesIO(b"abc")
    assert PacketInput().file(file).read(4) == b"abc"
