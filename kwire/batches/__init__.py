"""Record batches: the records fields of Produce and Fetch, log segments and snapshots hold them.

Formats 0, 1 and 2 are read and written.

for batch in read_batches(partition.records):
    for record in batch.records():
        ...

data = build_batch([Record(value=b"...")], base_offset=17, compression=Compression.ZSTD)
"""

from kwire.batches.budget import Budget
from kwire.batches.building import build_batch, with_base_offset
from kwire.batches.compression import LIMIT, Compression, Limit
from kwire.batches.current import RecordBatch
from kwire.batches.legacy import LegacyBatch
from kwire.batches.legacy_building import build_legacy_batch
from kwire.batches.reading import Batch, batch_size, read_batch, read_batches
from kwire.batches.record import Record, RecordHeader, TimestampType

__all__ = [
    "LIMIT",
    "Batch",
    "Budget",
    "Compression",
    "LegacyBatch",
    "Limit",
    "Record",
    "RecordBatch",
    "RecordHeader",
    "TimestampType",
    "batch_size",
    "build_batch",
    "build_legacy_batch",
    "read_batch",
    "read_batches",
    "with_base_offset",
]
