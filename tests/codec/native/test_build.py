"""The build hook with a compiler, without one, and with its environment variable."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.paths import ROOT

NO_COMPILER = "no-such-compiler"


def build(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name != "KWIRE_NATIVE"}
    return subprocess.run(
        command, cwd=ROOT, env={**environment, **variables}, capture_output=True, text=True
    )


def wheel(folder: Path) -> tuple[str, set[str]]:
    """The tag of the only wheel, and the names of the engine's files in it."""
    import hatch_build

    (path,) = folder.glob("*.whl")
    inside = hatch_build.SOURCES + "/"
    names = {name for name in zipfile.ZipFile(path).namelist() if name.startswith(inside)}
    return path.stem.split("-", 2)[2], {name.removeprefix(inside) for name in names}


PYTHON_FILES = {"__init__.py", "_program.pyi", "parts.py", "tables.py"}


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_with_a_compiler_one_wheel_serves_every_python_from_3_11(tmp_path: Path) -> None:
    import hatch_build

    done = build(tmp_path, KWIRE_NATIVE="1")
    assert done.returncode == 0, done.stderr
    tag, names = wheel(tmp_path)
    assert tag == f"cp311-abi3-{hatch_build.platform_tag()}"
    (extension,) = names - PYTHON_FILES
    assert extension.startswith("_program.")


@pytest.mark.parametrize("variables", [{"CC": NO_COMPILER}, {"KWIRE_NATIVE": "0"}])
def test_without_the_extension_the_wheel_says_that_it_is_pure(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    done = build(tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    assert wheel(tmp_path) == ("py3-none-any", PYTHON_FILES)
    assert ("without its native engine" in done.stdout + done.stderr) == ("CC" in variables)


def test_a_wish_that_cannot_be_granted_is_an_error(tmp_path: Path) -> None:
    done = build(tmp_path, CC=NO_COMPILER, KWIRE_NATIVE="1")
    assert done.returncode != 0
    assert NO_COMPILER in done.stderr


def test_an_engine_that_was_not_built_is_quietly_absent() -> None:
    hide = "import sys; sys.modules['kwire.codec.native._program'] = None; import kwire; "
    look = (
        "from kwire.codec.engine_choice import available; "
        "print(available(), kwire.message('NoOpRecord')().encode(0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", hide + look], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "('compiled', 'reference') b'\\x00'\n"
