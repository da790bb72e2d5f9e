"""Reads JSON of znodes as Kafka 3.9 does: typed fields, unknown ones ignored (kafka.utils.json).

Each error is InvalidZnode with the znode's path. It never quotes the content, which may be secret.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from kwire.zookeeper.errors import InvalidZnode

_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}


class JsonObject:
    """An object of a znode; `where` is the field that holds it, for errors."""

    def __init__(self, fields: dict[str, Any], path: str, where: str = "") -> None:
        self.path = path
        self._fields = fields
        self._where = where

    @classmethod
    def parse(cls, data: bytes, path: str) -> JsonObject:
        """Read a znode's data. Raises InvalidZnode unless it is one JSON object."""
        try:
            value = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
        except UnicodeDecodeError as error:
            raise InvalidZnode(path, f"byte {error.start} is not UTF-8") from None
        except json.JSONDecodeError as error:
            raise InvalidZnode(path, f"no JSON at character {error.pos}: {error.msg}") from None
        except (ValueError, RecursionError):
            raise InvalidZnode(path, "no JSON that Kafka reads") from None
        if not isinstance(value, dict):
            raise InvalidZnode(path, f"expected an object, found {_kind(value)}")
        return cls(value, path)

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def fail(self, name: str, reason: str) -> NoReturn:
        """Raise InvalidZnode for a field."""
        raise InvalidZnode(self.path, f"field {self._where}{name}: {reason}")

    def integer(self, name: str, *, bits: int = 32) -> int:
        """Return a whole number with a sign that fits into so many bits."""
        return self._integer(name, self._value(name), bits)

    def text(self, name: str) -> str:
        """Return a text."""
        return self._text(name, self._value(name))

    def optional_text(self, name: str) -> str | None:
        """Return a text, None if it is absent or null."""
        value = self._fields.get(name)
        return None if value is None else self._text(name, value)

    def number_as_text(self, name: str) -> int:
        """Return a whole number of 64 bits that is written as a text."""
        text = self.text(name)
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 19):
            self.fail(name, "expected a whole number written as a text")
        return self._integer(name, int(text), 64)

    def integers(self, name: str) -> tuple[int, ...]:
        """Return a list of whole numbers of 32 bits."""
        return tuple(self._integer(name, value, 32) for value in self._list(name))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(self._text(name, value) for value in self._list(name))

    def object(self, name: str) -> JsonObject:
        """Return an object."""
        value = self._value(name)
        if not isinstance(value, dict):
            self.fail(name, f"expected an object, found {_kind(value)}")
        return JsonObject(value, self.path, f"{self._where}{name}.")

    def object_or_empty(self, name: str, *, null_is_empty: bool = False) -> JsonObject:
        """Return an object, an empty one if it is absent, or null where that may stand for it."""
        if name in self._fields and not (null_is_empty and self._fields[name] is None):
            return self.object(name)
        return JsonObject({}, self.path, f"{self._where}{name}.")

    def objects(self, name: str) -> list[JsonObject]:
        """Return a list of objects."""
        found = []
        for index, value in enumerate(self._list(name)):
            if not isinstance(value, dict):
                self.fail(f"{name}[{index}]", f"expected an object, found {_kind(value)}")
            found.append(JsonObject(value, self.path, f"{self._where}{name}[{index}]."))
        return found

    def _value(self, name: str) -> Any:
        if name not in self._fields:
            self.fail(name, "it is missing")
        return self._fields[name]

    def _list(self, name: str) -> list[Any]:
        value = self._value(name)
        if not isinstance(value, list):
            self.fail(name, f"expected a list, found {_kind(value)}")
        return value

    def _integer(self, name: str, value: Any, bits: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail(name, f"expected a whole number, found {_kind(value)}")
        if not -1 << (bits - 1) <= value < 1 << (bits - 1):
            self.fail(name, f"{_short(value)} does not fit into {bits} bits")
        return value

    def _text(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            self.fail(name, f"expected a text, found {_kind(value)}")
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            self.fail(name, "it has half a surrogate pair")
        return value


def _kind(value: object) -> str:
    return _NAMES.get(type(value), "a number")


def _short(value: int) -> str:
    return str(value) if abs(value) < 10**20 else "the number"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)
