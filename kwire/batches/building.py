"""Makes record batches of format 2 (KIP-98)."""

from __future__ import annotations

from collections.abc import Iterable
from struct import error as StructError

from crc32c import crc32c

from kwire.batches import current
from kwire.batches.compression import Compression, compress
from kwire.batches.current import APPEND_TIME, CONTROL, DELETE_HORIZON, TRANSACTIONAL
from kwire.batches.layout import PREFIX
from kwire.batches.record import Record
from kwire.batches.records import write_records
from kwire.errors import EncodeError


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    compression: Compression = Compression.NONE,
    partition_leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
    log_append_time: int | None = None,
    delete_horizon: int | None = None,
    last_offset: int | None = None,
    max_timestamp: int | None = None,
) -> bytes:
    """Return a batch of format 2.

    base_offset: of a first record that names none; others may leave gaps, as after compaction.
    log_append_time: the broker's time, in milliseconds, for all records (KIP-32).
    last_offset, max_timestamp: where the batch once had more records than these.
    Raises EncodeError for a number that its field has no room for.
    """
    flags = (
        (APPEND_TIME, log_append_time is not None),
        (TRANSACTIONAL, is_transactional),
        (CONTROL, is_control),
        (DELETE_HORIZON, delete_horizon is not None),
    )
    try:
        written = write_records(records, base_offset, delete_horizon)
        if last_offset is None:
            last_offset = written.last_offset
        if max_timestamp is None:
            max_timestamp = written.latest if log_append_time is None else log_append_time
        return _sealed(
            base_offset,
            partition_leader_epoch,
            compression | sum(flag for flag, is_set in flags if is_set),
            last_offset - base_offset,
            written.base_timestamp,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            written.number,
            body=compress(written.body, compression),
        )
    except (StructError, ValueError) as error:
        raise EncodeError(str(error), message="RecordBatch", version=2) from None


def with_base_offset(batch: bytes, base_offset: int, partition_leader_epoch: int) -> bytes:
    """Return the batch with the offset and epoch of its place in a log; its CRC covers neither."""
    head = base_offset.to_bytes(8, "big", signed=True)
    epoch = partition_leader_epoch.to_bytes(4, "big", signed=True)
    return head + batch[8:12] + epoch + batch[16:]


def _sealed(base_offset: int, epoch: int, *fields: int, body: bytes) -> bytes:
    """Return the batch with its length, magic and CRC-32C in place.

    fields: the bytes after the CRC.
    """
    length = current.LAYOUT.size + len(body) - PREFIX
    batch = bytearray(current.LAYOUT.pack(base_offset, length, epoch, 2, 0, *fields))
    batch += body
    crc = crc32c(memoryview(batch)[current.CHECKED :])
    batch[current.CHECKED - 4 : current.CHECKED] = crc.to_bytes(4, "big")
    return bytes(batch)
