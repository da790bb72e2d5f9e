"""Texts that stand for more than they are long are refused before anything is built of them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from kwire.text.untrusted import cut_repr
from kwire.text.yaml_data import COMMAND_BOUNDS, FILE_BOUNDS, BadYaml, Bounds, read_yaml_data
from tests.support.bombs import YAML_BOMBS


@pytest.mark.parametrize("text", YAML_BOMBS.values(), ids=list(YAML_BOMBS))
@pytest.mark.parametrize(
    "bounds",
    [
        pytest.param(COMMAND_BOUNDS, id="command"),
        pytest.param(FILE_BOUNDS, id="file", marks=pytest.mark.costly),
    ],
)
def test_a_bomb_is_refused_in_a_line_and_takes_no_memory(text: str, bounds: Bounds) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(BadYaml, match=r"line \d+: |too many|no YAML") as error:
            read_yaml_data(text, bounds)
        assert tracemalloc.get_traced_memory()[1] < 100_000 + 250 * bounds.values
    finally:
        tracemalloc.stop()
    assert len(str(error.value)) < 300
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: &x 1", "line 1: anchors are not taken, write the value out"),
        ("a: 1\nb: *x", "line 2: anchors are not taken, write the value out"),
        ("a: !!str 1", "line 1: 'tag:yaml.org,2002:str' is a tag, and tags are not taken"),
        ("a: !!python/object:os.system {}", "is a tag, and tags are not taken"),
        ("a: 1\na: 2", "line 2: 'a' is there twice, keep one of them"),
        ("[a]: 1", "line 1: a key is a text, not a list or a mapping"),
        ("a: 1\n---\nb: 2", "one file is one document, a second one begins here"),
        ("a: [\n", "this is no YAML: did not find expected node content, line 2, column 1"),
        ("\0", "this is no YAML: "),
        ("\ud800", "this is no YAML: "),
    ],
)
def test_what_is_not_taken_is_told_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(BadYaml) as error:
        read_yaml_data(text)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("'~'", "~"),
        ("yes", True),
        ("12", 12),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("1:30", 90),
        ("0b_", "0b_"),
        ("2001-99-99", "2001-99-99"),
        ("9" * 65, "9" * 65),
        ("1" + ":1" * 400 + ".5", "1" + ":1" * 400 + ".5"),
        ("{on: 1, 3: [a, b]}", {"on": 1, "3": ["a", "b"]}),
        ("{<<: {a: 1}, b: =}", {"<<": {"a": 1}, "b": "="}),
    ],
)
def test_scalars_are_what_yaml_1_1_means_and_keys_are_text(text: str, value: Any) -> None:
    assert read_yaml_data(text)[0] == value


def test_of_a_long_value_the_beginning_is_quoted() -> None:
    assert cut_repr("x" * 80) == repr("x" * 80)
    assert cut_repr("x" * 81) == f"{'x' * 80!r}…"
    long: list[object] = [b"x" * 10**6, ["x" * 10**6] * 10**6, {"x" * 10**6: [[[[[1]]]]]}]
    for value in (*long, 10**6000, [10**6000]):
        assert len(cut_repr(value)) < 100
