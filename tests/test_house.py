"""The house rules that a machine can check: sizes, layers, docstrings, what the wheel holds."""

import ast
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "kwire"


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def is_generated(path: Path) -> bool:
    inside = path.relative_to(PACKAGE)
    if inside.parts[:2] == ("controller", "configs"):
        return path.name.endswith("_keys.py")
    by_hand = {"registry.py", "metadata_versions.py"}
    return inside.name == "error_codes.py" or (
        inside.parts[0] == "messages" and inside.name not in by_hand
    )


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text())
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_function_fits_on_a_screen(path: Path) -> None:
    """What counts is the body behind its docstring: a contract may be long, and so may options."""
    long = [
        f"{function.name}: {length} lines"
        for function in functions(path)
        if (length := (function.end_lineno or 0) - _body(function) + 1) > 40
    ]
    assert not long


def _body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body or function.body)[0].lineno


def test_arrows_between_rooms_point_down() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def build(folder: Path, target: str, source: Path = ROOT) -> Path:
    """Build the wheel or the sdist of a folder; return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory"]
    subprocess.run([*command, folder], cwd=source, check=True, capture_output=True)
    (made,) = (path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))
    return made


def test_a_wheel_from_the_sdist_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "sdist").mkdir()
    with tarfile.open(build(tmp_path / "sdist", "sdist")) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    assert {path.name for path in source.iterdir() if path.is_dir()} == {"kwire"}
    wheel = zipfile.ZipFile(build(tmp_path / "wheel", "wheel", source))
    names = [name for name in wheel.namelist() if ".dist-info/" not in name]
    here = {str(path.relative_to(ROOT)) for path in sources()}
    assert {name for name in names if name.endswith(".py")} == here
    assert {Path(name).parts[0] for name in names} == {"kwire"}
    assert "kwire/py.typed" in names
    script = wheel.getinfo("kwire/pipeline/java_home/bin/java")
    assert script.external_attr >> 16 & 0o111, "pip would install it without the right to run it"


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


def imported(path: Path) -> Iterator[str]:
    """Yield the module of each import statement of a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


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
