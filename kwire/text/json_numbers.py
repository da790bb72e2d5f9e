"""Numbers that JSON has no word for: strings, as Jackson prints them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any


def json_number(value: float) -> float | str:
    """Return a number that JSON has as it is, else NaN, Infinity or -Infinity as text."""
    if isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def json_numbers(value: Any) -> Any:
    """Return a value of mappings and sequences with texts for the numbers that JSON lacks."""
    if isinstance(value, Mapping):
        return {key: json_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_numbers(item) for item in value]
    return json_number(value) if isinstance(value, float) else value
