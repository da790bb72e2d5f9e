"""The man pages: every command has one, with what its --help says, and troff takes it as it is."""

import subprocess
from shutil import which

import pytest

from command_tree import tree
from kwire.cli.quorum.describe import describe_quorum_status
from man_pages import pages
from real_kafka.choice import required
from tests.support.cli.command import Command

PAGES = dict(pages())


def test_every_command_and_group_has_a_page() -> None:
    titles = {"-".join(("kwire", *path.split())) for path in ("", *tree())}
    assert {f"{title}.1" for title in titles} == set(PAGES)


@pytest.fixture
def groff() -> None:
    """CI installs groff; elsewhere a test without it is skipped."""
    if which("groff") is None:
        reason = "there is no groff: apt-get install groff"
        (pytest.fail if required() else pytest.skip)(reason)


def printed(text: str, *options: str) -> str:
    """Return a page as `man` shows it on a wide screen; fail for a warning."""
    done = subprocess.run(
        ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-P-cbou", "-rLL=400n", *options],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.replace("\u2010", "-")  # a hyphen of its own


@pytest.mark.real
@pytest.mark.usefixtures("groff")
@pytest.mark.parametrize("path", ["", "quorum", "quorum add-controller", "proxy", "decode"])
def test_a_page_says_what_help_says(
    path: str, kwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "10000")
    page = " ".join(printed(PAGES[f"{'-'.join(('kwire', *path.split()))}.1"]).split())
    for line in kwire(*path.split(), "--help").out.splitlines():
        for part in line.removeprefix("Usage:").strip().split("  "):
            if part and not part.endswith(":") and "Exit codes" not in part:
                assert " ".join(part.split()) in page


@pytest.mark.real
@pytest.mark.usefixtures("groff")
def test_troff_warns_of_nothing(subtests: pytest.Subtests) -> None:
    for name, text in PAGES.items():
        with subtests.test(name):
            assert printed(text, "-z") == ""


@pytest.mark.real
@pytest.mark.usefixtures("groff")
def test_a_line_that_begins_like_a_request_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        describe_quorum_status, "__doc__", "A.\n\n.SH is\n'no request, nor is \\fB a font."
    )
    page = dict(pages())["kwire-quorum-status.1"]
    assert ".SH is 'no request, nor is \\fB a font." in " ".join(printed(page).split())
