"""The numbered steps of a docstring stand as `# 3.` at the code that does them."""

import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

from tests.support.source_files import source_files

pytestmark = pytest.mark.xdist_group("house")  # one process parses the files

ROOMS = [
    "kwire/configs",
    *(
        f"kwire/controller/{room}"
        for room in ("raft", "handlers", "state_machine", "replicas", "quotas")
    ),
]


def steps(docstring: str) -> set[int]:
    """The numbers of the steps that are not done in another file, which the step then names."""
    found = re.findall(r"^(\d+)\. +((?:.|\n(?!\n|\d+\. ))*)", docstring, re.MULTILINE)
    return {int(number) for number, text in found if not re.search(r"`[a-z_]+\.[a-z_]+", text)}


@cache
def marks(path: Path) -> set[int]:
    """The numbers in comments such as `# 3.`, `# 2., 3.` and `# 3.–6.`."""
    numbers: set[int] = set()
    with tokenize.open(path) as source:
        for token in tokenize.generate_tokens(source.readline):
            if token.type == tokenize.COMMENT:
                for first, last in re.findall(r"\b(\d+)\.(?:–(\d+)\.)?", token.string):
                    numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def test_every_step_is_marked_where_it_is_done() -> None:
    numbered = [
        (file, definition, steps(definition.docstring))
        for file in source_files(*ROOMS)
        for definition in file.definitions
        if definition.docstring
    ]
    assert any(numbers for _, _, numbers in numbered)
    assert not [
        f"{file.at(definition)}: {sorted(numbers - marks(file.path))}"
        for file, definition, numbers in numbered
        if numbers and numbers - marks(file.path)
    ]
