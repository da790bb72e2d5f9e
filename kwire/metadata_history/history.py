"""The changes of a log, oldest first: each with its offset, time, epoch and leader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from kwire.batches import RecordBatch
from kwire.batches.control_records import ControlRecord, read_control_record
from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord, read_metadata_record
from kwire.image import EMPTY, MetadataImage, apply, apply_all
from kwire.image.changes import MetadataChanges
from kwire.logdir.snapshots import SnapshotContent
from kwire.messages.config_resource import ResourceType
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.topic import TopicRecord
from kwire.metadata_history.entries import (
    Entry,
    entries,
    partition_path,
    unknown_entries,
    voter_entries,
)
from kwire.observer.observer import LogStart
from kwire.observer.raft_state import RaftState

CLOCK_TOLERANCE_MS = 1000
"""Milliseconds by which a leader's first record may be older than its predecessor's last one."""


class Origin(Enum):
    """The place of a change. CHECKPOINT: its value was set at or before the offset."""

    LOG = "log"
    CHECKPOINT = "checkpoint"
    FORMATTING = "formatting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place of a change in the log.

    offset: of the record, the first one of what made a topic; None for formatting. timestamp:
    milliseconds since 1970, by the leader's clock, below 0 for none. leader_id: of the epoch, None
    if the log does not say.
    """

    offset: int | None
    epoch: int
    timestamp: int
    leader_id: int | None
    origin: Origin = Origin.LOG


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedChange:
    """A change of one value."""

    place: Place
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockStep:
    """Leaders whose clocks disagree: the record at `later` is older than that at `earlier`."""

    earlier: Place
    later: Place


@dataclass(slots=True)
class History:
    """Takes a log's batches in their order, and gives the changes of each.

    known_from: the offset before which changes are not known. end: the offset after the last
    record. leaders: of epochs whose leader is known from elsewhere than the log. wanted: returns
    False for the path of a partition that may be left out. clock_steps: where time goes back from
    one leader to the next.
    """

    leaders: dict[int, int] = field(default_factory=dict)
    wanted: Callable[[str], bool] = lambda path: True
    known_from: int = 0
    end: int = 0
    clock_steps: list[ClockStep] = field(default_factory=list)
    _raft: RaftState = RaftState()
    _image: MetadataImage = EMPTY
    _before: MetadataImage = EMPTY
    _open: list[tuple[Place, list[VersionedRecord]]] = field(default_factory=list)
    _latest: Place | None = None

    def format(self, checkpoint: SnapshotContent) -> Iterator[LoggedChange]:
        """Yield the voters of the checkpoint that formatting wrote (KIP-853).

        The first leader writes the rest of it into the log.
        """
        place = Place(
            offset=None,
            epoch=0,
            timestamp=checkpoint.last_contained_log_timestamp,
            leader_id=None,
            origin=Origin.FORMATTING,
        )
        yield from self._quorum(RaftState.of_snapshot(checkpoint, 0), place)

    def begin(self, start: LogStart) -> Iterator[LoggedChange]:
        """Yield what a checkpoint, or an image at a place of the log, says."""
        place = Place(
            offset=start.place.offset - 1,
            epoch=start.place.epoch,
            timestamp=start.timestamp,
            leader_id=self.leaders.get(start.place.epoch),
            origin=Origin.CHECKPOINT,
        )
        self._image = self._before = start.image
        self.known_from = self.end = start.place.offset
        yield from self._quorum(start.raft, place)
        yield from _at(place, entries(MetadataChanges.between(EMPTY, start.image), self.wanted))
        yield from _at(place, unknown_entries(start.image.unknown, 0))

    def take(self, batch: RecordBatch) -> Iterator[LoggedChange]:
        """Yield the changes of a batch; those of a metadata transaction at its end (KIP-868).

        Raises WireError for a record that is broken, or does not fit.
        """
        if batch.is_control:
            yield from self._control(batch)
        else:
            self._note_time(self._place(batch.base_offset, batch))
            records = [(it.offset, read_metadata_record(it.value or b"")) for it in batch.records()]
            for offset, group in _groups(records):
                yield from self._apply(group, self._place(offset, batch))
        self.end = batch.last_offset + 1

    def _apply(self, group: list[VersionedRecord], place: Place) -> Iterator[LoggedChange]:
        """Apply records; yield their changes once no transaction is open.

        Of a transaction each record has its own place, and one that is aborted changes nothing.
        """
        self._image = _after(self._image, group)
        self._open.append((place, group))
        if self._image.before is not None:
            return
        image, groups = self._before, self._open
        self._before, self._open = self._image, []
        if isinstance(group[-1].record, AbortTransactionRecord):
            return
        if len(groups) == 1 and self._is_unwanted(group, image):
            return
        for own, records in groups:
            inner = [record for record in records if not isinstance(record.record, _MARKS)]
            after = self._image if len(groups) == 1 else _after(image, inner)
            yield from _at(own, entries(MetadataChanges.of(image, after, inner), self.wanted))
            unknown = [record for record in inner if isinstance(record.record, OpaqueRecord)]
            yield from _at(own, unknown_entries(unknown, len(image.unknown)))
            image = after

    def _is_unwanted(self, group: list[VersionedRecord], image: MetadataImage) -> bool:
        """True for a change of a partition that may be left out, as most of a long log are."""
        change = group[0].record
        if len(group) > 1 or not isinstance(change, PartitionChangeRecord):
            return False
        topic = image.topics.by_id[change.topic_id].name
        return not self.wanted(partition_path(topic, change.partition_id))

    def _control(self, batch: RecordBatch) -> Iterator[LoggedChange]:
        for record in batch.records():
            control = read_control_record(record)
            if isinstance(control.message, LeaderChangeMessage):
                self.leaders[batch.partition_leader_epoch] = control.message.leader_id
            place = self._place(record.offset, batch)
            self._note_time(place)
            yield from self._quorum(self._raft.with_record(control, batch), place)
            if control.message is None:
                yield from _at(place, [_unknown(control)])

    def _quorum(self, after: RaftState, place: Place) -> Iterator[LoggedChange]:
        before, self._raft = self._raft, after
        old, new = before.leader_id, after.leader_id
        found = []
        if before.leader_change is not after.leader_change:
            found.append(Entry(path="/raft/leader", before=old, after=new))
        if before.kraft_version != after.kraft_version:
            levels = before.kraft_version, after.kraft_version
            found.append(Entry(path="/raft/kraftVersion", before=levels[0], after=levels[1]))
        if after.voters is not None:
            found += voter_entries(before.voters, after.voters)
        yield from _at(place, found)

    def _place(self, offset: int, batch: RecordBatch) -> Place:
        epoch = batch.partition_leader_epoch
        return Place(
            offset=offset,
            epoch=epoch,
            timestamp=batch.max_timestamp,
            leader_id=self.leaders.get(epoch),
        )

    def _note_time(self, place: Place) -> None:
        latest = self._latest
        if place.timestamp <= 0:
            return
        if latest is not None and latest.epoch != place.epoch:
            if place.timestamp + CLOCK_TOLERANCE_MS < latest.timestamp:
                self.clock_steps.append(ClockStep(earlier=latest, later=place))
            self._latest = place
        elif latest is None or place.timestamp > latest.timestamp:
            self._latest = place


