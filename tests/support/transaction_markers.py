"""Transaction markers, as brokers write them to partitions."""

from __future__ import annotations

from struct import pack

from kwire.batches import Record
from kwire.batches.control_records import ControlRecordType
from kwire.messages.data.end_txn_marker import EndTxnMarker


def end_transaction_record(*, commit: bool, coordinator_epoch: int) -> Record:
    """Return the marker that ends a transaction in a partition (KIP-98)."""
    type = ControlRecordType.COMMIT if commit else ControlRecordType.ABORT
    body = EndTxnMarker(coordinator_epoch=coordinator_epoch).encode(0)
    return Record(key=pack(">hh", 0, type), value=pack(">h", 0) + body)
