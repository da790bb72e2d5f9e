"""A response that says nothing but an error, as well-formed as the node's own would be.

Where the code stands depends on the API: beside the whole response, or beside each thing that was
asked for, which the response then names as the request did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.fields import ArrayOf, FieldType, Nullable, StructClass, StructOf
from kwire.messages.registry import response

_TWINS = {
    "topics": "responses",
    "topic_names": "responses",
    "topic_data": "responses",
    "partition_data": "partition_responses",
    "v3_and_below_topics": "results_by_topic_v3_and_below",
}
"""Arrays that the response calls otherwise, where it has more than one."""


_SAME = ({"partition", "partition_index", "index"}, {"topic", "topic_name", "name"})
"""Names of one thing."""


def error_response(request: Request, version: int, code: int) -> Response | None:
    """The answer to this request with the code; None where its response has no room for one."""
    kind = response(cast(int, type(request).key))
    made: Response = kind()
    _fill(made, request, version, code)
    return made if _placed(made) else None


def set_errors(message: Group, version: int, code: int) -> bool:
    """Put the code wherever a response has an error code; whether there was a place."""
    found = False
    for name, value in _present(message, version):
        if name.endswith("error_code"):
            setattr(message, name, code)
            found = True
        for element in _structs(value):
            found = set_errors(element, version, code) or found
    return found


def _fill(made: Group, asked: Group, version: int, code: int) -> None:
    for name, field in type(made).fields.items():
        if version not in field.versions:
            continue
        element = _element(field.type)
        if name.endswith("error_code"):
            setattr(made, name, code)
        elif element is not None:
            source = _source(type(made), asked, name)
            setattr(made, name, [_twin(element, one, version, code) for one in source])
        elif (theirs := _same(made, asked, name, version)) is not None:
            setattr(made, name, getattr(asked, theirs))


def _twin(kind: StructClass, asked: Any, version: int, code: int) -> Group:
    """An element of the response for one of the request, which is a struct or a plain value."""
    made: Group = kind()
    if isinstance(asked, Group):
        _fill(made, asked, version, code)
        return made
    for name, field in kind.fields.items():
        if name.endswith("error_code") or version not in field.versions:
            continue
        if type(getattr(made, name)) is type(asked):
            setattr(made, name, asked)
            break
    set_errors(made, version, code)
    return made


def _source(kind: StructClass, asked: Group, name: str) -> list[Any]:
    """The things asked for that an array answers: of its name, or the only array on either side."""
    arrays = {one: getattr(asked, one) for one in type(asked).fields}
    arrays = {one: value for one, value in arrays.items() if isinstance(value, list | tuple)}
    for candidate in arrays:
        if arrays[candidate] and name in (candidate, _TWINS.get(candidate)):
            return list(arrays[candidate])
    answering = [one for one, field in kind.fields.items() if _answers(_element(field.type))]
    filled = [value for value in arrays.values() if value]
    return list(filled[0]) if answering == [name] and len(filled) == 1 else []


def _answers(element: StructClass | None) -> bool:
    """Whether there is an error code in a struct, at whatever depth."""
    if element is None:
        return False
    return any(
        name.endswith("error_code") or _answers(_element(field.type))
        for name, field in element.fields.items()
    )


def _same(made: Group, asked: Group, name: str, version: int) -> str | None:
    """The field of the request that says the same as this one of the response."""
    mine, theirs = type(made).fields[name], type(asked).fields
    names = [name, *(one for same in _SAME if name in same for one in sorted(same))]
    for one in names:
        field = theirs.get(one)
        if field is None or version not in field.versions or one == "throttle_time_ms":
            continue
        if type(mine.type) is type(field.type) and not isinstance(mine.type, ArrayOf):
            return one
    return None


def _element(node: FieldType) -> StructClass | None:
    inner = node.inner if isinstance(node, Nullable) else node
    if isinstance(inner, ArrayOf) and isinstance(inner.element, StructOf):
        return inner.element.cls
    return None


def _present(message: Group, version: int) -> Iterator[tuple[str, Any]]:
    for name, field in type(message).fields.items():
        if version in field.versions:
            yield name, getattr(message, name)


def _structs(value: Any) -> list[Group]:
    if isinstance(value, Group):
        return [value]
    return [one for one in value if isinstance(one, Group)] if isinstance(value, list) else []


def _placed(message: Group) -> bool:
    for name in type(message).fields:
        value = getattr(message, name)
        if name.endswith("error_code") and value:
            return True
        if any(_placed(one) for one in _structs(value)):
            return True
    return False
