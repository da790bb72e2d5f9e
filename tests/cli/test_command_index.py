"""The index of commands is today's, and what `kwire` says from it is what typer says."""

import subprocess
import sys
from pathlib import Path

import pytest

from command_index import document, text
from kwire.cli import command_index, start
from kwire.cli.main import COMMANDS
from tests.support.cli.command import KWIRE, Command


def test_the_index_is_todays() -> None:
    assert command_index.FILE.read_text() == text(document()), "run `python -m command_index`"


@pytest.mark.parametrize("columns", [30, 79, 80, 200])
@pytest.mark.parametrize("words", [["--help"], ["-h"], []])
def test_the_list_of_commands_is_that_of_typer(
    kwire: Command, monkeypatch: pytest.MonkeyPatch, words: list[str], columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    run = kwire(*words)
    assert start.quick_answer(words) == (run.out, run.err, run.code)


@pytest.mark.parametrize("name", ["quorums", "topic", "qqqq", "it's"])
def test_an_unknown_command_is_answered_as_by_typer(kwire: Command, name: str) -> None:
    run = kwire(name)
    assert start.quick_answer([name]) == (run.out, run.err, run.code)


@pytest.mark.parametrize("words", [[name] for name in COMMANDS] + [["--version", "x"], ["--", "x"]])
def test_all_else_is_left_to_typer(words: list[str]) -> None:
    assert start.quick_answer(words)[:2] == ("", "")


def loaded(*words: str) -> set[str]:
    """Start kwire in a process of its own; return the modules that it has at the end."""
    program = (
        "import sys\nfrom kwire.cli.start import main\ntry:\n    main()\n"
        "except SystemExit:\n    print('\\n', *sys.modules)"
    )
    command = [sys.executable, "-c", program, *words]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(told.stdout.splitlines()[-1].split())


QUICK = {"kwire", "kwire.lazy_names", "kwire.cli", "kwire.cli.start"}


def test_the_version_imports_next_to_nothing() -> None:
    modules = loaded("--version")
    assert {name for name in modules if name.startswith("kwire")} == QUICK
    assert not modules & {"typer", "click", "rich", "json", "importlib.metadata"}


@pytest.mark.parametrize("words", [["--help"], ["quorums"], ["--debug", "--help"]])
def test_the_list_of_commands_imports_no_command(words: list[str]) -> None:
    modules = loaded(*words)
    own = {name for name in modules if name.startswith("kwire")}
    assert own == {*QUICK, "kwire.cli.command_list", "kwire.cli.command_index"}
    assert not modules & {"typer", "click", "rich", "pydantic"}


def test_the_installed_command_starts_there(tmp_path: Path) -> None:
    run = subprocess.run([KWIRE], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("Usage: kwire [OPTIONS] COMMAND")
    line = f"{KWIRE} --help | true"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    closed = subprocess.run(["bash", "-c", f"{KWIRE} --help >&-"], capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (0, "")
