"""The records with addresses in batches of the metadata log, from Fetch responses and snapshots.

They are VotersRecord in control batches (KIP-853), RegisterBrokerRecord and
RegisterControllerRecord in the others (KIP-631, KIP-919).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from kwire.batches import (
    Budget,
    Compression,
    Record,
    RecordBatch,
    batch_size,
    build_batch,
    read_batch,
)
from kwire.batches.control_records import ControlRecordType, read_control_record
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.codec.declaration import Message
from kwire.errors import BatchError, KwireError, TooLarge
from kwire.messages.data.voters_record import VotersRecord
from kwire.messages.index import METADATA_RECORDS
from kwire.proxy.flows.node_addresses import FIELDS_BY_MESSAGE

BATCH_LIMIT = 16 * 1024 * 1024
"""Bytes of the longest batch that is read; a controller writes up to 8 MiB."""

_TYPES = frozenset(key for key, name in METADATA_RECORDS.items() if name in FIELDS_BY_MESSAGE)


@dataclass(frozen=True, slots=True)
class _AddressRecord:
    """A record with addresses.

    number: its index in the batch. encode: encodes the message as it is now. before: its first
    encoding, to see whether the message was changed.
    """

    number: int
    message: Message
    encode: Callable[[], bytes]
    before: bytes


class LogBatch:
    """A batch and the messages in it that have addresses, which the caller may change.

    too_large: it was not looked into, since the budget did not suffice.
    """

    def __init__(self, data: bytes, budget: Budget) -> None:
        self._data = data
        self._records: list[Record] = []
        self._address_records: list[_AddressRecord] = []
        self.too_large = False
        try:
            batch = read_batch(data)
            if isinstance(batch, RecordBatch):
                self._batch = batch
                self._records = list(budget.read(batch))
                self._address_records = list(_address_records(batch, self._records))
        except TooLarge:
            self.too_large = True
        except KwireError:  # it passes as it is: its reader will report what is wrong with it
            self._address_records = []

    @property
    def messages(self) -> Iterator[Message]:
        """The messages with addresses."""
        return (record.message for record in self._address_records)

    def encode(self) -> bytes:
        """Return the batch; if a message was changed, encode it again with a new CRC."""
        changed = {
            record.number: record.encode()
            for record in self._address_records
            if record.encode() != record.before
        }
        if not changed:
            return self._data
        return _rebuild(
            self._batch,
            [
                msgspec.structs.replace(record, value=changed.get(number, record.value))
                for number, record in enumerate(self._records)
            ],
        )


def read_log(data: bytes, budget: Budget) -> tuple[list[LogBatch], int]:
    """Split data into whole batches; return them and the position behind the last one.

    A response may end within a batch. Raises BatchError if the data cannot be batches.
    """
    batches = []
    position = 0
    while (size := batch_size(data, position)) is not None:
        if size > BATCH_LIMIT:
            raise BatchError(f"a batch of {size} bytes, at most {BATCH_LIMIT} are read")
        if size > len(data) - position:
            break
        batches.append(LogBatch(data[position : position + size], budget))
        position += size
    return batches, position


def _address_records(batch: RecordBatch, records: list[Record]) -> Iterator[_AddressRecord]:
    for number, record in enumerate(records):
        if batch.is_control:
            control = read_control_record(record)
            if control.type == ControlRecordType.KRAFT_VOTERS:
                message = control.message
                if isinstance(message, VotersRecord):
                    yield _control_record(number, message, control.version)
            continue
        # byte 0 is the frame version, byte 1 the record's type, as long as it is below 128
        value = record.value or b""
        if len(value) > 1 and value[1] in _TYPES:
            versioned = read_metadata_record(value)
            if not isinstance(versioned.record, OpaqueRecord):
                yield _AddressRecord(number, versioned.record, versioned.encode, versioned.encode())


def _control_record(number: int, message: Message, version: int) -> _AddressRecord:
    return _AddressRecord(number, message, lambda: message.encode(version), message.encode(version))


def _rebuild(batch: RecordBatch, records: list[Record]) -> bytes:
    """Encode a batch with other records; offsets, epochs and times stay."""
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
