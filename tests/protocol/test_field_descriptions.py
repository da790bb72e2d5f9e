"""Each field of each message is described once, by a sentence that says more than its name."""

import re
from collections.abc import Iterator

import pytest

import real_kafka
from kwire.protocol import FieldFact, MessageFact, document, facts
from kwire.protocol.field_descriptions import FILE, key_of, sentences
from tests.support.paths import ROOT
from tests.support.protocol.schema_texts import borrowed, schema_texts, words

LONGEST = 120

SMALL = {"a", "an", "and", "are", "by", "for", "in", "is", "it", "of", "on", "or", "the", "this"}
"""Words that say nothing of their own."""


def fields_of(fact: MessageFact) -> Iterator[tuple[str, FieldFact]]:
    """Yield the fields of a message, each with the name of its struct."""

    def inside(struct: str, fields: tuple[FieldFact, ...]) -> Iterator[tuple[str, FieldFact]]:
        for field in fields:
            yield struct, field
            yield from inside(field.type.removeprefix("[]"), field.fields)

    yield from inside(fact.name, fact.fields)


def test_every_field_has_a_sentence_and_every_sentence_a_field() -> None:
    used: set[str] = set()
    for fact in facts().messages:
        for struct, field in fields_of(fact):
            key = key_of(fact, struct, field.name)
            assert key is not None, f"{fact.name}: {struct}.{field.name} is not described"
            used.add(key)
    assert sentences().keys() - used == set()


def test_the_document_describes_every_field() -> None:
    described = [field for fact in document().messages for _, field in fields_of(fact)]
    assert len(described) > 4000
    assert [field.name for field in described if not field.description] == []
    votes = [fact for fact in document().messages if fact.name == "VoteRequest"]
    texts = {field.name: field.description for _, field in fields_of(votes[-1])}
    assert texts["ReplicaId"] == "Node that asks for the vote."


@pytest.mark.parametrize(
    ("message", "struct", "field", "key"),
    [
        ("FetchRequest", "FetchPartition", "HighWatermark", "FetchRequest.FetchPartition"),
        ("CreateTopicsRequest", "CreatableTopic", "Name", "CreatableTopic"),
        ("FetchResponse", "FetchResponse", "ErrorCode", "Response"),
        ("OffsetCommitRequest", "OffsetCommitRequestTopic", "Partitions", "Request[]"),
        ("OffsetCommitRequest", "OffsetCommitRequestTopic", "Name", ""),
        ("OffsetCommitValue", "OffsetCommitValue", "offset", "OffsetCommitValue"),
    ],
)
def test_the_nearest_owner_decides(message: str, struct: str, field: str, key: str) -> None:
    fact = next(fact for fact in facts().messages if fact.name == message)
    name = field[0].upper() + field[1:]
    assert key_of(fact, struct, field) == (f"{key}.{name}" if key else name)


def test_a_sentence_is_short_whole_and_says_more_than_the_name() -> None:
    for key, sentence in sentences().items():
        assert len(sentence) <= LONGEST, f"{key}: {len(sentence)} characters"
        assert re.fullmatch(r"[A-Z0-9].*[^ .]\.", sentence), f"{key}: {sentence}"
        name = key.rpartition(".")[2]
        spelled = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
        assert set(words(sentence)) - set(words(spelled)) - SMALL, f"{key}: {sentence}"


def test_the_file_is_sorted_by_field_and_has_each_key_once() -> None:
    lines = (ROOT / "kwire/protocol" / FILE).read_text().splitlines()
    keys = [line.split("\t")[0] for line in lines]
    assert len(keys) == len(set(keys))
    names = [key.rpartition(".")[2].lower() for key in keys]
    assert names == sorted(names)


@pytest.mark.java
def test_no_sentence_takes_six_words_in_a_row_from_kafka() -> None:
    """The schemas in Kafka's jars have a text for most fields, under `about`."""
    schemas = [text for version in real_kafka.VERSIONS for text in schema_texts(version)]
    assert len(schemas) > 700
    assert borrowed(sentences().values(), schemas, 6) == {}
