"""Batches of the metadata log, in Fetch responses and snapshots: the records with addresses.

VotersRecord in control batches (KIP-853), RegisterBrokerRecord and RegisterControllerRecord in the
others (KIP-631, KIP-919).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

import msgspec

from kwire.batches import Record, RecordBatch, batch_size, build_batch, read_batch
from kwire.batches.compression import Compression
from kwire.batches.control_records import ControlRecordType, read_control_record
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.codec.declaration import Message
from kwire.errors import BatchError, KwireError
from kwire.messages.data.voters_record import VotersRecord
from kwire.messages.index import METADATA_RECORDS
from kwire.proxy.addresses.table import BY_MESSAGE

METADATA_TOPIC = "__cluster_metadata"
METADATA_TOPIC_ID = UUID(int=1)

BATCH_LIMIT = 16 * 1024 * 1024
"""Bytes of the longest batch that is believed; a controller writes up to 8 MiB."""

_TYPES = frozenset(key for key, name in METADATA_RECORDS.items() if name in BY_MESSAGE)


@dataclass(frozen=True, slots=True)
class _Found:
    """A record with addresses: its number in the batch, its message, and its value before."""

    number: int
    message: Message
    encode: Callable[[], bytes]
    before: bytes


class LogBatch:
    """A batch as it came, and the messages in it that have addresses, which may be changed."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._records: list[Record] = []
        self._found: list[_Found] = []
        try:
            batch = read_batch(data)
            if isinstance(batch, RecordBatch):
                self._batch = batch
                self._records = list(batch.records())
                self._found = list(_find(batch, self._records))
        except KwireError:  # whoever reads it is the judge of it
            self._found = []

    @property
    def messages(self) -> Iterator[Message]:
        """Those with addresses."""
        return (found.message for found in self._found)

    def encode(self) -> bytes:
        """The batch as it came, or anew with a new CRC where a message was changed."""
        changed = {one.number: one.encode() for one in self._found if one.encode() != one.before}
        if not changed:
            return self._data
        return _rebuilt(
            self._batch,
            [
                msgspec.structs.replace(record, value=changed.get(number, record.value))
                for number, record in enumerate(self._records)
            ],
        )


def read_log(data: bytes) -> tuple[list[LogBatch], int]:
    """The whole batches, and the position of what is behind them.

    Raises BatchError for what can be no batch.
    """
    batches = []
    position = 0
    while (size := batch_size(data, position)) is not None:
        if size > BATCH_LIMIT:
            raise BatchError(f"a batch of {size} bytes, at most {BATCH_LIMIT} are read")
        if size > len(data) - position:
            break
        batches.append(LogBatch(data[position : position + size]))
        position += size
    return batches, position


def _find(batch: RecordBatch, records: list[Record]) -> Iterator[_Found]:
    for number, record in enumerate(records):
        if batch.is_control:
            control = read_control_record(record)
            if control.type == ControlRecordType.KRAFT_VOTERS:
                message = control.message
                if isinstance(message, VotersRecord):
                    yield _found(number, message, control.version)
            continue
        value = record.value or b""
        if len(value) > 1 and value[1] in _TYPES:
            versioned = read_metadata_record(value)
            if not isinstance(versioned.record, OpaqueRecord):
                yield _Found(number, versioned.record, versioned.encode, versioned.encode())


def _found(number: int, message: Message, version: int) -> _Found:
    return _Found(number, message, lambda: message.encode(version), message.encode(version))


def _rebuilt(batch: RecordBatch, records: list[Record]) -> bytes:
    """The same batch with other records; offsets, epochs and times stay."""
    return build_batch(
        records,
        base_offset=batch.base_offset,
        compression=Compression(batch.compression),
        partition_leader_epoch=batch.partition_leader_epoch,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
        is_control=batch.is_control,
        log_append_time=batch.max_timestamp if batch.timestamp_type == 1 else None,
        delete_horizon=batch.delete_horizon,
        last_offset=batch.last_offset,
        max_timestamp=batch.max_timestamp,
    )
