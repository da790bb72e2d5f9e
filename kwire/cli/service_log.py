"""What a service tells on stderr: a line an event, as text or as JSON, from a thread of its own."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from logging.handlers import QueueHandler, QueueListener
from queue import Full, Queue
from typing import Any

from kwire.cli.printer import RepeatLimit
from kwire.proxy import Event, Kind, Notice
from kwire.text.printable import harmless

WAITING = 10_000
"""Lines that may wait for a slow reader; those that find no room are left out."""

FIELDS = ("cluster", "node", "connection", "client", "client_id", "event", "skipped")
"""What a line has beside its text, where it is known."""

log = logging.getLogger("kwire.proxy")

_LEVELS = {Kind.OPENED: logging.DEBUG, Kind.CLOSED: logging.DEBUG}


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, message, and of FIELDS what is known."""

    def format(self, record: logging.LogRecord) -> str:
        data: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        return json.dumps(data | _known(record))


class TextLines(logging.Formatter):
    """Time, level, message, and then of FIELDS what is known, as `name=value`."""

    def format(self, record: logging.LogRecord) -> str:
        known = "".join(f" {name}={value}" for name, value in _known(record).items())
        line = f"{_time(record)} {record.levelname.lower()} {record.getMessage()}{known}"
        return harmless(line)


class _Patient(QueueHandler):
    """Leaves out what finds no room: nobody waits for a reader of the log."""

    def enqueue(self, record: logging.LogRecord) -> None:
        with suppress(Full):
            self.queue.put_nowait(record)


@contextmanager
def logging_to_stderr(form: str, level: str) -> Iterator[None]:
    """While the context lasts, what is logged is written; at its end what still waits, too.

    form: `text` or `json`.
    """
    writer = logging.StreamHandler()
    writer.setFormatter(JsonLines() if form == "json" else TextLines())
    queue: Queue[logging.LogRecord] = Queue(WAITING)
    handler, listener = _Patient(queue), QueueListener(queue, writer)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(level.upper())
    listener.start()
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        listener.stop()


class NoticeLog:
    """A sink that logs what is no RPC; of each kind at a node one in three seconds, with a count of
    those between."""

    def __init__(self, cluster: str = "") -> None:
        self._cluster = cluster
        self._repeats = RepeatLimit()

    def __call__(self, event: Event) -> None:
        """Log a notice, unless one like it has just been."""
        if isinstance(event, Notice):
            self._tell(event)

    def _tell(self, notice: Notice) -> None:
        connection = notice.connection
        level = _LEVELS.get(notice.kind, logging.WARNING)
        if not log.isEnabledFor(level):
            return
        skipped = self._repeats.passes((notice.kind, connection.upstream), notice.at)
        if skipped is None and level > logging.DEBUG:
            return
        fields = {
            "cluster": self._cluster or None,
            "node": connection.node_id,
            "connection": connection.number,
            "client": connection.client,
            "client_id": connection.client_id,
            "event": notice.kind.name.lower(),
            "skipped": skipped or None,
        }
        log.log(level, "%s", notice.text, extra=fields)


def _known(record: logging.LogRecord) -> dict[str, Any]:
    values = ((name, getattr(record, name, None)) for name in FIELDS)
    return {name: value for name, value in values if value is not None}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
