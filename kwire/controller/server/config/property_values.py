"""Typed values of server.properties. InvalidValue names the property."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.configs import node_keys, topic_keys
from kwire.errors import ApiError, InvalidValue
from kwire.text.untrusted import whole_number

_TOPIC_DEFAULTS = frozenset(
    synonym.name for key in topic_keys.KEYS.values() for synonym in key.synonyms
)


def check_as_kafka(pairs: Mapping[str, str], known: frozenset[str]) -> None:
    """Raise InvalidValue for a value with which Kafka does not start (Java: KafkaConfig).

    known: names of the properties that have an effect here; defaults of topics have one, too. What
    no request of a client may say, as a topic of 0 partitions, a default must not say either.
    """
    checked = node_keys.KEYS.keys() & (known | _TOPIC_DEFAULTS)
    for name in filter(checked.__contains__, pairs):
        try:
            node_keys.KEYS[name].value(pairs[name])
        except ApiError as error:
            raise InvalidValue(str(error.message)) from None


def listed(pairs: Mapping[str, str], name: str) -> list[str]:
    """Return the elements of a list with commas; none if the property is missing."""
    return [element for text in pairs.get(name, "").split(",") if (element := text.strip())]


def number(pairs: Mapping[str, str], name: str, default: int) -> int:
    """Return a number from 0 on; the default if the property is missing or empty."""
    text = pairs.get(name, "").strip()
    if not text:
        return default
    value = whole_number(text, bits=63)
    if value is None:
        raise InvalidValue(f"{name} is {text!r}: it must be a number from 0 on")
    return value


def positive_number(pairs: Mapping[str, str], name: str, default: int) -> int:
    """Return a number from 1 on; the default if the property is missing or empty."""
    value = number(pairs, name, default)
    if value == 0:
        raise InvalidValue(f"{name} is 0: it must be a number from 1 on")
    return value


def flag(pairs: Mapping[str, str], name: str) -> bool:
    """Return True for `true`; False for `false`, or if the property is missing."""
    text = pairs.get(name, "false").strip().lower()
    if text not in ("true", "false"):
        raise InvalidValue(f"{name} is {text!r}: it must be true or false")
    return text == "true"


def address(text: str, name: str) -> tuple[str, int]:
    """Parse `host:port`; an IPv6 host is in brackets. name: of the property, for the error."""
    host, colon, digits = text.rpartition(":")
    port = whole_number(digits, bits=16)
    if not colon or port is None:
        raise InvalidValue(f"{name}: {text!r} is not host:port")
    return host.removeprefix("[").removesuffix("]"), port


def addresses(pairs: Mapping[str, str], name: str) -> tuple[tuple[str, int], ...]:
    """Return a list of `host:port`."""
    return tuple(address(text, name) for text in listed(pairs, name))
