"""Breaks of `transactions/offsets`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a09_offset_fetch import OffsetFetchRequest
from kwire.messages.a25_add_offsets_to_txn import AddOffsetsToTxnRequest
from kwire.messages.a28_txn_offset_commit import TxnOffsetCommitRequest
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest

_OFFSET = "groups[0].topics[0].partitions[0].committed_offset"
_STATE = "transaction_states[0].transaction_state"
_ADDED = gives_error(AddOffsetsToTxnRequest, 0)
_COMMITTED = gives_error(TxnOffsetCommitRequest, 0)

BREAKS: dict[int, Break] = {
    1: gives_error(AddOffsetsToTxnRequest, 48),
    2: changes(DescribeTransactionsRequest, sets(_STATE, "Empty")),
    **dict.fromkeys((3, 4, 5), _ADDED),
    6: changes(OffsetFetchRequest, sets(_OFFSET, 5)),
    7: gives_error(OffsetFetchRequest, 0),
    8: changes(OffsetFetchRequest, sets(_OFFSET, -1)),
    9: changes(OffsetFetchRequest, sets(_OFFSET, 7)),
    **dict.fromkeys((10, 11, 12), _COMMITTED),
}
