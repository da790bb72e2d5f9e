"""Metadata logs on disk, made of batches as a test wants them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from kwire.batches import Record, build_batch
from kwire.batches.control_records import QuorumMessage, quorum_record
from kwire.batches.metadata_records import OpaqueRecord, VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.logdir.names import segment_name
from kwire.messages.data.leader_change_message import LeaderChangeMessage, Voter

NOON = 1_795_000_000_000
"""Milliseconds since 1970."""


@dataclass
class WrittenLog:
    """A segment that grows batch by batch, at the epoch and the time of its leader."""

    folder: Path
    base: int = 0
    epoch: int = 1
    time: int = NOON
    data: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.next = self.base

    def lead(
        self, leader_id: int, epoch: int, time: int | None = None, voters: tuple[int, ...] = ()
    ) -> None:
        """Begin an epoch."""
        self.epoch, self.time = epoch, self.time if time is None else time
        named = [Voter(voter_id=voter) for voter in voters]
        self.control(LeaderChangeMessage(leader_id=leader_id, voters=named))

    def control(self, *messages: QuorumMessage) -> None:
        self._write([quorum_record(message, timestamp=self.time) for message in messages], True)

    def control_value(self, key: bytes, value: bytes) -> None:
        self._write([Record(key=key, value=value, timestamp=self.time)], True)

    def add(self, *records: MetadataRecord | OpaqueRecord, version: int = 0) -> int:
        """Write a batch; return the offset of its first record."""
        values = (VersionedRecord(record=record, version=version).encode() for record in records)
        return self._write([Record(value=value, timestamp=self.time) for value in values], False)

    def save(self) -> Path:
        """Write the file; return its path."""
        path = self.folder / segment_name(self.base)
        path.write_bytes(self.data)
        return path

    def _write(self, records: Iterable[Record], control: bool) -> int:
        first, listed = self.next, list(records)
        self.data += build_batch(
            listed,
            base_offset=first,
            partition_leader_epoch=self.epoch,
            is_control=control,
        )
        self.next += len(listed)
        self.time += 1000
        return first
