"""The build hook with a compiler, without one, and with its environment variable."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hatch_build
from kwire.cli.about import NATIVE
from tests.support import sanitize
from tests.support.native_extensions import needs_extension
from tests.support.paths import ROOT

NO_COMPILER = "no-such-compiler"


def build(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name != "KWIRE_NATIVE"}
    return subprocess.run(
        command, cwd=ROOT, env={**environment, **variables}, capture_output=True, text=True
    )


def wheel(folder: Path) -> tuple[str, set[str]]:
    """The tag of the only wheel, and the paths of the extensions in it without their suffixes."""
    (path,) = folder.glob("*.whl")
    names = [Path(name) for name in zipfile.ZipFile(path).namelist()]
    extensions = {name for name in names if name.suffix in (".so", ".pyd")}
    return path.stem.split("-", 2)[2], {str(name).partition(".")[0] for name in extensions}


@pytest.mark.costly
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_with_a_compiler_one_wheel_serves_every_python_from_3_11(tmp_path: Path) -> None:
    done = build(tmp_path, KWIRE_NATIVE="1")
    assert done.returncode == 0, done.stderr
    extensions = {native.module.replace(".", "/") for native in hatch_build.here()}
    assert wheel(tmp_path) == (f"cp311-abi3-{hatch_build.platform_tag()}", extensions)


@pytest.mark.parametrize("native", hatch_build.here(), ids=lambda native: native.module)
def test_each_extension_is_built_from_the_sources_as_they_are(
    native: hatch_build.NativeModule,
) -> None:
    with needs_extension():
        module = import_module(native.module)
    assert native.digest(ROOT) == module.SOURCES, "run: pip install --editable ."


def test_each_extension_is_attacked_under_the_sanitizers() -> None:
    assert list(sanitize.ATTACKS) == [native.module for native in hatch_build.NATIVE_MODULES]


def test_an_extension_is_built_where_there_is_one() -> None:
    posix = hatch_build.NativeModule("a.native._b", platforms=("linux", "darwin"))
    anywhere = hatch_build.NativeModule("a.native._c")
    assert [posix.is_for(system) for system in ("linux", "darwin", "win32")] == [True, True, False]
    assert anywhere.is_for("win32")


def test_a_bug_report_has_each_extension() -> None:
    modules = {native.module.rpartition(".")[0] for native in hatch_build.NATIVE_MODULES}
    assert modules == set(NATIVE.values())


def test_a_change_of_a_file_that_extensions_share_is_a_change_of_each(tmp_path: Path) -> None:
    native = hatch_build.NativeModule("a.native._b", shared=("c/shared.h",))
    for path in ("a/native/b.c", "c/shared.h", "c/other.h"):
        Path(tmp_path, path).parent.mkdir(parents=True, exist_ok=True)
        Path(tmp_path, path).write_text("")
    before = native.digest(tmp_path)
    Path(tmp_path, "c/other.h").write_text("#define A")
    assert native.digest(tmp_path) == before
    Path(tmp_path, "c/shared.h").write_text("#define A")
    assert native.digest(tmp_path) != before


def test_an_extension_that_does_not_build_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = hatch_build.NativeModule("kwire.broken.native._none")
    whole = hatch_build.NativeModule("whole.native._whole")

    def build(root: Path, scratch: Path, native: hatch_build.NativeModule) -> Path:
        if native is broken:
            raise hatch_build.NotBuilt("its compiler failed")
        return scratch / "_whole.abi3.so"

    monkeypatch.setattr(hatch_build, "build", build)
    monkeypatch.delenv("KWIRE_NATIVE", raising=False)
    monkeypatch.setattr(hatch_build, "NATIVE_MODULES", (broken, whole))
    hook = HookOf(tmp_path)
    data: dict[str, Any] = {"force_include": {}}
    hook.initialize("standard", data)
    (inside,) = data["force_include"].values()
    assert inside.startswith("whole/native/_whole.")
    assert data["pure_python"] is False
    assert ["kwire.broken.native._none" in warning for warning in hook.warnings] == [True]


class HookOf(hatch_build.NativeBuildHook):
    """The hook as hatchling makes it for a wheel of a folder; it keeps the warnings."""

    target_name = "wheel"

    def __init__(self, root: Path) -> None:
        self.folder = str(root)
        self.warnings: list[str] = []

    @property
    def root(self) -> str:
        return self.folder

    @property
    def app(self) -> Any:
        return SimpleNamespace(display_warning=self.warnings.append)


@pytest.mark.parametrize("variables", [{"CC": NO_COMPILER}, {"KWIRE_NATIVE": "0"}])
def test_without_the_extension_the_wheel_says_that_it_is_pure(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    done = build(tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    assert wheel(tmp_path) == ("py3-none-any", set())
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
