"""Globs as GlobComponentTest has them, and paths."""

import pytest

from kwire.errors import InvalidValue
from kwire.shell.paths import components, glob_pattern, path_of


@pytest.mark.parametrize("name", ["abc", "", "foobar_123", "$blah+", "a,b", "a}b", "a\\", "\\*"])
def test_a_plain_name_is_no_glob(name: str) -> None:
    assert glob_pattern(name) is None


@pytest.mark.parametrize(
    ("glob", "matching", "others"),
    [
        ("*", ["", "anything"], []),
        ("$blah*", ["$blah", "$blah1"], ["blah", "x$blah"]),
        ("b?b", ["bob", "bib"], ["", "bic", "bb"]),
        ("foo{bar,baz}", ["foobar", "foobaz"], ["foobah", "foo", "baz"]),
        ("{a*,b.}c", ["ac", "axc", "b.c"], ["bxc", "c"]),
        ("\\*{a}", ["*a"], ["xa"]),
    ],
)
def test_a_glob_matches_whole_names(glob: str, matching: list[str], others: list[str]) -> None:
    pattern = glob_pattern(glob)
    assert pattern is not None
    assert [name for name in matching + others if pattern.fullmatch(name)] == matching


@pytest.mark.parametrize(("glob", "reason"), [("{a{b}}", "within"), ("a{b", "not end")])
def test_wrong_braces_are_an_error(glob: str, reason: str) -> None:
    with pytest.raises(InvalidValue, match=reason):
        glob_pattern(glob)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "/"),
        (".", "/a/b"),
        ("..", "/a"),
        ("../../../..", "/"),
        ("c/./d//e/", "/a/b/c/d/e"),
        ("/x/../y", "/y"),
    ],
)
def test_dots_are_resolved(path: str, expected: str) -> None:
    assert path_of(components(path, "/a/b")) == expected
