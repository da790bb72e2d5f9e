"""Recording of events: a sink that queues, and a thread that masks secrets, encodes and writes.

If the disk is full or slow, the recording loses events; the traffic does not wait.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Protocol, Self
from uuid import uuid4

import msgspec

from kwire.capture import CannotRecord, CaptureFiles, CaptureRecord, RecordEncoder, set_aside
from kwire.permissions import PRIVATE
from kwire.proxy.capture.records import event_records
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Event, Flow, Notice
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.match_target import MatchTarget
from kwire.text.ids import uuid_text

logger = logging.getLogger(__name__)

QUEUE_LIMIT = 64 * 1024 * 1024
"""Bytes of events that may wait to be written, by default."""

FLUSH_SECONDS = 5.0
"""Seconds after which a block is written though it is not full: a crash loses no more."""

_WAKE = 256 * 1024  # bytes that wake the thread before its pause is over
_PAUSE = 0.1  # seconds


def files_at(path: Path, *, mode: int = PRIVATE, shows_secrets: bool = False) -> CaptureFiles:
    """Open the files of `kwire proxy -w PATH`: numbered files in a directory, else one file.

    A file that a killed process left unfinished is set aside. mode: their permissions.
    shows_secrets: their headers say that secrets are not masked. Raises OSError, CannotRecord.
    """
    if not path.is_dir():
        if not path.suffix:
            raise CannotRecord(f"there is no folder {path}: make it, or record to {path}.avro")
        if not path.parent.is_dir():
            raise CannotRecord(f"there is no folder {path.parent}: make it first")
        if not path.exists():
            set_aside(path)
        return CaptureFiles.single(path, mode=mode, shows_secrets=shows_secrets)
    # To the microsecond: a proxy may be killed and started again within a second.
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    now = time.monotonic()
    return CaptureFiles.numbered(path, stamp, now=now, mode=mode, shows_secrets=shows_secrets)


def log_stop(reason: str) -> None:
    """Log why a recording has stopped: the default if nothing else reports it."""
    logger.error("%s", reason)


class Destination(Protocol):
    """Takes encoded records: CaptureFiles, or a topic. Methods raise OSError, CannotRecord."""

    @property
    def name(self) -> str:
        """The name of the file or topic that is written to, for messages to users."""

    def write(self, now: float, *records: tuple[bytes, ...]) -> None:
        """Write the records of one event, each in pieces; now: monotonic seconds."""

    def tick(self, now: float, flush_after: float) -> None:
        """Do what is due; called several times a second.

        flush_after: seconds for which a record may wait.
        """

    def close(self) -> None:
        """Write what waits, and close."""


class Recorder:
    """A sink that writes events to capture files while the context lasts.

    with Recorder(CaptureFiles.single(path)) as recorder:
        proxy.add_sink(recorder)

    capture: the id of the recording. only: selects flows, else all are recorded. show_secrets: do
    not mask secrets. frame_limit: bytes of a frame that are written, else all. stopped: called in
    the thread, once, with a sentence if the files cannot be written any more. events: written so
    far. dropped: events that found no room in the queue; the capture lacks their numbers.
    """

    def __init__(
        self,
        files: Destination,
        *,
        only: Expression | None = None,
        show_secrets: bool = False,
        frame_limit: int | None = None,
        limit: int = QUEUE_LIMIT,
        stopped: Callable[[str], None] = log_stop,
    ) -> None:
        self._files = files
        self._only = only
        self._show_secrets = show_secrets
        self._limit = limit
        self._stopped = stopped
        self._encoder = RecordEncoder()
        self._queue: deque[tuple[int, float, Event]] = deque()
        self._numbers = count()
        # Bytes. Only the loop changes the first and only the thread the second: no lock is needed.
        self._taken = self._written = 0
        self._wake = Signal()
        self._ending = False
        self._thread = Thread(target=self._run, name="recorder", daemon=True)
        self.capture = uuid_text(uuid4())
        self.frame_limit = frame_limit
        self.failure = ""
        self.events = 0
        self.dropped = 0

    def __call__(self, event: Event) -> None:
        """Take an event from the data path."""
        if self.failure:
            return
        weight = event.weight
        if self._taken - self._written + weight > self._limit:
            self.dropped += 1
            return
        self._taken += weight
        self._queue.append((self.dropped, time.monotonic(), event))
        if self._taken - self._written > _WAKE:
            self._wake.set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ending = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._ending:
                self._wake.wait(_PAUSE)
                self._wake.clear()
                self._drain()
                self._files.tick(time.monotonic(), FLUSH_SECONDS)
            self._drain()
            self._files.close()
        except (OSError, CannotRecord) as error:
            self._fail(error)

    def _drain(self) -> None:
        queue = self._queue
        while queue:
            dropped, now, event = queue.popleft()
            self._written += event.weight
            if self._only is None or isinstance(event, Notice) or _matches(self._only, event):
                # Dropped events leave gaps in the numbers, by which readers count them.
                self._write(next(self._numbers) + dropped, now, event)

    def _write(self, number: int, now: float, event: Event) -> None:
        records = event_records(event, number, self.capture, now, show_secrets=self._show_secrets)
        try:
            encoded = [self._encode(record) for record in records]
        except Exception:  # one event that cannot be encoded must not end the recording
            logger.exception("an event is not recorded: %r", event)
            return
        self._files.write(now, *encoded)
        self.events += 1

    def _encode(self, record: CaptureRecord) -> tuple[bytes, ...]:
        frame, limit = record.frame, self.frame_limit
        if frame is not None and limit is not None and len(frame) > limit:
            record = msgspec.structs.replace(record, frame=frame[:limit])
        return self._encoder.pieces(record)

    def _fail(self, error: Exception) -> None:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        self.failure = f"recording to {self._files.name} stopped: {reason}; traffic goes on"
        self._queue.clear()
        with suppress(OSError, CannotRecord):
            self._files.close()
        self._stopped(self.failure)


def _matches(only: Expression, flow: Flow) -> bool:
    return only(MatchTarget.of_flow(DecodedFlow(flow)))
