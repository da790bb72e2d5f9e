"""The document of `kwire protocol json`: all facts, and kwire's sentences on what is what for.

The same rows as `releases.json`, one a line. docs/reference/protocol.schema.json describes them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kwire.messages.registry import UnknownMessage, message
from kwire.protocol.field_descriptions import described_fields
from kwire.protocol.model import MessageFact, ProtocolFacts
from kwire.protocol.release_facts import facts

SCHEMA = "protocol.schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def document() -> ProtocolFacts:
    """Return all facts, with a description of every field and of messages that kwire declares."""
    known = facts()
    return msgspec.structs.replace(known, messages=tuple(map(described, known.messages)))


def described(fact: MessageFact) -> MessageFact:
    """Return a message with its description and those of its fields."""
    return msgspec.structs.replace(
        fact, description=_description(fact), fields=described_fields(fact)
    )


def _description(fact: MessageFact) -> str | None:
    try:
        cls = message(fact.name)
    except UnknownMessage:
        return None
    return (cls.__doc__ or "").strip() or None


def facts_text(known: ProtocolFacts, **first: str) -> str:
    """Return facts as JSON with a row a line. first: members before those of the facts."""
    members = [_member(name, value) for name, value in first.items()]
    members.append(_member("releases", known.releases))
    for name in ("messages", "errors", "features", "configs"):
        rows = ",\n".join(_encoded(row) for row in getattr(known, name))
        members.append(f'"{name}": [\n{rows}\n]')
    return "{\n" + ",\n".join(members) + "\n}\n"


def document_text() -> str:
    """Return the text of the document."""
    return facts_text(document(), **{"$schema": SCHEMA})


def schema_text() -> str:
    """Return the JSON Schema of the document."""
    schema = msgspec.json.schema(ProtocolFacts)
    definitions = schema["$defs"]
    definitions["ProtocolFacts"]["properties"]["$schema"] = {"type": "string"}
    for definition in definitions.values():
        definition["additionalProperties"] = False
        definition["description"] = " ".join(definition.get("description", "").split())
    titled = {"$schema": DIALECT, "title": "Kafka's protocol by release", **schema}
    return msgspec.json.format(msgspec.json.encode(titled), indent=2).decode() + "\n"


def _member(name: str, value: Any) -> str:
    return f"{_encoded(name)}: {_encoded(value)}"


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value).decode()
