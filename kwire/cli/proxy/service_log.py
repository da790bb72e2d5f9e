"""The service's log on stderr: a line an event, as text or as JSON, from a thread of its own."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from logging.handlers import QueueHandler, QueueListener
from queue import Full, Queue
from typing import Any

from kwire.cli.printer import RepeatLimit
from kwire.proxy import NoticeKind
from kwire.proxy.service.events import (
    AnyEvent,
    ClusterChange,
    ClusterNotice,
    ServiceEventKind,
)
from kwire.text.untrusted import harmless
from kwire.text.yaml_file import mistakes

WAITING = 10_000
"""Lines that may wait for a slow reader; those that find no room are left out."""

FIELDS = (
    "cluster",
    "node",
    "connection",
    "client",
    "client_id",
    "event",
    "skipped",
    "principal",
    "lent",
    "api",
    "resources",
    "outcome",
)
"""The fields of a line beside its text; those that are known are written."""

log = logging.getLogger("kwire.proxy")

audit_log = logging.getLogger("kwire.proxy.audit")
"""The audit lines, which are written whatever the level of the log."""

_LEVELS = {
    ServiceEventKind.LISTENING: logging.INFO,
    ServiceEventKind.SIMULATING: logging.WARNING,
    ServiceEventKind.RIGHTS_LENT: logging.WARNING,
    ServiceEventKind.READY: logging.INFO,
    ServiceEventKind.ADDRESS_NOT_KEPT: logging.WARNING,
    ServiceEventKind.CERTIFICATE_INVALID: logging.WARNING,
    ServiceEventKind.RULE_REPLACED: logging.WARNING,
    ServiceEventKind.RULE_COMMANDED: logging.INFO,
    ServiceEventKind.FILTERS_LOADED: logging.INFO,
    ServiceEventKind.FILTERS_NOT_LOADED: logging.ERROR,
    ServiceEventKind.FILTERS_FOR_NEW_CONNECTIONS: logging.INFO,
    ServiceEventKind.RECORDING_STOPPED: logging.ERROR,
    ServiceEventKind.RECORDING_LOSSY: logging.ERROR,
    ServiceEventKind.SPANS_LOST: logging.WARNING,
    ServiceEventKind.RECORDING_RECOVERED: logging.WARNING,
    ServiceEventKind.CONFIG_LOADED: logging.INFO,
    ServiceEventKind.CONFIG_NOT_LOADED: logging.ERROR,
    ServiceEventKind.CONFIG_NEEDS_RESTART: logging.WARNING,
    ServiceEventKind.RELOAD_UNAVAILABLE: logging.INFO,
    ServiceEventKind.DRAINING: logging.INFO,
    ServiceEventKind.STOPPED: logging.INFO,
}
"""The events that are logged."""

_NOTICE_LEVELS = {NoticeKind.OPENED: logging.DEBUG, NoticeKind.CLOSED: logging.DEBUG}


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, message, and those of FIELDS that are known."""

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


class _BoundedQueueHandler(QueueHandler):
    """Leaves out records that find no room: traffic never waits for a reader of the log.

    Before the next one that finds room comes a record that says how many were left out.
    """

    def __init__(self, queue: Queue[logging.LogRecord]) -> None:
        super().__init__(queue)
        self._lost = 0

    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            if self._lost:
                self.queue.put_nowait(_left_out(record, self._lost))
                self._lost = 0
            self.queue.put_nowait(record)
        except Full:
            self._lost += 1


class _PatientListener(QueueListener):
    """Ends after the lines that wait, even if the queue is full."""

    def __init__(self, queue: Queue[Any], writer: logging.Handler) -> None:
        super().__init__(queue, writer)
        self._lines = queue

    def enqueue_sentinel(self) -> None:
        self._lines.put(None)


@contextmanager
def logging_to_stderr(form: str, level: str) -> Iterator[None]:
    """Write log records while the context lasts, and at its end those that still wait.

    form: `text` or `json`.
    """
    writer = logging.StreamHandler()
    writer.setFormatter(JsonLines() if form == "json" else TextLines())
    queue: Queue[logging.LogRecord] = Queue(WAITING)
    handler, listener = _BoundedQueueHandler(queue), _PatientListener(queue, writer)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(level.upper())
    audit_log.setLevel(logging.INFO)
    listener.start()
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        listener.stop()


class ServiceLog:
    """Logs the events of the service. Of notices of one kind at a node it logs one in three
    seconds, with a count of those between."""

    def __init__(self) -> None:
        self._repeats = RepeatLimit()

    def __call__(self, event: AnyEvent) -> None:
        """Log an event, unless it is not for logs or a notice that repeats a recent one."""
        if isinstance(event, ClusterNotice):
            self._log_notice(event)
        elif isinstance(event, ClusterChange):
            _log_change(event)
        elif (level := _LEVELS.get(event.kind)) is not None:
            fields = {"cluster": event.cluster or None, "node": event.node}
            for line in mistakes(event.reason) or [""]:
                log.log(level, "%s%s", event.text, f": {line}" if line else "", extra=fields)

    def _log_notice(self, event: ClusterNotice) -> None:
        notice = event.notice
        connection = notice.connection
        level = _NOTICE_LEVELS.get(notice.kind, logging.WARNING)
        if not log.isEnabledFor(level):
            return
        skipped = self._repeats.passes((event.cluster, notice.kind, connection.upstream), notice.at)
        if skipped is None and level > logging.DEBUG:
            return
        fields = {
            "cluster": event.cluster or None,
            "node": connection.node_id,
            "connection": connection.number,
            "client": connection.client,
            "client_id": connection.client_id,
            "event": notice.kind.name.lower(),
            "skipped": skipped or None,
        }
        log.log(level, "%s", notice.text, extra=fields)


def _left_out(record: logging.LogRecord, count: int) -> logging.LogRecord:
    """Return a record of the same moment that says how many found no room."""
    text = f"{count} lines were left out here: the reader of the log is too slow"
    data = {"name": log.name, "levelno": logging.WARNING, "levelname": "WARNING", "msg": text}
    return logging.makeLogRecord(data | {"created": record.created})


def _log_change(event: ClusterChange) -> None:
    change = event.change
    fields = {
        "cluster": event.cluster or None,
        "event": "change_routed",
        "client": change.client,
        "principal": change.principal,
        "lent": change.lent or None,
        "api": change.api,
        "outcome": change.outcome,
        "node": change.node or None,
    }
    for part, sentence in zip(change.resources, change.sentences, strict=True):
        audit_log.info("%s", sentence, extra={**fields, "resources": part})


def _known(record: logging.LogRecord) -> dict[str, Any]:
    values = ((name, getattr(record, name, None)) for name in FIELDS)
    return {name: value for name, value in values if value is not None}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
