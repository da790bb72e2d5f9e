"""The facts as a document: its schema describes it, and the page made of them is today's."""

import json
from collections import Counter

import pytest

from kwire.codec.versions import Versions
from kwire.error_codes import ErrorCode, is_retriable
from kwire.messages.registry import all_messages
from kwire.protocol import document, facts
from kwire.protocol.document import document_text
from kwire.protocol.release_facts import messages_of
from protocol_facts.__main__ import documents
from tests.support.paths import ROOT


def test_a_document_is_todays(subtests: pytest.Subtests) -> None:
    for path, text in documents().items():
        with subtests.test(path):
            assert (ROOT / path).read_text() == text, "run `python -m protocol_facts --pages`"


def test_the_schema_describes_the_document() -> None:
    import jsonschema

    schema = json.loads((ROOT / "docs/reference/protocol.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    content = json.loads(document_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(content)
    content["messages"][0]["versoins"] = "0-1"
    assert not validator.is_valid(content)


def test_a_release_has_each_name_once() -> None:
    known = facts()
    for release in known.releases:
        keys = [
            *((fact.name,) for fact in known.messages if release in fact.releases),
            *((fact.code,) for fact in known.errors if release in fact.releases),
            *((fact.feature, fact.level) for fact in known.features if release in fact.releases),
            *((fact.owner, fact.name) for fact in known.configs if release in fact.releases),
        ]
        assert [key for key, count in Counter(keys).items() if count > 1] == []


def test_the_declarations_join_the_layouts_of_the_releases() -> None:
    for cls in all_messages():
        layouts = [fact for fact in facts().messages if fact.name == cls.__name__]
        newer = [fact for fact in layouts if fact.releases != ("3.6.2",)]
        versions = {version for fact in newer for version in Versions(fact.versions)}
        assert set(cls.versions) == versions, cls.__name__


def test_the_codes_of_the_newest_release_are_those_of_the_package() -> None:
    newest = facts().releases[-1]
    errors = {e.code: (e.name, e.retriable) for e in facts().errors if newest in e.releases}
    assert errors == {code.value: (code.name, is_retriable(code)) for code in ErrorCode}


def test_every_message_is_described_in_kwires_words() -> None:
    assert [fact.name for fact in document().messages if not fact.description] == []
    assert messages_of("4.4.0")["VoteRequest"].description is None
