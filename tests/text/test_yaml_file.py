"""Files in YAML that people write."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field

from kwire.text.yaml_file import BadFile, Strict, read_yaml


class Shelf(Strict):
    books: dict[Any, Any] = Field(default_factory=dict)
    owner: str = ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("owner: a\nowner: b\n", "line 2: the key owner stands there twice"),
        ("books:\n  one: 1\n  two: {x: 1, x: 2}\n", "line 3: the key x stands there twice"),
        ("books: {'one': 1, one: 2}", "line 1: the key one stands there twice"),
    ],
)
def test_a_key_stands_once(text: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read_yaml(Shelf, text, BadFile)


def test_keys_of_several_mappings_may_be_the_same() -> None:
    shelf = read_yaml(Shelf, "books: {one: {x: 1}, two: {x: 2}, '1': a, 1: b}", BadFile)
    assert shelf.books["two"] == {"x": 2}


def test_a_mapping_may_take_keys_of_another() -> None:
    text = "books:\n  one: &one {x: 1, y: 1}\n  two: {<<: *one, x: 2}\n"
    assert read_yaml(Shelf, text, BadFile).books["two"] == {"x": 2, "y": 1}
