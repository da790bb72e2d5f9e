"""docs/operators/explain.md shows what the command prints of real logs, and every cause.

KWIRE_WRITE=1 writes it anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from kwire.quorum_story.causes import CAUSES
from tests.support.cli.command import Command
from tests.support.paths import ROOT

PAGE = ROOT / "docs/operators/explain.md"
LOGS = Path(__file__).with_name("logs") / "4.3.1"

EXAMPLES = {"changes": "flapping", "ready": "other_cluster"}
"""The state of each example's logs, which are of one controller or more."""

_DETAIL = re.compile(r"\{(\w+)\}")


@pytest.fixture
def kwire(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(LOGS)
    return Command(capsys, monkeypatch)


def section(name: str) -> str:
    match = re.search(rf"<!-- {name}: begin -->\n(.*?)<!-- {name}: end -->", PAGE.read_text(), re.S)
    assert match is not None
    return match[1]


def compare(name: str, text: str) -> None:
    if os.environ.get("KWIRE_WRITE"):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, rest = PAGE.read_text().split(begin)
        PAGE.write_text(f"{before}{begin}{text}{end}{rest.partition(end)[2]}")
    assert section(name) == text


def test_every_cause_is_on_the_page() -> None:
    rows = [
        f"| `{cause.id}` | {_DETAIL.sub(lambda match: match[1].upper(), cause.meaning)} |\n"
        for cause in CAUSES
    ]
    compare("causes", "".join(["| id | meaning |\n", "|---|---|\n", *rows]))


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_what_the_command_prints(name: str, kwire: Command) -> None:
    files = sorted(file.name for file in LOGS.glob(f"{EXAMPLES[name]}.*.log"))
    options = [word for file in files for word in ("--log", file)]
    run = kwire("quorum", "explain", *options)
    shown = " ".join(["$ kwire quorum explain", *options])
    text = run.out if len(files) == 1 else run.out.partition("Causes and remedies")[0]
    compare(name, f"```\n{shown}\n{text.rstrip()}\n```\n")
