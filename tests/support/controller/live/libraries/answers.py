"""Answers of client libraries as plain values, without what is each cluster's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from confluent_kafka import KafkaException

PATIENCE = 120
"""Seconds for each answer; several test runs share a machine."""
NODES = 2
PARTITIONS = 3
NUMBERS = range(30)
COMMITTED = range(30, 33)
ABORTED = range(90, 93)
TRANSACTIONS = 0
"""The partition that transactions write to."""

_OWN = re.compile(r"error_message|topic_id|leader_id|.*_nodes|.*epoch|throttle_time_ms|coordinator")
"""Keys of values that are each cluster's own, and sentences."""
_ERROR = re.compile(r"(\[Error \d+\] \w+): .*", re.DOTALL)


class ClientAnswers:
    """The answers that a library gave, by the name of the step."""

    def __init__(self) -> None:
        self.steps: dict[str, Any] = {}

    def ask(self, step: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        """Keep the plain form of what a call returns, or the name of the error that it raises."""
        assert step not in self.steps, step
        self.steps[step] = answer_of(call, *arguments, **options)


def answer_of(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return the plain form of what a call returns, or the name of the error that it raises."""
    try:
        return plain(call(*arguments, **options))
    except KafkaException as error:
        return error.args[0].name()
    except Exception as error:
        return type(error).__name__


def plain(value: Any) -> Any:
    """Return mappings as dicts, other collections as lists, enums as names, the rest as texts."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Mapping):
        items = [(str(key), item) for key, item in value.items()]
        return {key: plain(item) for key, item in sorted(items) if not _OWN.fullmatch(key)}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    if isinstance(value, int | None):
        return value
    return _ERROR.sub(r"\1", str(value))
