"""Text as Kafka parses it, and values as Kafka prints them (Java: ConfigDef.parseType)."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping

from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.config_resource import ConfigType

Value = str | int | float | bool | list[str] | None
"""A parsed value; None if a key without default is not set."""


def invalid(name: str, value: Value, reason: str) -> ApiError:
    """Return the error of Kafka's ConfigException: INVALID_CONFIG, with name and value."""
    text = f"Invalid value {as_java_text(value)} for configuration {name}: {reason}"
    return ApiError(ErrorCode.INVALID_CONFIG, text)


def refused(message: str) -> ApiError:
    """Return the error of Kafka's InvalidConfigurationException."""
    return ApiError(ErrorCode.INVALID_CONFIG, message)


def parse(name: str, text: str, type: ConfigType) -> Value:
    """Return the value of a text. Raises ApiError if it is not of the key's type."""
    trimmed = java_trim(text)
    if type is ConfigType.BOOLEAN:
        return _boolean(name, text, trimmed)
    if type is ConfigType.LIST:
        return _SEPARATOR.split(trimmed) if trimmed else []
    number = _NUMBERS.get(type)
    if number is None:
        return trimmed
    value = number(trimmed)
    if value is None:
        raise invalid(name, text, f"Not a number of type {type.name}")
    return value


def as_java_text(value: Value) -> str:
    """Return a value as Java prints it inside a sentence."""
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return "null" if value is None else str(as_text(value))


def as_text(value: Value) -> str | None:
    """Return a value as DescribeConfigs has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return _java_double(value)
    if isinstance(value, list):
        return ",".join(value)
    return None if value is None else str(value)


def java_trim(text: str) -> str:
    """Return a text without what String.trim cuts off: everything up to U+0020."""
    return text.strip("".join(map(chr, range(0x21))))


def java_split(text: str, separator: str) -> list[str]:
    """Return the parts as String.split does: empty ones at the end are left out."""
    parts = text.split(separator)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return [] if parts == [""] and text else parts


_SEPARATOR = re.compile(r"[ \t\n\v\f\r]*,[ \t\n\v\f\r]*")


def _boolean(name: str, text: str, trimmed: str) -> bool:
    # String.equalsIgnoreCase compares upper case, too: U+017F is an s to it.
    if trimmed.upper() not in ("TRUE", "FALSE"):
        raise invalid(name, text, "Expected value to be either true or false")
    return trimmed.upper() == "TRUE"


def _whole(bits: int) -> Callable[[str], int | None]:
    def parse_whole(text: str) -> int | None:
        sign, digits = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
        # Character.digit takes the digits of every script, one UTF-16 unit at a time.
        values = [unicodedata.decimal(digit, -1) if digit <= "\uffff" else -1 for digit in digits]
        if not values or -1 in values:
            return None
        number = 0
        for value in values:
            number = number * 10 + value
            if number > 1 << bits - 1:
                return None
        number = -number if sign == "-" else number
        return number if number < 1 << bits - 1 else None

    return parse_whole


java_int = _whole(32)
"""Return the number of a text as Integer.parseInt does; None if it is none."""

_DOUBLE = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?)"
)


def _double(text: str) -> float | None:
    """Return the number as Double.parseDouble does."""
    if not _DOUBLE.fullmatch(text):
        return None
    if "x" in text or "X" in text:
        try:
            return float.fromhex(text.rstrip("fFdD") if "p" in text.lower() else text)
        except OverflowError:
            return -math.inf if text.startswith("-") else math.inf
    return float(text if text.endswith(("NaN", "Infinity")) else text.rstrip("fFdD"))


_NUMBERS: Mapping[ConfigType, Callable[[str], int | float | None]] = {
    ConfigType.SHORT: _whole(16),
    ConfigType.INT: java_int,
    ConfigType.LONG: _whole(64),
    ConfigType.DOUBLE: _double,
}


def _java_double(value: float) -> str:
    """Return a number as Double.toString does: 1.0E7 from there on, and 9.0E-4 below 0.001."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        # repr is the shortest text in either language, but Python has exponents below 1e-4 only.
        return repr(value)
    mantissa, _, exponent = f"{value:e}".partition("e")
    for digits in range(17):
        mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
        if float(f"{mantissa}e{exponent}") == value:
            break
    return f"{mantissa}{'' if '.' in mantissa else '.0'}E{int(exponent)}"
