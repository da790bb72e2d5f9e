"""Log lines that a peer's words cannot break."""

import json
import logging
import sys
from logging import LogRecord

import pytest

from kwire.cli.log_lines import HarmlessLines, escape_warnings, log_to_stderr
from kwire.cli.proxy.service_log import JsonLines, TextLines

ATTACK = "x\r\n2026-11-27 INFO kwire: user admin logged in\x1b[2J\x9b31m\x00\x85\u2028\u202e"
"""A second line that looks like a record, and commands to a terminal."""


def record(error: BaseException | None = None) -> LogRecord:
    info = None if error is None else (type(error), error, error.__traceback__)
    return LogRecord("kwire", logging.WARNING, "", 0, "it is called %s", (ATTACK,), info)


@pytest.mark.parametrize(
    "formatter", [HarmlessLines("%(message)s"), TextLines(), JsonLines()], ids=lambda f: type(f)
)
def test_a_record_is_one_line_of_printable_characters(formatter: logging.Formatter) -> None:
    line = formatter.format(record())
    assert line.isprintable()
    assert r"\r\n2026" in line


def test_json_has_the_words_as_they_are() -> None:
    assert json.loads(JsonLines().format(record()))["message"] == f"it is called {ATTACK}"


def test_a_traceback_is_indented_below_its_record() -> None:
    try:
        raise ValueError(ATTACK)
    except ValueError as error:
        lines = HarmlessLines("%(message)s").format(record(error)).split("\n")
    first, *rest = lines
    assert first.startswith("it is called x")
    assert len(rest) >= 4
    assert all(line.startswith("    ") and line.isprintable() for line in rest)


def test_warnings_of_a_command_without_a_log_are_escaped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    last = logging._StderrHandler(logging.WARNING)  # type: ignore[attr-defined]
    monkeypatch.setattr(logging, "lastResort", last)
    escape_warnings()
    last.handle(record())
    assert capsys.readouterr().err.removesuffix("\n").isprintable()


def test_the_log_of_a_controller_is_escaped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = logging.RootLogger(logging.WARNING)
    monkeypatch.setattr(logging, "root", root)
    log_to_stderr()
    (handler,) = root.handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(sys.stderr)
    root.handle(record())
    line = capsys.readouterr().err.removesuffix("\n")
    assert line.isprintable()
    assert " WARNING kwire: it is called x" in line
