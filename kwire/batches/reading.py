"""Finds the batches in a buffer, whatever their format."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.batches.current import RecordBatch
from kwire.batches.layout import HEAD, MAGIC, PREFIX, START_LAYOUT
from kwire.batches.legacy import LEAST, LegacyBatch
from kwire.errors import BatchError

Batch = RecordBatch | LegacyBatch
"""They have the same properties; those that a format does not know have Kafka's default."""


def batch_size(data: bytes | bytearray | memoryview, position: int = 0) -> int | None:
    """Return the size of the batch at `position` in bytes; None if too few are left to tell.

    Raises BatchError for a length or a format that no batch has.
    """
    left = len(data) - position
    if left < PREFIX:
        return None
    _, length = START_LAYOUT.unpack_from(data, position)
    if length < LEAST:
        raise BatchError(f"a length of {length}, at least {LEAST} wanted", offset=position)
    if left < HEAD:
        return None
    if data[position + MAGIC] > 2:
        raise BatchError(f"format {data[position + MAGIC]} is unknown", offset=position)
    return int(length) + PREFIX


def read_batch(
    data: bytes | bytearray | memoryview, position: int = 0, *, check_crc: bool = True
) -> Batch | None:
    """Return the batch at `position`, `batch.size` bytes long; None if the bytes end before.

    That is no error: a Fetch response may end in the middle of a batch.
    """
    size = batch_size(data, position)
    if size is None or size > len(data) - position:
        return None
    own = bytes(data[position : position + size])
    batch: Batch = RecordBatch.read(own) if own[MAGIC] == 2 else LegacyBatch.read(own)
    if check_crc:
        batch.check()
    return batch


def read_batches(
    data: bytes | bytearray | memoryview, *, check_crc: bool = True
) -> Iterator[Batch]:
    """Yield all whole batches, one after the other; none of their records is touched yet."""
    position = 0
    while (batch := read_batch(data, position, check_crc=check_crc)) is not None:
        yield batch
        position += batch.size
