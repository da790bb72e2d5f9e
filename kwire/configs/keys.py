"""One key of a ConfigDef: its type, its default, the check of its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Protocol

from kwire.configs.values import Value, parse
from kwire.errors import ApiError
from kwire.messages.config_resource import ConfigType

Configs = Mapping[str, str]
"""Names and values as they are set."""


class Validator(Protocol):
    """One of Kafka's validators (`kwire.configs.validators`)."""

    def check(self, name: str, value: Value) -> Value:
        """Return the value that holds. Raises ApiError if it is not valid."""


@dataclass(frozen=True, slots=True)
class Synonym:
    """The name of a default in server.properties, in milliseconds times `unit`."""

    name: str
    unit: int = 1

    def convert(self, value: str) -> str:
        """Return the value in the unit of the key: -1 stays what it is, and so does no number."""
        try:
            number = parse(self.name, value, ConfigType.LONG)
        except ApiError:
            return value
        positive = isinstance(number, int) and number > 0
        return str(number * self.unit) if isinstance(number, int) and positive else value

    def source_text(self, value: str | None) -> str | None:
        """Return the key's value as server.properties has it."""
        return value if value is None or self.unit == 1 else str(int(value) // self.unit)


class Dynamic(Enum):
    """The ways in which a node's key may be changed at run time (KIP-226)."""

    CLUSTER_WIDE = "for one node or for all"
    PER_BROKER = "for one node"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One key. default: as text; None if there is none.

    internal: Kafka accepts it and does not describe it. dynamic: None where it needs a restart.
    """

    name: str
    type: ConfigType
    default: str | None = None
    validator: Validator | None = None
    synonyms: tuple[Synonym, ...] = ()
    internal: bool = False
    dynamic: Dynamic | None = None

    @property
    def is_sensitive(self) -> bool:
        """True for a password, or what may be one: no answer shows it."""
        return self.type in (ConfigType.PASSWORD, ConfigType.UNKNOWN)

    def value(self, text: str | None) -> Value:
        """Return the value of a text; None for the default. Raises ApiError if it is not valid."""
        if text is None:
            text = self.default
        value = None if text is None else parse(self.name, text, self.type)
        return value if self.validator is None else self.validator.check(self.name, value)

    def is_valid(self, text: str) -> bool:
        """Return True if the key may have this value."""
        try:
            self.value(text)
        except ApiError:
            return False
        return True


def table(keys: Iterable[ConfigKey]) -> Mapping[str, ConfigKey]:
    """Return keys by name, in Kafka's order."""
    return MappingProxyType({key.name: key for key in keys})


def values(keys: Mapping[str, ConfigKey], texts: Configs) -> dict[str, Value]:
    """Return the values of all keys, else their defaults. Raises ApiError for the first fault."""
    return {name: key.value(texts.get(name)) for name, key in keys.items()}
