"""The log of the service never waits for its reader, and says so where lines are missing."""

import io
import sys
import threading

import pytest

from kwire.cli.proxy import service_log
from kwire.cli.proxy.service_log import log, logging_to_stderr


class SlowReader(io.StringIO):
    """Takes no line until `reads` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.began = threading.Event()
        self.reads = threading.Event()

    def write(self, text: str) -> int:
        self.began.set()
        assert self.reads.wait(60)
        return super().write(text)


def test_lines_that_find_no_room_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = SlowReader()
    monkeypatch.setattr(sys, "stderr", reader)
    monkeypatch.setattr(service_log, "WAITING", 2)
    with logging_to_stderr("text", "info"):
        log.info("line 0")
        assert reader.began.wait(60)
        for number in range(1, 6):
            log.info("line %d", number)  # two wait, three find no room
        reader.reads.set()
        while "line 2" not in reader.getvalue():
            threading.Event().wait(0.01)
        log.info("line 6")
    lines = [line.split(" ", 1)[1] for line in reader.getvalue().splitlines()]
    assert lines == [
        "info line 0",
        "info line 1",
        "info line 2",
        "warning 3 lines were left out here: the reader of the log is too slow",
        "info line 6",
    ]
