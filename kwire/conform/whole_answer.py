"""Compares a whole answer with what is expected of it, field by field, in one version.

A check that looks at one field lets every other one be wrong; this one names the first that is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.fields import ArrayOf, FieldType, Nullable, StructOf
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import as_sent
from kwire.conform.vocabulary import Deviation

MessageType = TypeVar("MessageType", bound=Group)

FREE = frozenset({"throttle_time_ms", "error_message"})
"""Fields of which any value is legal: a server may throttle, and texts are for people."""


BOTH = (0, 1)
"""The partitions of a topic that has two."""


def both(**fields: Any) -> list[dict[str, Any]]:
    """Return the parts for two partitions, which have the same fields beside their index."""
    return [{"partition_index": index, **fields} for index in BOTH]


@dataclass(frozen=True, slots=True)
class _Fitting:
    """Stands in an expected answer for every value that holds."""

    text: str
    holds: Callable[[Any], object]

    def __repr__(self) -> str:
        return self.text


def fitting(text: str, holds: Callable[[Any], object]) -> Any:
    """Return a value for an expected answer that stands for several. text: `an epoch above 0`."""
    return _Fitting(text, holds)


ANYTHING = fitting("anything", lambda value: True)
FILLED = fitting("a text", bool)
POSITIVE = fitting("above 0", lambda value: value > 0)
NOT_NEGATIVE = fitting("0 or above", lambda value: value >= 0)
A_TOPICS_OPERATIONS = fitting(
    "operations of topics, Describe among them", lambda value: value & 0x100 and not value & ~0xDF8
)
A_GROUPS_OPERATIONS = fitting(
    "operations of groups, Describe among them", lambda value: value & 0x100 and not value & ~0xD48
)
THE_CLUSTERS_OPERATIONS = fitting(
    "operations of clusters, Describe among them",
    lambda value: value & 0x100 and not value & ~0x1FA0,
)
AN_ID = fitting("an id", lambda value: value.int)


def one_of(*values: Any) -> Any:
    """Return a value for an expected answer that stands for any of these."""
    return fitting(" or ".join(map(repr, values)), lambda value: value in values)


@dataclass(frozen=True, slots=True)
class _Including:
    """Stands in an expected answer for a list with these elements and others, none twice."""

    items: tuple[Any, ...]


def including(*items: Any) -> Any:
    """Return a list for an expected answer that has these, and others; none of them twice."""
    return _Including(items)


def filled(cls: type[MessageType], **values: Any) -> MessageType:
    """Return a message or a part of one; the structs in it stand as dicts of their fields."""
    made = {name: _filled(cls.fields[name].type, value) for name, value in values.items()}
    return cls(**made)


def _filled(type_: FieldType, value: Any) -> Any:
    if isinstance(type_, Nullable):
        return _filled(type_.inner, value)
    if isinstance(type_, StructOf) and isinstance(value, dict):
        return filled(cast(type[Group], type_.cls), **value)
    if isinstance(type_, ArrayOf) and isinstance(value, list):
        return [_filled(type_.element, item) for item in value]
    if isinstance(type_, ArrayOf) and isinstance(value, _Including):
        return _Including(tuple(_filled(type_.element, item) for item in value.items))
    return value


def mirrored(cls: type[MessageType], other: Any, **values: Any) -> MessageType:
    """Return a message, or a part of one, with what another has under the same names.

    values: for fields of it and of its parts, in place of the other's.
    """
    made = dict[str, Any]()
    for name, field in cls.fields.items():
        kind = field.type.inner if isinstance(field.type, Nullable) else field.type
        if name in values or not hasattr(other, name):
            made |= {name: values[name]} if name in values else {}
        elif isinstance(kind, ArrayOf) and isinstance(kind.element, StructOf):
            part = cast(type[Group], kind.element.cls)
            made[name] = [mirrored(part, item, **values) for item in getattr(other, name)]
        else:
            made[name] = getattr(other, name)
    return cls(**made)


def expect_whole(answer: Response, expected: Response | dict[str, Any], version: int) -> None:
    """Demand that an answer has exactly these values in all fields of its version.

    expected: a response, or its fields as `filled` takes them; one that is not named has its
    default. Elements of arrays of structs may come in any order, those of others as they stand.
    Raises Deviation, which names the field.
    """
    whole = filled(type(answer), **expected) if isinstance(expected, dict) else expected
    for path, wanted, came in _differences(answer, whole, version, ""):
        raise Deviation(f"v{version}: {path} {as_sent(wanted)}", f"v{version}: {path} {came!r}")


async def expect_in_each_version(
    connection: CheckedConnection,
    request: Request,
    expected: Response | dict[str, Any],
    ask: Callable[[Request, int], Awaitable[Response]] | None = None,
    *,
    since: int = 0,
) -> None:
    """Ask in every version that the server offers, and demand the same whole answer.

    request: with the fields of all versions; each version is sent those that it has. ask: where
    not this connection is to be asked. since: the first version that is asked. Raises Deviation,
    and Skipped if the server offers none of them.
    """
    for version in connection.offered(type(request), since=since):
        fitted = of_version(request, version)
        answer = await (ask or connection.ask_coordinator)(fitted, version)
        expect_whole(answer, expected, version)


def of_version(message: MessageType, version: int) -> MessageType:
    """Return a message without the values of fields that a version does not have."""
    values = {}
    for name, field in type(message).fields.items():
        value = getattr(message, name)
        if version not in field.versions:
            value = field.new_default()
        elif isinstance(value, Group):
            value = of_version(value, version)
        elif isinstance(value, list):
            value = [of_version(item, version) for item in value]
        values[name] = value
    return message.replace(**values)


_Difference = tuple[str, Any, Any]
"""The path of a field, what is expected, and what came."""


def _differences(came: Any, expected: Any, version: int, path: str) -> Iterator[_Difference]:
    """Yield the fields that are not as expected: path, what is expected, what came."""
    if isinstance(expected, _Fitting):
        if not expected.holds(came):
            yield path, expected, came
    elif isinstance(expected, Group) and isinstance(came, Group):
        for name, field in type(expected).fields.items():
            if version in field.versions and name not in FREE:
                pair = getattr(came, name), getattr(expected, name)
                yield from _differences(*pair, version, f"{path}.{name}" if path else name)
    elif isinstance(expected, list | _Including) and isinstance(came, list):
        yield from _element_differences(came, expected, version, path)
    elif came != expected:
        yield path, expected, came


def _element_differences(
    came: list[Any], expected: list[Any] | _Including, version: int, path: str
) -> Iterator[_Difference]:
    """Yield what elements lack, in any order: an expected one is compared with the nearest."""
    left = list(enumerate(came))
    for item in expected.items if isinstance(expected, _Including) else expected:
        found = [
            (list(_differences(other, item, version, f"{path}[{index}]")), index)
            for index, other in left
        ]
        if not found:
            yield path, item, "no more of them"
            continue
        differences, nearest = min(found, key=lambda pair: len(pair[0]))
        yield from differences
        left = [(index, other) for index, other in left if index != nearest]
    for index, item in enumerate(came):
        if item in came[:index] and isinstance(expected, _Including):
            yield f"{path}[{index}]", "another one", item
    if left and isinstance(expected, list):
        yield f"{path}[{left[0][0]}]", "no such element", left[0][1]
