"""Breaks of `transactions/partitions`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a24_add_partitions_to_txn import AddPartitionsToTxnRequest
from kwire.messages.a26_end_txn import EndTxnRequest
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest

_API = AddPartitionsToTxnRequest
_ACCEPTED = gives_error(_API, 0)
_CODE = "results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code"
_PARTITIONS = "transaction_states[*].topics[*].partitions"

BREAKS: dict[int, Break] = {
    1: changes(_API, sets(_CODE, 48), only_for=lambda request: request.number == 2),
    **dict.fromkeys((2, 3, 4, 5, 6, 7, 9), _ACCEPTED),
    8: gives_error(EndTxnRequest, 0),
    10: gives_error(_API, 48, only_for=4),
    11: gives_error(_API, 0, only_for=4),
    12: gives_error(_API, 0, only_for=5),
    13: changes(DescribeTransactionsRequest, sets(_PARTITIONS, (0, 1))),
    14: gives_error(_API, 0, only_for=4),
}
