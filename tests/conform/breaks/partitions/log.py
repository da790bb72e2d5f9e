"""Breaks of `partitions/kip-841/log`."""

from breaking import Break
from breaking.metadata_log import changes_records
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord

_STRANGER = 987_654


def _widen_isr(record: PartitionRecord) -> None:
    record.isr = (*record.isr, _STRANGER)


def _lead_from_outside(record: PartitionRecord) -> None:
    record.leader = _STRANGER


def _put_elsewhere(record: PartitionRecord) -> None:
    record.replicas = record.isr = (_STRANGER,)
    record.leader = _STRANGER


def _double(record: PartitionRecord) -> None:
    record.replicas = record.replicas * 2


def _begin_late(record: PartitionRecord) -> None:
    record.leader_epoch = 3


def _raise_epoch(record: RegisterBrokerRecord) -> None:
    record.broker_epoch += 1 << 40


BREAKS: dict[int, Break] = {
    1: changes_records(PartitionRecord, _widen_isr),
    2: changes_records(PartitionRecord, _lead_from_outside),
    3: changes_records(PartitionRecord, _begin_late),
    4: changes_records(PartitionRecord, _put_elsewhere),
    5: changes_records(PartitionRecord, _double),
    6: changes_records(RegisterBrokerRecord, _raise_epoch),
}
