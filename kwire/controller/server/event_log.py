"""The log of a controller's events: a line for each, with its fields.

The line ends with them as `name=value`. A handler finds them at the LogRecord, too, beside
`event`, the name of its class, and `node_id`: so they get into JSON without being parsed.
"""

from __future__ import annotations

import json
import logging

from kwire.controller.operator_events import FieldValue, OperatorEvent

logger = logging.getLogger(__name__)


def log_event(node_id: int, event: OperatorEvent) -> None:
    """Log an event of a node, at WARNING if it is a warning, else at INFO."""
    level = logging.WARNING if event.is_warning else logging.INFO
    if not logger.isEnabledFor(level):
        return
    values = event.values
    text = " ".join(f"{name}={_shown(value)}" for name, value in values.items())
    extra = {"event": type(event).__name__, "node_id": node_id, **values}
    logger.log(level, "controller %d: %s: %s", node_id, event.title, text, extra=extra)


def _shown(value: FieldValue) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    is_plain = text.isprintable() and not set(text) & set(' "=')
    return text if text and is_plain else json.dumps(text, ensure_ascii=False)
