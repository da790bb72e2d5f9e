"""Breaks of `transactions/ends`."""

from collections.abc import Callable
from typing import Any

from breaking import Break, SeenRequest, changes, gives_error, repairs, sets
from kwire.batches import RecordBatch, build_batch, read_batches
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a24_add_partitions_to_txn import AddPartitionsToTxnRequest
from kwire.messages.a26_end_txn import EndTxnRequest
from tests.support.transaction_markers import end_transaction_record

_CODE = "results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code"
_ACCEPTED = gives_error(EndTxnRequest, 0)


def _later(request: SeenRequest) -> bool:
    return request.number > 1


def _built(batch: RecordBatch, **fields: Any) -> bytes:
    """Return a batch with the fields of another, or with these in their place."""
    own: dict[str, Any] = {
        "records": list(batch.records()),
        "base_offset": batch.base_offset,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "is_transactional": batch.is_transactional,
        "is_control": batch.is_control,
    }
    values = own | fields
    return build_batch(values.pop("records"), **values)


def _changes_markers(change: Callable[[RecordBatch], bytes]) -> Break:
    def on_response(body: FetchResponse) -> None:
        for partition in body.responses[0].partitions:
            batches = read_batches(partition.records or b"")
            partition.records = b"".join(
                change(batch) if batch.is_control else _built(batch)
                for batch in batches
                if isinstance(batch, RecordBatch)
            )

    return changes(FetchRequest, on_response)


def _negative_epoch(batch: RecordBatch) -> bytes:
    return _built(batch, records=[end_transaction_record(commit=True, coordinator_epoch=-1)])


def _committed(batch: RecordBatch) -> bytes:
    return _built(batch, records=[end_transaction_record(commit=True, coordinator_epoch=0)])


BREAKS: dict[int, Break] = {
    1: gives_error(EndTxnRequest, 48),
    2: gives_error(EndTxnRequest, 48),
    **dict.fromkeys((3, 6, 7, 8, 9, 10, 11), _ACCEPTED),
    4: gives_error(EndTxnRequest, 48, only_for=_later),
    5: gives_error(EndTxnRequest, 48, only_for=_later),
    12: changes(AddPartitionsToTxnRequest, sets(_CODE, 48), only_for=_later),
    13: repairs(EndTxnRequest, sets("committed", False)),
    14: repairs(EndTxnRequest, sets("committed", True)),
    15: _changes_markers(lambda batch: _built(batch, is_transactional=False)),
    16: _changes_markers(_negative_epoch),
    17: _changes_markers(lambda batch: b""),
    18: _changes_markers(_committed),
    19: _ACCEPTED,
}
