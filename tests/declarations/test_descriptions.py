"""Every message of the releases has its own sentence (fixtures/declarations/descriptions.toml)."""

import json
import re
import tomllib
from typing import Any

import pytest

import real_kafka
from tests.support.paths import FIXTURES
from tests.support.protocol.schema_texts import borrowed, schema_texts

DESCRIPTIONS = FIXTURES / "declarations" / "descriptions.toml"
TABLES = {
    "request": "requests",
    "response": "responses",
    "header": "headers",
    "metadata": "records",
}
"""The table of each type that a schema can have; the others share [data]."""

SENTENCE = re.compile(r"[A-Z][^()]*?( \(KIP-\d+(, KIP-\d+)*\))?\.")
LONGEST = 88


@pytest.fixture(scope="module")
def tables() -> dict[str, dict[str, str]]:
    return tomllib.loads(DESCRIPTIONS.read_text())


@pytest.fixture(scope="module")
def schemas() -> list[str]:
    """The text of every schema, read without the generator, which might overlook one."""
    return [text for version in real_kafka.VERSIONS for text in schema_texts(version)]


def schema(text: str) -> dict[str, Any]:
    """Comments take whole lines; what follows the object is nobody's."""
    code = re.sub(r"(?m)^\s*//.*$", "", text).strip()
    parsed: dict[str, Any] = json.JSONDecoder().raw_decode(code)[0]
    return parsed


@pytest.mark.java
def test_each_schema_is_described_once_in_the_table_of_its_type_and_nothing_is_left_over(
    tables: dict[str, dict[str, str]], schemas: list[str]
) -> None:
    expected: dict[str, set[str]] = {table: set() for table in [*TABLES.values(), "data"]}
    for each in map(schema, schemas):
        expected[TABLES.get(each["type"], "data")].add(each["name"])
    assert {table: set(sentences) for table, sentences in tables.items()} == expected


@pytest.mark.java
def test_no_sentence_takes_five_words_in_a_row_from_kafka(
    tables: dict[str, dict[str, str]], schemas: list[str]
) -> None:
    sentences = (text for table in tables.values() for text in table.values())
    assert borrowed(sentences, schemas, 5) == {}


def test_each_description_is_one_short_sentence_that_may_end_with_its_kip(
    tables: dict[str, dict[str, str]],
) -> None:
    sentences = {name: text for table in tables.values() for name, text in table.items()}
    assert {name for name, text in sentences.items() if not SENTENCE.fullmatch(text)} == set()
    assert {name: len(text) for name, text in sentences.items() if len(text) > LONGEST} == {}


def test_no_two_messages_share_a_sentence(tables: dict[str, dict[str, str]]) -> None:
    sentences = [text for table in tables.values() for text in table.values()]
    assert len(sentences) == len(set(sentences))
