"""kwire among other people's modules: installed, editable, checked by mypy, as pytest's plugin."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from textwrap import indent

import pytest

from tests.support.markdown import code_blocks
from tests.support.package import build, sources
from tests.support.paths import ROOT

NAMES = ("admin", "proxy", "cli", "controller", "pipeline", "fixtures", "net", "messages")
"""Modules of a user's own that kwire must neither import nor hide."""

USES = """
import kwire
import admin, proxy, cli, controller, pipeline, fixtures, net, messages
from kwire.admin import AdminClient
from kwire.testing import Quorum
from kwire.proxy import Filter

assert {module.OWNER for module in (admin, proxy, cli, controller, pipeline, fixtures, net)} == {1}
print(kwire.__file__, kwire.message("VoteRequest").__name__)
"""

TYPED = """
import kwire
from kwire.admin import AdminClient
from kwire.messages import VoteRequest
from kwire.proxy import Filter

request: VoteRequest = VoteRequest(cluster_id=None, voter_id=3)
fetch: int = kwire.message("FetchRequest")(max_wait_ms=1).max_wait_ms
version: str = kwire.__version__
client: AdminClient = AdminClient(bootstrap_controllers="localhost:9093")


class Mine(Filter):
    pass


request.voter_id = "three"
"""

PLUGIN = """
pytest_plugins = ["kwire.testing.pytest_plugin"]
"""

PLUGIN_TEST = """
import controller


def test_a_quorum_of_its_own(kwire_quorum):
    assert controller.OWNER == 1
    assert kwire_quorum.bootstrap_controllers
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's folder, with modules of its own under names that rooms of kwire have, too."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text("OWNER = 1\n")
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site-packages of an environment into which the wheel is unpacked."""
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (folder,) = environment.glob("lib/python*/site-packages")
    # To compile the native engine would take most of the time.
    wheel = build(tmp_path_factory.mktemp("wheel"), "wheel", KWIRE_NATIVE="0")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


DASHBOARDS = (
    "kwire/exporter/grafana-dashboard.json",
    "kwire/proxy/service/grafana-dashboard.json",
)


@pytest.mark.costly
def test_a_wheel_from_the_sdist_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "sdist").mkdir()
    with tarfile.open(build(tmp_path / "sdist", "sdist")) as archive:
        # Python 3.11.2 (Debian 12) has no filters, and 3.14 wants one.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path / "source")
    (source,) = (tmp_path / "source").iterdir()
    assert {path.name for path in source.iterdir() if path.is_dir()} == {"kwire"}
    wheel = zipfile.ZipFile(build(tmp_path / "wheel", "wheel", source))
    names = [name for name in wheel.namelist() if ".dist-info/" not in name]
    here = {str(path.relative_to(ROOT)) for path in sources()}
    assert {name for name in names if name.endswith(".py")} == here
    assert {Path(name).parts[0] for name in names} == {"kwire"}
    assert {"kwire/py.typed", "kwire/messages/__init__.pyi", *DASHBOARDS} <= {*names}
    script = wheel.getinfo("kwire/pipeline/java_home/bin/java")
    assert script.external_attr >> 16 & 0o111, "pip would install it without the right to run it"


def test_an_installed_kwire_leaves_a_users_modules_alone(project: Path, installed: Path) -> None:
    done = run(project, "-c", USES, PYTHONPATH=str(installed))
    assert done.stderr == ""
    assert done.stdout.split() == [str(installed / "kwire" / "__init__.py"), "VoteRequest"]


def test_an_editable_kwire_leaves_a_users_modules_alone(project: Path) -> None:
    done = run(project, "-c", USES)
    assert done.stderr == ""
    assert done.stdout.split() == [str(ROOT / "kwire" / "__init__.py"), "VoteRequest"]


def test_the_command_starts_beside_a_users_modules(project: Path) -> None:
    command = "from kwire.cli.main import main; main(['decode', '--help'])"
    done = run(project, "-c", command)
    assert done.returncode == 0, done.stderr
    assert "Usage: kwire decode" in done.stdout


@pytest.mark.costly
@pytest.mark.parametrize("form", ["installed", "editable"])
def test_a_type_checker_sees_the_types(project: Path, installed: Path, form: str) -> None:
    (project / "typed.py").write_text(TYPED)
    options = ["--strict", "--no-incremental", "--cache-dir", os.devnull, "typed.py"]
    python = installed.parents[2] / "bin" / "python" if form == "installed" else sys.executable
    done = run(project, "-m", "mypy", f"--python-executable={python}", *options)
    assert done.stdout.splitlines()[0].startswith("typed.py:17: error: Incompatible types")
    assert done.stdout.splitlines()[-1].startswith("Found 1 error in 1 file")


@pytest.mark.costly
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_lines_of_the_readme_pass_a_type_checker(
    project: Path, installed: Path, checker: str
) -> None:
    """As a user has them, beside an installed kwire: tests in a module, the rest in coroutines."""
    blocks = code_blocks((ROOT / "README.md").read_text(), "python")
    text = "\n".join(
        block
        if "def test_" in block
        else f"async def block_{number}() -> None:\n{indent(block, '    ')}"
        for number, block in enumerate(blocks)
    )
    assert "kwire.admin" in text
    (project / "lines.py").write_text(text)
    (project / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    python = installed.parents[2] / "bin" / "python"
    if checker == "mypy":
        options = ["--strict", "--no-incremental", "--cache-dir", os.devnull]
        done = run(project, "-m", "mypy", f"--python-executable={python}", *options, "lines.py")
        assert done.stdout == "Success: no issues found in 1 source file\n"
    else:
        # basedpyright is pyright, packed with what runs it.
        done = run(project, "-m", "basedpyright", "--pythonpath", str(python), "lines.py")
        assert done.stdout.strip() == "0 errors, 0 warnings, 0 notes"


def test_the_plugin_works_beside_a_users_modules(project: Path) -> None:
    (project / "conftest.py").write_text(PLUGIN)
    (project / "test_mine.py").write_text(PLUGIN_TEST)
    done = run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
