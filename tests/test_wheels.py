"""The wheels of this platform, built from the sdist: audited, installed, and run by each Python.

The others are built by .github/workflows/release.yml, by the same recipe.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

import pytest

import hatch_build
from kwire import __version__
from tests.support.package import build
from tests.support.paths import ROOT
from tests.support.readme import relative_links

pytestmark = [pytest.mark.costly, pytest.mark.xdist_group("wheels")]

LIMIT = 60_000_000
"""Bytes that `pip install kwire` may add to an environment, bytecode included."""

SUITES = {"trixie": "3.13", "sid": "3.14"}
"""Debian's releases and their Pythons. Bookworm has 3.11, and none has 3.12."""

TRIED = """
set -e
python3 -m venv v
v/bin/pip install --quiet --only-binary :all: "$1"
v/bin/kwire --version --json
v/bin/kwire demo >demo
tail -n 1 demo
rm -r v
"""
"""Install a wheel and run what it promises."""


def tool(*command: str | Path) -> str:
    """Run a program of this environment; return what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        env={**os.environ, "PATH": path},  # auditwheel looks for patchelf
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("sdist"), "sdist")


@pytest.fixture(scope="module")
def source(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the sdist unpacks to."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)
    return folder / f"kwire-{__version__}"


@pytest.fixture(scope="module")
def pure(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of pure Python."""
    return build(tmp_path_factory.mktemp("pure"), "wheel", source, KWIRE_NATIVE="0")


@pytest.fixture(scope="module")
def native(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel with the native engine, repaired."""
    if shutil.which("cc") is None:
        pytest.skip("there is no compiler")
    built = build(tmp_path_factory.mktemp("native"), "wheel", source, KWIRE_NATIVE="1")
    folder = tmp_path_factory.mktemp("repaired")
    tool("auditwheel", "repair", "--wheel-dir", folder, built)
    (repaired,) = folder.iterdir()
    return repaired


@pytest.fixture(scope="module", params=["pure", "native"])
def wheel(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def installed(native: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment into which the native wheel is installed, and nothing else."""
    environment = tmp_path_factory.mktemp("installed")
    tool(sys.executable, "-m", "venv", "--without-pip", environment)
    pip = ("pip", "--python", environment / "bin" / "python", "install", "--quiet")
    tool(*pip, "--constraint", ROOT / "constraints.txt", native)
    return environment


def test_the_wheels_are_for_every_python_from_3_11_on(pure: Path, native: Path) -> None:
    assert pure.name == f"kwire-{__version__}-py3-none-any.whl"
    assert native.name.startswith(f"kwire-{__version__}-cp311-abi3-manylinux")


def test_the_wheels_are_whole(sdist: Path, wheel: Path) -> None:
    tool("check-wheel-contents", wheel)
    tool("twine", "check", "--strict", wheel, sdist)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = HeaderParser().parsestr(
            archive.read(f"kwire-{__version__}.dist-info/METADATA").decode()
        )
    assert not [name for name in names if name.endswith((".pyc", ".c", ".h"))]
    text = str(metadata.get_payload())
    assert text.startswith("# kwire")
    assert relative_links(text) == []
    assert f"/blob/v{__version__}/" in text


def test_the_native_wheel_uses_only_the_stable_interface(native: Path, tmp_path: Path) -> None:
    tool("abi3audit", "--strict", "--report", "--output", tmp_path / "report.json", native)
    (spec,) = json.loads((tmp_path / "report.json").read_text())["specs"].values()
    names = {extension["name"] for extension in spec["wheel"]}
    modules = [native.module.rpartition(".")[2] for native in hatch_build.here()]
    assert names == {f"{module}.abi3.so" for module in modules}
    results = [extension["result"] for extension in spec["wheel"]]
    assert all(result["is_abi3_baseline_compatible"] for result in results)
    assert {result["baseline"] for result in results} == {"3.11"}


def test_the_metadata_lack_nothing_but_an_address_for_mail(sdist: Path) -> None:
    printed = subprocess.run(
        [Path(sys.executable).with_name("pyroma"), sdist], capture_output=True, text=True
    ).stdout
    faults = [line for line in printed.splitlines() if line.startswith("Your package")]
    assert faults == ["Your package does not have author-email data."]


def test_an_install_is_small_and_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    (packages,) = installed.glob("lib/python*/site-packages")
    files = [path for path in packages.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    bytecode = sum(path.stat().st_size for path in files if path.suffix == ".pyc")
    print(f"{size / 1e6:.1f} MB, {(size - bytecode) / 1e6:.1f} MB without bytecode")  # noqa: T201
    assert bytecode
    assert size <= LIMIT
    kwire = installed / "bin" / "kwire"
    about = json.loads(tool(kwire, "--version", "--json"))
    assert (about["kwire"], about["engine"], about["extras"]) == (__version__, "native", {})
    printed = tool(kwire, "demo")
    assert printed.splitlines()[-1] == "Every RPC was decoded; the voters are what they were."


def test_a_list_of_what_an_install_brings_is_written(installed: Path, tmp_path: Path) -> None:
    path = tmp_path / "sbom.json"
    command = ("cyclonedx-py", "environment", "--output-reproducible", "--of", "JSON", "-o", path)
    tool(*command, installed / "bin" / "python")
    listed = {part["name"]: part["version"] for part in json.loads(path.read_text())["components"]}
    about = json.loads(tool(installed / "bin" / "kwire", "--version", "--json"))
    assert listed["kwire"] == __version__
    names = {name.lower().replace("_", "-") for name in listed}
    assert {name.lower() for name in about["packages"]} <= names


@pytest.fixture
def system(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Return the root folder of a minimal Debian with its Python."""
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        pytest.skip("only root may make a root of its own, with mmdebstrap")
    mirror = tool(
        *("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"),
        *("Origin: Debian", "Codename: bookworm"),
    ).split()[0]
    root = tmp_path / "root"
    options = ["--quiet", "--variant=minbase", "--include=python3,python3-venv,ca-certificates"]
    options.append('--aptopt=Acquire::Check-Valid-Until "false"')  # a mirror may lag
    tool("mmdebstrap", *options, request.param, root, mirror)
    for name in ("/etc/pip.conf", "/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
        if Path(name).exists():
            shutil.copy(name, f"{root}{name}")
    for name in (".pip/pip.conf", ".config/pip/pip.conf"):
        if (Path.home() / name).exists():
            (root / "root" / name).parent.mkdir(parents=True)
            shutil.copy(Path.home() / name, root / "root" / name)
    yield root
    shutil.rmtree(root)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("system", SUITES, indirect=True)
def test_other_pythons_run_both_wheels(
    system: Path, pure: Path, native: Path, request: pytest.FixtureRequest
) -> None:
    python = SUITES[request.node.callspec.params["system"]]
    for wheel, engine in ((native, "native"), (pure, "compiled")):
        shutil.copy(wheel, system / "tmp")
        inside = ("/bin/sh", "-c", f"cd /tmp\n{TRIED}", "sh", f"/tmp/{wheel.name}")
        *about, last = tool("chroot", system, *inside).splitlines()
        said = json.loads("\n".join(about))
        assert said["python"].startswith(f"CPython {python}.")
        assert said["engine"] == engine
        assert last == "Every RPC was decoded; the voters are what they were."
