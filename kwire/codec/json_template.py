"""JSON of messages that people write: what may be left out, what a message looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construct import Construct

from kwire.codec.constructs import KafkaArray, NullableStruct, ObjectStruct
from kwire.codec.declaration import Message
from kwire.codec.json_form import camel, defaults
from kwire.errors import EncodeError


def template(cls: type[Message], version: int) -> dict[str, Any]:
    """Return a message with the defaults of all its members, and one element in every array."""
    return _template(cls.at(version))


def completed(cls: type[Message], value: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Return the JSON of a message with the defaults of what it leaves out.

    Raises EncodeError for a member that the message does not have at this version.
    """
    wrong = _Unknown()
    filled = _completed(cls.at(version), value, "", wrong)
    if wrong.path:
        raise EncodeError(wrong.reason, message=cls.__name__, version=version, path=wrong.path)
    return dict(filled)


class _Unknown:
    """The first member that no field is for."""

    path = ""
    reason = ""


def _template(struct: ObjectStruct) -> dict[str, Any]:
    members = defaults(struct)
    for name, con in _members(struct).items():
        inner = _struct_in(con)
        if inner is not None:
            written = _template(inner)
            members[name] = [written] if isinstance(_plain(con), KafkaArray) else written
    return members


def _completed(con: Construct, value: Any, path: str, wrong: _Unknown) -> Any:
    con = _plain(con)
    if isinstance(con, KafkaArray) and isinstance(value, list):
        pairs = enumerate(value)
        return [_completed(con.subcon, item, f"{path}[{index}]", wrong) for index, item in pairs]
    if not isinstance(con, ObjectStruct) or not isinstance(value, Mapping):
        return value  # `from_json` says what is wrong with it
    members = _members(con)
    for name in value:
        if name not in members and not name.startswith("_") and not wrong.path:
            wrong.path = f"{path}.{name}" if path else name
            wrong.reason = f"there is no such member; there are {', '.join(members) or 'none'}"
    inner = {
        name: _completed(members[name], item, f"{path}.{name}" if path else name, wrong)
        if name in members
        else item
        for name, item in value.items()
    }
    return {**defaults(con), **inner}


def _members(struct: ObjectStruct) -> dict[str, Construct]:
    """Return the construct of each member by its name in JSON."""
    members = {camel(field.name): field.subcon for field in struct.subcons}
    tagged = struct.tags.known.values() if struct.tags else ()
    return members | {camel(tag.name): tag.con for tag in tagged}


def _struct_in(con: Construct) -> ObjectStruct | None:
    inner = _plain(con)
    if isinstance(inner, KafkaArray):
        inner = _plain(inner.subcon)
    return inner if isinstance(inner, ObjectStruct) else None


def _plain(con: Construct) -> Construct:
    return con.subcon if isinstance(con, NullableStruct) else con
