"""The log levels of this process: Python's root logger, and those of kwire (KIP-412, KIP-919)."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from kwire.configs.logger_validation import ROOT

logger = logging.getLogger(__name__)

_LEVELS = {
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": 5,
}
"""Python's numbers for Kafka's words; below DEBUG it has none of its own."""

_PACKAGE = "kwire"


class RuntimeLoggers:
    """Python's loggers, in Kafka's words (Java: LoggingController)."""

    def levels(self) -> dict[str, str]:
        """Return the level that is in force at the root, and at each logger of kwire."""
        # A package whose modules have loggers is there, too, though it has none yet.
        names = [
            name
            for name in sorted(logging.root.manager.loggerDict)
            if f"{name}.".startswith(f"{_PACKAGE}.")
        ]
        return {name: _word(_logger(name).getEffectiveLevel()) for name in (ROOT, *names)}

    def set(self, levels: Mapping[str, str | None]) -> None:
        """Give loggers these levels; None for that of the logger above."""
        for name, level in levels.items():
            _logger(name).setLevel(logging.NOTSET if level is None else _LEVELS[level])
            logger.warning("the log level of %s is %s now", name, level or "that of its parent")


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _word(level: int) -> str:
    return next((word for word, number in _LEVELS.items() if level >= number), "TRACE")
