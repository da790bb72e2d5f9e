"""Runs the `kwire` command inside the test's process and keeps what it says."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kwire.cli.main import main

KWIRE = Path(sys.executable).with_name("kwire")
"""The installed command, for tests that need a process of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The result of one command: its exit code and its two outputs."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value that was printed."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line of an error; fails for a traceback, or where there is no such line."""
        line = self.err.splitlines()[-1]
        assert "Traceback" not in self.err
        assert line.startswith("Error: ")
        return line.removeprefix("Error: ")


class Command:
    """`kwire("protocol", "show")` is what the shell's `kwire protocol show` does, piped."""

    def __init__(self, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._patch = patch

    def __call__(self, *arguments: str, stdin: bytes | io.BytesIO = b"") -> Run:
        self._capsys.readouterr()
        file = io.BytesIO(stdin) if isinstance(stdin, bytes) else stdin
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(file))
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
        out, err = self._capsys.readouterr()
        return Run(code=int(exit_.value.code or 0), out=out, err=err)
