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
        ("owner: a\nowner: b\n", "line 2: 'owner' is there twice"),
        ("books:\n  one: 1\n  two: {x: 1, x: 2}\n", "line 3: 'x' is there twice"),
        ("books: {'one': 1, one: 2}", "line 1: 'one' is there twice"),
        ("books: {'1': a, 1: b}", "line 1: '1' is there twice"),
    ],
)
def test_a_key_stands_once(text: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read_yaml(Shelf, text, BadFile)


def test_keys_of_several_mappings_may_be_the_same() -> None:
    shelf = read_yaml(Shelf, "books: {one: {x: 1}, two: {x: 2}, on: 3}", BadFile)
    assert shelf.books == {"one": {"x": 1}, "two": {"x": 2}, "on": 3}


def test_of_many_mistakes_some_are_told_and_none_is_quoted_whole() -> None:
    keys = "".join(f"{'k' * 1000}{number}: 1\n" for number in range(90))
    with pytest.raises(BadFile) as error:
        read_yaml(Shelf, keys, BadFile)
    assert str(error.value).splitlines()[-1] == "70 more mistakes"
    assert len(str(error.value)) < 3000
