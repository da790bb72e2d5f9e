"""Kafka's validators, as data and the check that each makes (ConfigDef.Validator)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kwire.configs.values import Value, invalid, java_trim, refused

_DURATION = re.compile(
    r"([-+]?)P(?:([-+]?[0-9]+)D)?"
    r"(T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)
_LONG = range(-(1 << 63), 1 << 63)


def is_duration(text: str) -> bool:
    """True for a duration that is not negative and fits into Java's."""
    match = _DURATION.fullmatch(text)
    if match is None or (match[3] or "").upper() == "T":
        return False
    units = zip((match[2], match[4], match[5], match[6]), (86400, 3600, 60, 1), strict=True)
    amounts = [(int(number), unit) for number, unit in units if number is not None]
    if not amounts:
        return False
    total = 0
    for number, unit in amounts:
        total += number * unit
        if not all(amount in _LONG for amount in (number, number * unit, total)):
            return False
    fraction = int((match[7] or "").ljust(9, "0"))
    nanos = total * 10**9 + (-fraction if (match[6] or "").startswith("-") else fraction)
    return (-nanos if match[1] == "-" else nanos) >= 0


@dataclass(frozen=True, slots=True)
class Range:
    """A number within bounds (ConfigDef.Range). None: no bound."""

    low: float | None = None
    high: float | None = None

    def check(self, name: str, value: Value) -> Value:
        """Raises ApiError if the value is out of bounds."""
        if not isinstance(value, int | float):
            raise invalid(name, value, "Value must be non-null")
        if self.low is not None and value < self.low:
            raise invalid(name, value, f"Value must be at least {self.low}")
        if self.high is not None and value > self.high:
            raise invalid(name, value, f"Value must be no more than {self.high}")
        return value


@dataclass(frozen=True, slots=True)
class ValidString:
    """One of some words (ConfigDef.ValidString)."""

    words: tuple[str, ...]

    def check(self, name: str, value: Value) -> Value:
        """Raises ApiError if the value is none of them."""
        if value not in self.words:
            raise invalid(name, value, f"String must be one of: {', '.join(self.words)}")
        return value


@dataclass(frozen=True, slots=True)
class ValidList:
    """A list of some words, or of any if there are none (ConfigDef.ValidList)."""

    words: tuple[str, ...] = ()
    empty_allowed: bool = True
    null_allowed: bool = False

    def check(self, name: str, value: Value) -> Value:
        """Return the list without duplicates. Raises ApiError if an element is not valid."""
        if value is None and self.null_allowed:
            return value
        if not isinstance(value, list):
            raise refused(f"Configuration '{name}' values must not be null.")
        if not value and not self.empty_allowed:
            valid = f"[{', '.join(self.words)}]" if self.words else "any non-empty value"
            raise refused(
                f"Configuration '{name}' must not be empty. Valid values include: {valid}"
            )
        distinct = list(dict.fromkeys(value))
        for element in distinct:
            if not element:
                raise refused(f"Configuration '{name}' values must not be empty.")
            if self.words:
                ValidString(self.words).check(name, element)
        return distinct


@dataclass(frozen=True, slots=True)
class GzipLevel:
    """A level of compression, or -1 (CompressionType.GZIP)."""

    def check(self, name: str, value: Value) -> Value:
        """Raises ApiError if there is no such level."""
        if value is None:
            raise invalid(name, value, "Value must be non-null")
        if value != -1 and value not in range(1, 10):
            raise invalid(name, value, "Value must be between 1 and 9 or equal to -1")
        return value


@dataclass(frozen=True, slots=True)
class ThrottledReplicas:
    """Replicas as `partition:broker`, or * for all (ThrottledReplicaListValidator).

    A broker that reads anything else from a topic does not start any more.
    """

    def check(self, name: str, value: Value) -> Value:
        """Raises ApiError if the value is no such list."""
        assert isinstance(value, list), "the key is a list and has a default"
        proposed = [java_trim(element) for element in value]
        if all(map(_REPLICA.fullmatch, proposed)) or "".join(proposed) == "*":
            return value
        raise invalid(
            name,
            value,
            f"{name} must be the literal '*' or a list of replicas in the following format:"
            " [partitionId]:[brokerId],[partitionId]:[brokerId],...",
        )


_REPLICA = re.compile("([0-9]+:[0-9]+)?")


@dataclass(frozen=True, slots=True)
class ShareOffsetReset:
    """The start of share groups (ShareGroupAutoOffsetResetStrategy.Validator, KIP-932)."""

    def check(self, name: str, value: Value) -> Value:
        """Raises ApiError if there is no such strategy."""
        text = str(value)
        prefix, colon, duration = text.partition(":")
        if text in ("earliest", "latest"):
            return value
        if prefix == "by_duration" and colon and is_duration(duration):
            return value
        raise invalid(
            name,
            value,
            f"Invalid value `{text}` for configuration {name}. The value must be either"
            " 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.",
        )
