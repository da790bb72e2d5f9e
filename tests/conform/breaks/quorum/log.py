"""Breaks of `quorum/kip-853/log`."""

from uuid import UUID

from breaking import Break, changes, sets
from breaking.metadata_log import changes_batches, changes_control_records
from kwire.batches import Record, RecordBatch, build_batch, with_base_offset
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.data.leader_change_message import LeaderChangeMessage

_VOTERS = "topics[0].partitions[0].current_voters"


def _moved(batch: RecordBatch) -> bytes:
    return with_base_offset(batch.data, batch.base_offset + 1, batch.partition_leader_epoch)


def _with_byte(batch: RecordBatch) -> bytes:
    """Add a byte to each metadata record, which no schema has."""
    if batch.is_control:
        return batch.data
    records = [
        Record(value=(record.value or b"") + b"\0", timestamp=record.timestamp)
        for record in batch.records()
    ]
    epoch = batch.partition_leader_epoch
    return build_batch(records, base_offset=batch.base_offset, partition_leader_epoch=epoch)


def _rename_leader(message: LeaderChangeMessage) -> None:
    message.leader_id += 1


BREAKS: dict[int, Break] = {
    1: changes_batches(_moved),
    2: changes_batches(_with_byte),
    3: changes_control_records(LeaderChangeMessage, _rename_leader),
    # What the log says may stand in a snapshot: the other side is changed.
    4: changes(DescribeQuorumRequest, sets(f"{_VOTERS}[*].replica_directory_id", UUID(int=7))),
    5: changes(
        ApiVersionsRequest,
        sets("finalized_features[*].max_version_level", lambda level: level + 1),
    ),
}
