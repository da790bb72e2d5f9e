"""The history of a log in files, or of a running quorum's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kwire.admin.bootstrap import Bootstrap
from kwire.admin.find_quorum import find_quorum
from kwire.batches import RecordBatch
from kwire.errors import ConnectionFailed, FileError, InvalidValue, WireError
from kwire.image import EMPTY, apply_all
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT
from kwire.logdir.snapshots import load_snapshot
from kwire.metadata_history.history import ClockStep, History, LoggedChange, Place
from kwire.metadata_history.log import StoredLog, open_log
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, Security
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts
from kwire.observer import LiveImage
from kwire.observer.observer import LogStart
from kwire.observer.raft_state import RaftState
from kwire.text.times import moment

CLIENT_ID = "kwire-history"


@dataclass(slots=True, kw_only=True)
class HistoryReading:
    """Changes of a log, and what is to be said about them.

    name: of the source. notes: sentences about the source, complete when all changes are read.
    """

    name: str
    history: History
    read: Callable[[HistoryReading], Iterator[LoggedChange]]
    notes: list[str] = field(default_factory=list)

    def changes(self, last: int | None = None) -> Iterator[LoggedChange]:
        """Yield the changes up to the offset `last`, or all.

        Raises FileError where the log is broken, after all that stands before, and InvalidValue for
        an offset of which nothing is known.
        """
        for change in self.read(self):
            if last is None or change.place.offset is None or change.place.offset <= last:
                yield change
        first = max(0, self.history.known_from - 1)
        if last is not None and not first <= last < self.history.end:
            raise InvalidValue(
                f"{self.name} cannot show offset {last}: it has offsets {first} to"
                f" {self.history.end - 1}"
            )

    def sentences(self) -> Iterator[str]:
        """Yield what a reader of the changes has to know."""
        if self.history.known_from:
            yield (
                f"not known before offset {self.history.known_from}: the log begins with a"
                " checkpoint, which has values but not what set them"
            )
        yield from self.notes
        yield from map(_clock_sentence, self.history.clock_steps)


def stored_history(folder: Path, fs: FileSystem = DISK) -> HistoryReading:
    """Return the history of a log in files, to its last whole batch, which may not be committed.

    Raises InvalidValue for a folder without a log, FileError for one that has no beginning.
    """
    log = open_log(folder, fs)

    def read(reading: HistoryReading) -> Iterator[LoggedChange]:
        yield from _beginning(log, reading.history)
        for file, position, batch in log.batches():
            try:
                yield from reading.history.take(batch)
            except WireError as error:
                reason = getattr(error, "reason", None) or str(error)
                raise FileError(reason, file=file, offset=position) from error
        if log.torn:
            reading.notes.append(
                f"the last {log.torn} bytes of the log are no whole batch: the node is writing it,"
                " or has crashed while it wrote"
            )

    return HistoryReading(name=str(folder), history=History(), read=read)


def _beginning(log: StoredLog, history: History) -> Iterator[LoggedChange]:
    if log.start is None:
        if log.is_formatted:
            yield from history.format(load_snapshot(log.folder, BOOTSTRAP_SNAPSHOT, log.fs))
        return
    content = load_snapshot(log.folder, log.start, log.fs)
    image = apply_all(EMPTY, content.records)
    raft = RaftState.of_snapshot(content, log.start.offset)
    yield from history.begin(LogStart(image, log.start, content.last_contained_log_timestamp, raft))


async def live_history(
    bootstrap_controllers: str,
    *,
    security: Security = PLAINTEXT,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
) -> HistoryReading:
    """Return the committed changes that the leader gives: those after its last checkpoint.

    Raises as `live_metadata` does.
    """
    await find_quorum(
        bootstrap_controllers, client_id=CLIENT_ID, security=security, timeouts=timeouts
    )
    addresses = Bootstrap.of(None, bootstrap_controllers).addresses
    connect = SecureConnect(security, CLIENT_ID, timeouts=timeouts)
    live = LiveImage(addresses, open=connect, patience=timeouts.request_seconds)
    batches: list[RecordBatch] = []
    live.observer.on_batch = batches.append
    try:
        async with asyncio.timeout(timeouts.operation), live:
            await live.ready()
    except TimeoutError:
        raise ConnectionFailed(
            f"{bootstrap_controllers}: the metadata log was not read within"
            f" {timeouts.operation:g} s; give it more `timeout`"
        ) from None
    observer = live.observer
    start = observer.start if observer.snapshot is not None else None

    def read(reading: HistoryReading) -> Iterator[LoggedChange]:
        if start is not None:
            yield from reading.history.begin(start)
        for batch in _last_run(batches, start.place.offset if start else 0):
            yield from reading.history.take(batch)

    history = History()
    if observer.leader_id >= 0:
        history.leaders[observer.epoch] = observer.leader_id
    return HistoryReading(name=bootstrap_controllers, history=history, read=read)


def _last_run(batches: list[RecordBatch], begin: int) -> Iterable[RecordBatch]:
    """Return the batches since the observer began anew for the last time."""
    first = max((at for at, batch in enumerate(batches) if batch.base_offset == begin), default=0)
    return batches[first:]


def _clock_sentence(step: ClockStep) -> str:
    back = (step.earlier.timestamp - step.later.timestamp) / 1000
    return (
        f"clocks disagree: time goes back by {back:,.1f} s between {_of_leader(step.earlier)} and"
        f" {_of_leader(step.later)}; the order is that of the offsets"
    )


def _of_leader(place: Place) -> str:
    leader = "a leader" if place.leader_id is None else f"leader {place.leader_id}"
    time = moment(place.timestamp / 1000)
    when = f" ({time:%Y-%m-%d %H:%M:%S} UTC)" if time else ""
    return f"offset {place.offset} of {leader} in epoch {place.epoch}{when}"
