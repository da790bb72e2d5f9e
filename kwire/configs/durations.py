"""Durations in ISO 8601 as java.time.Duration.parse takes them."""

from __future__ import annotations

import re

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
