"""Values of server.properties by their types; every error names the property."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.errors import InvalidValue
from kwire.text.numbers import whole_number


def listed(pairs: Mapping[str, str], name: str) -> list[str]:
    """A list with commas; empty where the property is missing."""
    return [part for one in pairs.get(name, "").split(",") if (part := one.strip())]


def number(pairs: Mapping[str, str], name: str, default: int) -> int:
    """A number from 0 on."""
    text = pairs.get(name, "").strip()
    if not text:
        return default
    value = whole_number(text, bits=63)
    if value is None:
        raise InvalidValue(f"{name} is {text!r}: it must be a number from 0 on")
    return value


def flag(pairs: Mapping[str, str], name: str) -> bool:
    """`true` or `false`; false where the property is missing."""
    text = pairs.get(name, "false").strip().lower()
    if text not in ("true", "false"):
        raise InvalidValue(f"{name} is {text!r}: it must be true or false")
    return text == "true"


def address(text: str, name: str) -> tuple[str, int]:
    """`host:port`; an IPv6 host in brackets."""
    host, colon, digits = text.rpartition(":")
    port = whole_number(digits, bits=16)
    if not colon or port is None:
        raise InvalidValue(f"{name}: {text!r} is not host:port")
    return host.removeprefix("[").removesuffix("]"), port


def addresses(pairs: Mapping[str, str], name: str) -> tuple[tuple[str, int], ...]:
    """A list of `host:port`."""
    return tuple(address(text, name) for text in listed(pairs, name))
