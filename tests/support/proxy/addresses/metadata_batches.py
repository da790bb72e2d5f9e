"""Batches of the metadata log."""

from kwire.batches import Compression, Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord


def batch(*records: MetadataRecord, compression: Compression = Compression.NONE) -> bytes:
    values = [VersionedRecord(record=record, version=0).encode() for record in records]
    return build_batch(
        [Record(value=value, timestamp=50 + number) for number, value in enumerate(values)],
        base_offset=102,
        partition_leader_epoch=5,
        compression=compression,
        last_offset=110,
        max_timestamp=99,
    )
