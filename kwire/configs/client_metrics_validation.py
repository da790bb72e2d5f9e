"""The configuration of a subscription to client metrics (ClientMetricsConfigs, KIP-714)."""

from __future__ import annotations

from collections.abc import Iterable

from kwire.configs.client_metrics_keys import KEYS
from kwire.configs.java_regex import is_java_regex
from kwire.configs.keys import Configs, values
from kwire.configs.values import java_split, java_trim, refused
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError

MIN_INTERVAL_MS, MAX_INTERVAL_MS = 100, 3_600_000
"""Milliseconds between two pushes."""

CLIENT_PROPERTIES = {
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
}
"""The properties that clients are chosen by."""


def check(configs: Configs) -> None:
    """Check all settings that a subscription would have. Raises ApiError:

    1. A name that is not known, or an interval out of bounds: INVALID_REQUEST.
    2. A value that is not of its type: INVALID_CONFIG.
    3. A pattern that is not `property=regular expression`: INVALID_CONFIG.
    """
    # 1.
    for name in sorted(configs):
        if name not in KEYS:
            text = f"Unknown client metrics configuration: {name}"
            raise ApiError(ErrorCode.INVALID_REQUEST, text)
    # 2.
    parsed = values(KEYS, configs)
    interval, patterns = parsed["interval.ms"], parsed["match"]
    assert isinstance(interval, int)
    assert isinstance(patterns, list)
    # 1.
    if not MIN_INTERVAL_MS <= interval <= MAX_INTERVAL_MS:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Invalid value {interval} for interval.ms, interval must be between"
            f" {MIN_INTERVAL_MS} and {MAX_INTERVAL_MS} (1 hour)",
        )
    # 3.
    _check_patterns(patterns)


def _check_patterns(patterns: Iterable[str]) -> None:
    for pattern in patterns:
        parts = java_split(pattern, "=")
        property = java_trim(parts[0]) if parts else ""
        if (
            len(parts) != 2
            or property not in CLIENT_PROPERTIES
            or not is_java_regex(java_trim(parts[1]))
        ):
            raise refused(f"Illegal client matching pattern: {pattern}")
