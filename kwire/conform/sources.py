"""The addresses of the places that sentences come from, and the releases that have them first.

sources.tsv has a line for each KIP, section of the protocol guide, RFC and class of Apache Kafka:
name, release, address. A schema's are derived from Kafka's messages. Classes have no release there:
`recorded` knows in which releases a check of them was passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from kwire.conform.vocabulary import SentenceClass, SentenceSource
from kwire.protocol.model import FieldFact, MessageFact
from kwire.protocol.release_facts import facts

FILE = "sources.tsv"
VERSION = "version "
"""The beginning of a section of a schema that is no field."""
_KAFKA = "https://github.com/apache/kafka/blob"
_FOLDERS = {"metadata": "metadata/src/main/resources/common/metadata"}
"""Folders of schemas by the kind of message; all others are among the clients'."""
_CLIENTS = "clients/src/main/resources/common/message"


def address_of(source: SentenceSource) -> str:
    """Return the address of a source: a page of a KIP, a schema or a class at a release's tag."""
    message = _message(source)
    if message is None:
        return _place(source)[1]
    folder = _FOLDERS.get(message[-1].kind, _CLIENTS)
    return f"{_KAFKA}/{message[-1].releases[-1]}/{folder}/{message[-1].name}.json"


def since_of(source: SentenceSource) -> str:
    """Return the release that has a sentence first; empty for a habit of Apache Kafka."""
    message = _message(source)
    if message is None:
        return _place(source)[0]
    return first_of(
        release
        for fact in message
        if not source.section or _has_section(fact, source.section)
        for release in fact.releases
    )


def first_of(releases: Iterable[str]) -> str:
    """Return the first of releases, `3.9.1`; `3.6.2 or before` for the oldest that is known."""
    known = facts().releases
    first = min(map(known.index, releases), default=0)
    return known[first] if first else f"{known[0]} or before"


@cache
def _places() -> dict[str, tuple[str, str]]:
    text = files("kwire.conform").joinpath(FILE).read_text(encoding="utf-8")
    lines = (line.split("\t") for line in text.splitlines())
    return {name: (since, address) for name, since, address in lines}


def _place(source: SentenceSource) -> tuple[str, str]:
    """Return release and address; both are empty for a source without a line."""
    java_class = re.split(r"[.,]", source.section)[0]
    names = [java_class] if source.is_habit else [source.title, source.section]
    return next((_places()[name] for name in names if name in _places()), ("", ""))


def _message(source: SentenceSource) -> list[MessageFact] | None:
    """Return the message whose schema is the source, as releases have it; None for no schema."""
    if source.sentence_class is not SentenceClass.SCHEMA:
        return None
    name = source.title.removeprefix("schema of ").partition(",")[0]
    return [fact for fact in facts().messages if fact.name == name] or None


def _has_section(message: MessageFact, section: str) -> bool:
    """Return True if a message, as releases have it, has a field or a version."""
    if section.startswith(VERSION):
        return int(section.removeprefix(VERSION)) in message.version_set
    return any(_has_field(field, section) for field in message.fields)


def _has_field(field: FieldFact, name: str) -> bool:
    """Return True if a field, or one of its struct, has the name, in Kafka's or kwire's writing."""
    is_it = field.name.lower() == name.replace("_", "").lower()
    return is_it or any(_has_field(inner, name) for inner in field.fields)
