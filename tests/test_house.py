"""The house rules that a machine can check: sizes, layers, docstrings, what the wheel holds."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.package import sources
from tests.support.paths import ROOT


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text())
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_function_fits_on_a_screen(path: Path) -> None:
    """Code counts: a contract may be long, so may options, and a comment is no burden."""
    lines = path.read_text().splitlines()
    long = [
        f"{function.name}: {length} lines"
        for function in functions(path)
        if (length := _length(function, lines)) > 40
    ]
    assert not long


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    first = (body or function.body)[0].lineno
    code = lines[first - 1 : function.end_lineno]
    return sum(1 for line in code if not line.lstrip().startswith("#"))


def test_arrows_between_rooms_point_down() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("room", ["admin", "proxy", "cli"])
def test_a_door_at_the_top_leads_into_the_package(room: str) -> None:
    door = ROOT / room
    if not door.is_symlink():  # a system without links: git leaves the target as text
        assert door.read_text() == f"kwire/{room}"
    else:
        assert str(door.readlink()) == f"kwire/{room}"


def test_nothing_imports_through_a_door() -> None:
    doors = {"admin", "proxy", "cli", "controller", "pipeline"}
    checked = ("kwire", "tests", "fixtures", "benchmarks", "docs")
    guilty = [
        f"{path.relative_to(ROOT)}: {name}"
        for folder in checked
        for path in (ROOT / folder).rglob("*.py")
        for name in imported(path)
        if name.partition(".")[0] in doors
    ]
    assert not guilty


def test_no_test_module_is_imported() -> None:
    """Code that two test modules need belongs in tests/support."""
    guilty = [
        f"{path.relative_to(ROOT)}: {name}"
        for folder in ("tests", "fixtures", "benchmarks", "kwire")
        for path in (ROOT / folder).rglob("*.py")
        for name in imported(path)
        if name.startswith("tests.") and name.rpartition(".")[2].startswith(("test_", "conftest"))
    ]
    assert not guilty


def test_between_the_tests_lie_no_helpers() -> None:
    tests = ROOT / "tests"
    helpers = [
        str(path.relative_to(ROOT))
        for path in tests.rglob("*.py")
        if path.relative_to(tests).parts[0] != "support"
        and not path.is_relative_to(BREAKS)
        and not path.name.startswith(("test_", "conftest"))
    ]
    assert not helpers


BREAKS = ROOT / "tests" / "conform" / "breaks"
"""The break of each check: data of one test, in modules named as those of the checks."""


ROOMS_OF_TESTS = {
    "cli/watch": "the screen, the browser and the plain form of one command",
    "controller/live": "quorums of kwire's and Kafka's nodes",
    "controller/live/libraries": "what client libraries do on brokers of both",
    "controller/live/session": "requests that both get, by subject",
    "portability": "all rooms, without what only POSIX has",
    "support": "what tests share",
}
"""Folders of tests that are no folder of kwire/ or fixtures/, and what they are about."""


def test_the_folders_of_the_tests_are_those_of_what_they_test() -> None:
    tests = ROOT / "tests"
    files = [path for path in tests.rglob("*.py") if not path.is_relative_to(BREAKS)]
    folders = {str(path.parent.relative_to(tests)) for path in files}
    rooms = {folder.removeprefix("support/") for folder in folders} - {"."} - set(ROOMS_OF_TESTS)
    tested = {
        room for room in rooms for top in ("kwire", "fixtures") if (ROOT / top / room).is_dir()
    }
    assert rooms == tested


def imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, and the names that it imports from them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


LOADED = """
import sys
before = set(sys.modules)
import kwire
kwire.message("AddRaftVoterRequest")(voter_id=3).encode(version=1)
import kwire.batches
print(*sorted({name for name in set(sys.modules) - before}))
"""

CODEC = {"kwire", "construct", "cramjam", "crc32c", "msgspec", "typing_extensions"}
ROOMS_OF_THE_CODEC = {"batches", "codec", "messages", "text", "errors", "error_codes"}


def test_the_codec_is_usable_alone() -> None:
    """`import kwire` and a message loads neither the commands' libraries nor the event loop."""
    command = [sys.executable, "-c", LOADED]
    environment = {**os.environ, "KWIRE_CACHE": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    loaded = done.stdout.split()
    assert {name.partition(".")[0] for name in loaded} <= CODEC | set(sys.stdlib_module_names)
    assert not {"asyncio", "ssl"} & set(loaded)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("kwire.")}
    assert rooms <= ROOMS_OF_THE_CODEC
