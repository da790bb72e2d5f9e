"""The house rules that a machine can check: sizes, layers, docstrings, what the wheel holds."""

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = sorted(path.parent.name for path in ROOT.glob("*/py.typed"))
GENERATED = {"apis", "records", "coordinators", "data", "index.py", "error_codes.py"}


def sources() -> list[Path]:
    return sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def is_generated(path: Path) -> bool:
    if path.parent == ROOT / "controller" / "configs":
        return path.name.endswith("_keys.py")
    return path.relative_to(ROOT).parts[0] == "kwire" and bool(GENERATED & set(path.parts))


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_it_is_and_has_one_subject(path: Path) -> None:
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)), "no module docstring"
    assert is_generated(path) or text.count("\n") <= 400, "more than 400 lines"


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


def test_the_wheel_holds_the_rooms_and_nothing_else(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*build, "--directory", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    members = zipfile.ZipFile(wheel).infolist()
    names = {Path(member.filename).parts[0] for member in members}
    assert {name for name in names if not name.endswith(".dist-info")} == set(ROOMS)
    (script,) = (one for one in members if one.filename == "pipeline/java_home/bin/java")
    assert script.external_attr >> 16 & 0o111, "pip would install it without the right to run it"
