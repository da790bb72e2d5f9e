"""docs/decisions: the index is today's, and what is superseded says by what."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from drawings import decisions
from drawings.__main__ import with_decisions


def test_the_index_has_every_decision() -> None:
    page = decisions.INDEX.read_text()
    assert with_decisions(page) == page, "run `python -m drawings`"


def test_a_decision_has_the_number_of_its_file_and_no_other_has_it() -> None:
    numbers = []
    for path in decisions.records():
        title = decisions.TITLE.match(path.read_text())
        assert title, path.name
        assert int(title[1]) == int(path.name[:4])
        numbers.append(int(title[1]))
    assert [number for number, times in Counter(numbers).items() if times > 1] == []


def test_a_decision_that_replaces_another_is_named_there() -> None:
    """`Replaces 1, and of 7 …` in 37 wants a line in 1 and in 7."""
    texts = {int(path.name[:4]): path.read_text() for path in decisions.records()}
    for number, text in texts.items():
        for line in re.findall(r"^Replaces .*", text, re.M):
            for replaced in map(int, re.findall(r"\d+", line)):
                marks = re.findall(rf"^Superseded .*\[{number}\]\(", texts[replaced], re.M)
                assert len(marks) == 1, f"{replaced} does not say that {number} supersedes it"


def test_a_decision_is_superseded_by_a_later_one() -> None:
    for path in decisions.records():
        for later in re.findall(r"^Superseded .*?\((\d{4})-", path.read_text(), re.M):
            assert later > path.name[:4], path.name


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [((1, 2, 3), "none"), ((1, 3, 4, 8, 11), "2, 5 to 7, 9, 10"), ((2, 4), "1, 3")],
)
def test_gaps_are_written_as_runs(numbers: tuple[int, ...], missing: str) -> None:
    assert decisions.gaps(Path(f"{number:04}-some.md") for number in numbers) == missing
