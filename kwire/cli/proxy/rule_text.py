"""Rules as text in one line."""

from __future__ import annotations

from typing import Any


def rule_text(rule: dict[str, Any]) -> str:
    """Return `~api Fetch: delay {from: 1s, to: 3s}, count 3`."""
    parts = (
        key if value is True else f"{key} {_value(value)}"
        for key, value in rule.items()
        if key != "match"
    )
    return f"{rule.get('match', '')}: {', '.join(parts)}"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_value(inner)}' for key, inner in value.items())}}}"
    return str(value)
