"""Writers of messages as JSON: each construct is walked once, into functions.

A struct gets a function of straight-line code, and one that walks its fields for whatever the first
does not take, which also knows the path of what does not fit.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Self
from uuid import UUID

from construct import Construct, Flag, Float64b

from kwire.codec.constructs import (
    INTEGERS,
    Blob,
    KafkaArray,
    NullableStruct,
    ObjectStruct,
    Records,
    Text,
    Uuid,
)
from kwire.codec.declaration import Message
from kwire.text.ids import uuid_text
from kwire.text.json_numbers import json_number
from kwire.text.untrusted import cut_repr

UNKNOWN_TAGS = "_unknownTags"
RANGES = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}

Writer = Callable[[Any], Any]
"""Returns a value as JSON has it. Raises MisfitError with a path from this value on."""


class MisfitError(Exception):
    """A value that has no place at `path`."""

    def __init__(self, reason: str, path: str) -> None:
        self.reason = reason
        self.path = path

    def inside(self, outer: str) -> Self:
        """Return the error with the path of what the value is in before its own."""
        is_member = self.path and not self.path.startswith("[")
        self.path = f"{outer}.{self.path}" if is_member and outer else outer + self.path
        return self


@cache
def camel(name: str) -> str:
    """Kafka's name of a field: `voterDirectoryId` for `voter_directory_id`."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


@cache
def message_writer(cls: type[Message], version: int, exact: bool) -> Writer:
    """Return the writer of a message at a version; exact: as for `json_form.to_json`."""
    return writer(cls.at(version), exact)


@cache
def writer(con: Construct, exact: bool) -> Writer:
    """Return the writer of a construct."""
    match con:
        case NullableStruct():
            return _or_null(writer(con.subcon, exact))
        case ObjectStruct():
            return StructWriter(con, exact).straight_line()
        case KafkaArray():
            write = _checked(_array_writer(writer(con.subcon, exact)))
        case Text():
            write = _text
        case Records():
            write = _checked(lambda value: "")
        case Blob():
            write = _checked(lambda value: b64encode(value).decode())
        case Uuid():
            write = _checked(lambda value: _uuid_text(value.int))
        case _ if con is Float64b:
            write = _checked(lambda value: json_number(float(value)))
        case _:
            return lambda value: checked_scalar(con, value, "")
    return _or_null(write) if getattr(con, "nullable", False) else write


def _or_null(write: Writer) -> Writer:
    return lambda value: None if value is None else write(value)


def _checked(write: Writer) -> Writer:
    def checked(value: Any) -> Any:
        try:
            return write(value)
        except (AttributeError, TypeError, ValueError):
            raise _misfit(value) from None

    return checked


def _misfit(value: Any) -> MisfitError:
    return MisfitError(f"{cut_repr(value)} is not a value of this field", "")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _misfit(value)
    return value


@lru_cache(maxsize=256)
def _uuid_text(number: int) -> str:
    # The partitions of a topic follow each other, and all have one of a few directories.
    return uuid_text(UUID(int=number))


def _array_writer(write: Writer) -> Writer:
    def write_all(value: Any) -> list[Any]:
        elements = list(value)
        try:
            return [write(element) for element in elements]
        except MisfitError:
            return _find_misfit(write, elements)

    return write_all


def _find_misfit(write: Writer, elements: list[Any]) -> list[Any]:
    """Write elements one by one, to know which of them does not fit."""
    written: list[Any] = []
    try:
        for element in elements:
            written.append(write(element))
    except MisfitError as misfit:
        raise misfit.inside(f"[{len(written)}]") from None
    return written


