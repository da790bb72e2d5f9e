"""ConsumerGroupRegularExpression, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue
from kwire.codec.notation import array, int64, string


class ConsumerGroupRegularExpressionKey(CoordinatorKey, key=16, versions="0"):
    """Keys a resolved subscription pattern by group and expression (KIP-848)."""

    group_id: str = string
    regular_expression: str = string


class ConsumerGroupRegularExpressionValue(CoordinatorValue, key=16, versions="0", flexible="0+"):
    """Holds the topics that a subscription pattern matched, and when (KIP-848)."""

    topics: tuple[str, ...] = array(string)
    version: int = int64
    timestamp: int = int64
