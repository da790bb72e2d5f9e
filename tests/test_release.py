"""A release besides its wheels: the changelog, the README elsewhere, the workflow."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwire import __version__
from tests.support.paths import ROOT
from tests.support.readme import relative_links

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"


def run(*command: str | Path) -> str:
    """Run a tool of this environment in the checkout; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def elsewhere(text: str) -> str:
    """Return a README as a package index gets it."""
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    for substitution in hook["substitutions"]:
        text = re.sub(substitution["pattern"], substitution["replacement"], text)
    return text


def test_the_changelog_begins_with_this_version_and_its_date() -> None:
    headings = re.findall(r"(?m)^## (.+)$", (ROOT / "CHANGELOG.md").read_text())
    released = [heading for heading in headings if heading != "Unreleased"]
    assert re.fullmatch(re.escape(__version__) + r", \d{4}-\d\d-\d\d", released[0])
    assert len(headings) - len(released) <= 1


def test_no_link_of_the_readme_needs_the_repository() -> None:
    assert relative_links(elsewhere((ROOT / "README.md").read_text())) == []


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("[a](docs/b.md#c)", "[a](https://github.com/kwire/kwire/blob/v1/docs/b.md#c)"),
        ("![a](b.png)", "![a](https://raw.githubusercontent.com/kwire/kwire/v1/b.png)"),
        (
            "[![a](b.png)](c.md)",
            "[![a](https://raw.githubusercontent.com/kwire/kwire/v1/b.png)]"
            "(https://github.com/kwire/kwire/blob/v1/c.md)",
        ),
        (
            '<img width="9" src="b.svg">',
            '<img width="9" src="https://raw.githubusercontent.com/kwire/kwire/v1/b.svg">',
        ),
        (
            '<source media="(prefers-color-scheme: dark)" srcset="b.svg">',
            '<source media="(prefers-color-scheme: dark)"'
            ' srcset="https://raw.githubusercontent.com/kwire/kwire/v1/b.svg">',
        ),
        ("\n[a]: docs/b.md", "\n[a]: https://github.com/kwire/kwire/blob/v1/docs/b.md"),
        ("[a](https://kafka.apache.org)", "[a](https://kafka.apache.org)"),
    ],
)
def test_links_lead_to_the_files_of_the_version(link: str, target: str) -> None:
    assert elsewhere(link).replace("$HFPR_VERSION", "1") == target


@pytest.mark.costly
def test_wheels_are_built_for_every_system() -> None:
    wanted = {
        "linux": ("x86_64", "aarch64"),
        "macos": ("x86_64", "arm64"),
        "windows": ("AMD64",),
    }
    built = {
        line
        for system, machines in wanted.items()
        for line in run(
            *("cibuildwheel", "--platform", system, "--archs", ",".join(machines)),
            "--print-build-identifiers",
        ).split()
    }
    assert built == {
        "cp311-manylinux_x86_64",
        "cp311-manylinux_aarch64",
        "cp311-musllinux_x86_64",
        "cp311-musllinux_aarch64",
        "cp311-macosx_x86_64",
        "cp311-macosx_arm64",
        "cp311-win_amd64",
    }


@pytest.mark.costly
def test_the_workflow_is_one() -> None:
    run("check_jsonschema", "--builtin-schema", "vendor.github-workflows", WORKFLOW)


def test_the_workflow_gives_no_more_rights_than_it_needs() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("zizmor"), "--offline", "--persona", "pedantic", WORKFLOW],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_pinned_actions_run_and_only_the_last_job_may_sign() -> None:
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    used = re.findall(r"uses: (.+)", WORKFLOW.read_text())
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action) for action in used)
    signing = [name for name, job in jobs.items() if "id-token" in job["permissions"]]
    assert signing == ["publish"]
    assert {*jobs["publish"]["needs"]} == jobs.keys() - {"publish"}


@pytest.mark.nightly
def test_actionlint_finds_nothing() -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("actionlint is built by Go, which is not here")
    command = [go, "run", ACTIONLINT, "-shellcheck=", "-pyflakes=", str(WORKFLOW)]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
