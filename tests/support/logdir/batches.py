"""Batches of metadata records for the tests of the log."""

from kwire.batches import Record, build_batch
from kwire.batches.metadata_records import VersionedRecord
from kwire.logdir.log import LogConfig
from kwire.messages.records.no_op import NoOpRecord

NO_OP = VersionedRecord(record=NoOpRecord(), version=0)

SMALL = LogConfig(segment_bytes=500)


def batch(offset: int, epoch: int = 1, count: int = 1, timestamp: int = 1000) -> bytes:
    records = [Record(value=NO_OP.encode(), timestamp=timestamp)] * count
    return build_batch(records, base_offset=offset, partition_leader_epoch=epoch)
