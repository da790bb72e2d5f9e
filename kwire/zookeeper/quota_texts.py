"""Quotas as texts in the configuration of users, clients and ips (kafka.server.DynamicConfig)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from kwire.image.client_quotas import Entity

USER, CLIENT_ID, IP = "user", "client-id", "ip"

_LARGEST = {
    "producer_byte_rate": (1 << 63) - 1,
    "consumer_byte_rate": (1 << 63) - 1,
    "connection_creation_rate": (1 << 31) - 1,
}
"""The keys of type LONG or INT, with their largest value."""

_FOR_CLIENTS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
)
_FOR_IPS = ("connection_creation_rate",)

_EPSILON = 1e-6
"""Added before a value is cut off to a whole number, as by Kafka."""


def entity_keys(entity: Entity) -> Iterable[str]:
    """Return the keys that brokers in ZooKeeper mode know for an entity."""
    return _FOR_IPS if IP in dict(entity) else _FOR_CLIENTS


def quota_texts(entity: Entity, quotas: Mapping[str, float]) -> dict[str, str]:
    """Return the quotas of an entity as Kafka writes them.

    Keys that brokers in ZooKeeper mode do not know are left out, as are bytes without number.
    """
    keys = entity_keys(entity)
    return {
        key: quota_text(key, value)
        for key, value in quotas.items()
        if key in keys and (key not in _LARGEST or isfinite(value))
    }


def quota_text(key: str, value: float) -> str:
    """Return the value of a quota as text: `1024` for bytes, `50.0` for percent."""
    if key in _LARGEST:
        return str(min(int(value + _EPSILON), _LARGEST[key]))
    return java_double_text(value)


def java_double_text(value: float) -> str:
    """Return a number as Double.toString prints it: `200.0`, `1.0E7`, `1.0E-5`."""
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else f"{'-' if value < 0 else ''}Infinity"
    sign, digits, exponent = _parts(value)
    if digits == "0" or -3 <= exponent < 7:
        return sign + _plain(digits, exponent)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _parts(value: float) -> tuple[str, str, int]:
    """Return the sign, the shortest digits, and the exponent of the first digit."""
    mantissa, _, exponent = repr(value).partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = whole + fraction
    leading = len(digits) - len(digits.lstrip("0"))
    first = len(whole) - 1 - leading + int(exponent or 0)
    return sign, digits.strip("0") or "0", first


def _plain(digits: str, exponent: int) -> str:
    if digits == "0":
        return "0.0"
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return f"{whole}.{digits[exponent + 1 :] or '0'}"
