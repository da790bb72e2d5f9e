"""Log lines on stderr that no peer can break: a message is one line, a traceback is indented.

Names and errors of peers are in the messages. Characters that could end a line or command a
terminal are written as escapes.
"""

from __future__ import annotations

import logging
from typing import Any

from kwire.text.untrusted import harmless

_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_INDENT = "    "


class HarmlessLines(logging.Formatter):
    """Formats as its base does, and escapes."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return harmless(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        return _indented(super().formatStack(stack_info))


def log_to_stderr() -> None:
    """Write log records from INFO on to stderr."""
    writer = logging.StreamHandler()
    writer.setFormatter(HarmlessLines(_FORM))
    logging.basicConfig(level=logging.INFO, handlers=[writer])


def escape_warnings() -> None:
    """Escape the warnings that logging writes to stderr where a command has no log."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(HarmlessLines())


def _indented(text: str) -> str:
    return "\n".join(_INDENT + harmless(line) for line in text.splitlines())
