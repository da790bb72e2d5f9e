"""Patterns match what Python's fnmatch does, but in a time that grows only as the text does."""

from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from kwire.proxy.flows.glob import Glob


@given(st.text("ab*?\n", max_size=8), st.text("ab\n", max_size=8))
def test_a_pattern_matches_what_fnmatch_does(pattern: str, text: str) -> None:
    assert Glob(pattern)(text) is fnmatchcase(text, pattern)


def test_brackets_stand_for_themselves() -> None:
    assert Glob("[ab]*")("[ab]c")
    assert not Glob("[ab]*")("ac")


def test_only_what_stands_with_a_question_mark_between_stars_costs() -> None:
    assert Glob("a?b*c?d*e?f").cost == 3
    assert Glob("*" + "a" * 3000 + "*" + "b" * 900).cost == 0
