"""Breaks of `partitions/kip-841/eligibility`."""

from breaking import Break, gives_error
from breaking.metadata_log import changes_records
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a56_alter_partition import AlterPartitionRequest
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord

_ALTERED = gives_error(AlterPartitionRequest, 0)


def _keep_isr(record: PartitionChangeRecord) -> None:
    record.isr = None


def _keep_leader(record: PartitionChangeRecord) -> None:
    record.leader = -2


def _all_in_sync(record: PartitionRecord) -> None:
    record.isr = record.replicas


BREAKS: dict[int, Break] = {
    1: changes_records(PartitionChangeRecord, _keep_isr),
    2: changes_records(PartitionChangeRecord, _keep_leader),
    3: _ALTERED,
    4: _ALTERED,
    5: changes_records(PartitionRecord, _all_in_sync),
    6: gives_error(ElectLeadersRequest, 0),
    7: gives_error(AlterPartitionRequest, 107),
    8: _ALTERED,
}