_MARKS = (BeginTransactionRecord, EndTransactionRecord)


def _after(image: MetadataImage, records: list[VersionedRecord]) -> MetadataImage:
    # For a single record, a delta of all costs more than the record.
    return apply(image, records[0]) if len(records) == 1 else apply_all(image, records)


def _unknown(control: ControlRecord) -> Entry:
    version = f", version {control.version}" if control.version >= 0 else ""
    return Entry(
        path=f"/raft/unknownRecords/{control.record.offset}",
        before=None,
        after=f"control record type {int(control.type)}{version}",
    )


def _at(place: Place, found: Iterable[Entry]) -> Iterator[LoggedChange]:
    for entry in found:
        yield LoggedChange(place=place, entry=entry)


def _groups(
    records: Iterable[tuple[int, VersionedRecord]],
) -> Iterator[tuple[int, list[VersionedRecord]]]:
    """Yield the records that make one thing: a new topic with its partitions and configuration."""
    group: list[VersionedRecord] = []
    first = 0
    for offset, record in records:
        if group and not _belongs(record, group[0]):
            yield first, group
            group = []
        if not group:
            first = offset
        group.append(record)
    if group:
        yield first, group


def _belongs(record: VersionedRecord, first: VersionedRecord) -> bool:
    topic, message = first.record, record.record
    if not isinstance(topic, TopicRecord):
        return False
    if isinstance(message, PartitionRecord):
        return message.topic_id == topic.topic_id
    return (
        isinstance(message, ConfigRecord)
        and message.resource_type == ResourceType.TOPIC
        and message.resource_name == topic.name
    )


def blame(changes: Iterable[LoggedChange]) -> list[LoggedChange]:
    """Return, for each value that is there at the end, the change that set it last, by its path.

    Of a thing that came as a whole, each field has the change that brought it.
    """
    found: dict[str, dict[str | None, LoggedChange]] = {}
    for change in changes:
        entry = change.entry
        if entry.field is not None:
            found.setdefault(entry.path, {})[entry.field] = change
        elif entry.after is None:
            found.pop(entry.path, None)
        elif isinstance(entry.after, dict):
            found[entry.path] = {
                name: replace(change, entry=replace(entry, field=name, before=None, after=value))
                for name, value in entry.after.items()
            }
        else:
            found[entry.path] = {None: change}
    return [change for path in sorted(found) for change in found[path].values()]
