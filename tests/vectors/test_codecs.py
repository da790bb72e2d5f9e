"""Other codecs read the exported vectors: what they find stands on the page, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pytest

from clients import programs
from kwire.vectors import export_vectors
from tests.support.paths import DOCS, ROOT

PAGE = (DOCS / "engineers" / "vectors.md").read_text()
EXAMPLE = DOCS / "examples" / "codec_vectors.py"
RIGHT = ("right", "not known")

pytestmark = [pytest.mark.costly, pytest.mark.xdist_group("codec vectors")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All vectors."""
    made = tmp_path_factory.mktemp("vectors") / "all"
    export_vectors(made)
    return made


def found_by(*command: str) -> Counter[str]:
    """Return how often each thing was found, of all kinds of lines."""
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=250)
    found: Counter[str] = Counter()
    for times, said in re.findall(r"^ *(\d+) [\w-]+: (.+)$", done.stdout, re.M):
        found[said] += int(times)
    return found


def of_the_page() -> dict[str, dict[str, int]]:
    """Return codec with release: what it does, and how often, as the page has it."""
    tables: dict[str, dict[str, int]] = {}
    name = ""
    for codec, said, lines in re.findall(r"^\| ([\w. -]*)\| ([^|]+) \| (\d+) \|", PAGE, re.M):
        name = codec.strip() or name
        tables.setdefault(name, {})[said] = int(lines)
    return tables


@pytest.mark.parametrize("codec", ["kio", "kafka-python"])
def test_a_codec_in_python_differs_only_as_the_page_says(codec: str, folder: Path) -> None:
    found = found_by(sys.executable, str(EXAMPLE), str(folder), codec)
    assert found["right"] > found["not known"] / 2
    wrong = {said: times for said, times in found.items() if said not in RIGHT}
    assert wrong == of_the_page()[f"{codec} {version(codec)}"]


@pytest.mark.real
def test_kmsg_differs_only_as_the_page_says(folder: Path) -> None:
    found = found_by(*programs.kmsg_command(), str(folder))
    assert found["right"] > 10_000
    modules = (ROOT / "fixtures/clients/go/go.mod").read_text()
    release = re.findall(r"/kmsg v([\d.]+)$", modules, re.M)
    wrong = {said: times for said, times in found.items() if said not in RIGHT}
    assert wrong == of_the_page()[f"kmsg {release[0]}"]