class StructWriter:
    """Writes a struct field by field."""

    def __init__(self, struct: ObjectStruct, exact: bool) -> None:
        self.struct, self.exact = struct, exact
        self.fields = [
            (field.name, camel(field.name), writer(field.subcon, exact), field.subcon)
            for field in struct.subcons
        ]
        self.tags = [
            (tag.name, camel(tag.name), writer(tag.con, exact), tag.default)
            for tag in (struct.tags.known.values() if struct.tags else ())
        ]

    def write(self, obj: Any) -> dict[str, Any]:
        """Return the struct as a dict; raise MisfitError with the path of what does not fit."""
        name = ""
        try:
            self._check_class(obj)
            written: dict[str, Any] = {}
            for attribute, name, write, con in self.fields:
                value = getattr(obj, attribute)
                written[name] = write(value)
                if self.exact and value and isinstance(con, Records):
                    written["_" + name] = b64encode(value).decode()
            for attribute, name, write, default in self.tags:
                value = getattr(obj, attribute)
                if value != default:
                    written[name] = write(value)
            if self.exact and obj.unknown_tags:
                written[UNKNOWN_TAGS] = {
                    str(tag): b64encode(data).decode() for tag, data in obj.unknown_tags.items()
                }
        except MisfitError as misfit:
            raise misfit.inside(name) from None
        except (AttributeError, TypeError, ValueError):
            raise _misfit(obj) from None
        return written

    def _check_class(self, obj: Any) -> None:
        if not isinstance(obj, self.struct.cls):
            wanted = self.struct.cls.__name__
            raise MisfitError(f"{wanted} wanted, not {type(obj).__name__}", "")
        for name, default in self.struct.refused.items():
            if getattr(obj, name) != default:
                raise MisfitError("not in this version", camel(name))

    def straight_line(self) -> Writer:
        """Return a function that does what `write` does in a third of its time."""
        names: dict[str, Any] = {
            "cls": self.struct.cls,
            "write": self.write,
            "uuid_text": _uuid_text,
            "Misfit": MisfitError,
        }
        body = [*self._test_unusual(names), "written = {}"]
        for number, (attribute, name, write, con) in enumerate(self.fields):
            names[f"w{number}"] = write
            body += [f"value = obj.{attribute}", f"written[{name!r}] = {_term(con, f'w{number}')}"]
        for number, (attribute, name, write, default) in enumerate(self.tags):
            names[f"t{number}"], names[f"d{number}"] = write, default
            body += [
                f"value = obj.{attribute}",
                f"if value is not d{number} and value != d{number}:"
                f" written[{name!r}] = t{number}(value)",
            ]
        lines = ["def straight(obj):", " try:", *(f"  {line}" for line in body), "  return written"]
        lines += [" except (Misfit, AttributeError, TypeError, ValueError):", "  return write(obj)"]
        exec("\n".join(lines), names)
        straight: Writer = names["straight"]
        return straight

    def _test_unusual(self, names: dict[str, Any]) -> list[str]:
        """Return the lines that leave an object to `write`, and add to the names that they use."""
        tests = ["type(obj) is not cls"]
        if self.exact:
            tests.append("obj.unknown_tags")
            records = [name for name, _, _, con in self.fields if isinstance(con, Records)]
            tests += [f"obj.{name}" for name in records]
        for number, (name, default) in enumerate(self.struct.refused.items()):
            names[f"r{number}"] = default
            tests.append(f"obj.{name} != r{number}")
        return [f"if {' or '.join(tests)}: return write(obj)"]


def _term(con: Construct, write: str) -> str:
    """Return the expression that writes `value`: most fields are integers or ids."""
    if isinstance(con, Uuid):
        return "uuid_text(value.int)"
    if con not in INTEGERS:
        return f"{write}(value)"
    lowest, highest = RANGES[INTEGERS[con]]
    is_plain = f"type(value) is int and {lowest} <= value <= {highest}"
    return f"value if {is_plain} else {write}(value)"


def checked_scalar(con: Construct, value: Any, path: str) -> Any:
    """Return a value that a scalar of JSON may have. Raises MisfitError."""
    if con is Flag and isinstance(value, bool):
        return value
    if con is Float64b and (value in ("NaN", "Infinity", "-Infinity") or _is_number(value)):
        return float(value)
    kind = INTEGERS.get(con)
    if kind and isinstance(value, int) and not isinstance(value, bool):
        lowest, highest = RANGES[kind]
        if lowest <= value <= highest:
            return value
        raise MisfitError(f"{value} is no {kind}", path)
    raise MisfitError(f"{cut_repr(value)} is not a value of this field", path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
