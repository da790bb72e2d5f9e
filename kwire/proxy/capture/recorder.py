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
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Protocol, Self
from uuid import uuid4

import msgspec

from kwire.capture import CannotRecord, CaptureFiles, CaptureRecord, RecordEncoder, set_aside
from kwire.capture.file import Encoded
from kwire.permissions import PRIVATE
from kwire.proxy.capture.flow_batches import LONG, FlowBatchEncoder, Stamped
from kwire.proxy.capture.freed_memory import FreedMemory
from kwire.proxy.capture.records import event_records
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Event, Flow
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

    def write(self, now: float, *records: Encoded) -> None:
        """Write the records of one event, or those of several; now: monotonic seconds."""

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
        self._queue: deque[Flow | Stamped] = deque()
        self._number = 0
        # Events dropped: as the loop last stamped one with them, and as the thread has read it.
        self._lost_stamped = self._lost = 0
        # Bytes. Only the loop changes the first and only the thread the second: no lock is needed.
        self._taken = self._written = 0
        self._wake = Signal()
        self._ending = False
        self._memory = FreedMemory()
        self._thread = Thread(target=self._run, name="recorder", daemon=True)
        self.capture = uuid_text(uuid4())
        self.frame_limit = frame_limit
        self._batches = self._batch_encoder()
        self.failure = ""
        self.events = 0
        self.dropped = 0

    def __call__(self, event: Event) -> None:
        """Take an event from the data path."""
        if self.failure:
            return
        taken = self._taken + event.weight
        waiting = taken - self._written
        if waiting > self._limit:
            self.dropped += 1
            return
        self._taken = taken
        if self.dropped == self._lost_stamped and type(event) is Flow:
            self._queue.append(event)
        else:
            self._lost_stamped = self.dropped
            self._queue.append(Stamped(event, self.dropped, time.monotonic()))
        if waiting > _WAKE and not self._wake.is_set():
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
                now = time.monotonic()
                self._files.tick(now, FLUSH_SECONDS)
                self._memory.tick(now)
            self._drain()
            self._files.close()
        except (OSError, CannotRecord) as error:
            self._fail(error)
        finally:
            self._memory.release()

    def _drain(self) -> None:
        while self._queue:
            event = self._queue.popleft() if self._batches is None else self._write_batch()
            if event is not None:
                self._write_event(*event if isinstance(event, Stamped) else (event, self._lost))

    def _write_batch(self) -> Flow | Stamped | None:
        """Write usual flows, and return the event behind them."""
        assert self._batches is not None
        batch, event = self._batches.encode(self._queue, self._number + self._lost)
        if batch.flows:
            now = time.monotonic()
            self._written += batch.weight
            if batch.has_long:
                self._memory.use(now)
            self._files.write(now, *batch.records)
            self._number += batch.flows
            self.events += batch.flows
        return event

    def _write_event(self, event: Event, lost: int, at: float = 0.0) -> None:
        now, weight = time.monotonic(), event.weight
        self._written += weight
        self._lost = lost
        if weight >= LONG:
            self._memory.use(now)
        if self._only is not None and isinstance(event, Flow) and not _matches(self._only, event):
            return
        # Dropped events leave gaps in the numbers, by which readers count them.
        number = self._number + lost
        self._number += 1
        records = event_records(event, number, self.capture, at, show_secrets=self._show_secrets)
        try:
            encoded = [self._encode(record) for record in records]
        except Exception:  # one event that cannot be encoded must not end the recording
            logger.exception("an event is not recorded: %r", event)
            return
        self._files.write(now, *encoded)
        self.events += 1

    def _batch_encoder(self) -> FlowBatchEncoder | None:
        """Return what encodes many flows in one call, None if each has to be looked at."""
        if self._only is not None:
            return None
        try:
            return FlowBatchEncoder(
                self.capture, show_secrets=self._show_secrets, frame_limit=self.frame_limit
            )
        except ImportError:
            return None

    def _encode(self, record: CaptureRecord) -> Encoded:
        record = self._cut(record)
        # A long frame is summed while it is written: each further look at it costs as much again.
        is_long = len(record.frame or b"") >= LONG
        return self._encoder.encode_open(record) if is_long else self._encoder.encode(record)

    def _cut(self, record: CaptureRecord) -> CaptureRecord:
        frame, limit = record.frame, self.frame_limit
        if frame is None or limit is None or len(frame) <= limit:
            return record
        return msgspec.structs.replace(record, frame=frame[:limit])

    def _fail(self, error: Exception) -> None:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        self.failure = f"recording to {self._files.name} stopped: {reason}; traffic goes on"
        self._queue.clear()
        with suppress(OSError, CannotRecord):
            self._files.close()
        self._stopped(self.failure)


def _matches(only: Expression, flow: Flow) -> bool:
    return only(MatchTarget.of_flow(DecodedFlow(flow)))
