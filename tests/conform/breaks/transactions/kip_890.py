"""Breaks of `transactions/kip-890`."""

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a26_end_txn import EndTxnRequest
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest

_STATE = "transaction_states[0].transaction_state"


def _later(request: SeenRequest) -> bool:
    return request.number > 1


BREAKS: dict[int, Break] = {
    1: changes(DescribeTransactionsRequest, sets(_STATE, "Empty")),
    2: changes(EndTxnRequest, sets("producer_epoch", lambda epoch: epoch - 1)),
    3: gives_error(EndTxnRequest, 90, only_for=_later),
    4: gives_error(ProduceRequest, 0),
    5: gives_error(ProduceRequest, 45, only_for=_later),
    6: gives_error(EndTxnRequest, 48),
    7: gives_error(EndTxnRequest, 0),
    8: gives_error(ProduceRequest, 0),
}
