"""Breaks of `transactions/isolation`."""

from breaking import Break, changes, repairs, sets
from kwire.messages.a01_fetch import AbortedTransaction, FetchRequest
from kwire.messages.a02_list_offsets import ListOffsetsRequest

_PARTITION = "responses[0].partitions[0]"
_NOT_ISOLATED = repairs(FetchRequest, sets("isolation_level", 0))
_ABORTED = AbortedTransaction(producer_id=0, first_offset=0)

BREAKS: dict[int, Break] = {
    1: _NOT_ISOLATED,
    2: repairs(FetchRequest, sets("isolation_level", 1)),
    3: changes(FetchRequest, sets(f"{_PARTITION}.records", b"")),
    4: changes(FetchRequest, sets(f"{_PARTITION}.last_stable_offset", 3)),
    5: changes(FetchRequest, sets(f"{_PARTITION}.last_stable_offset", 1)),
    6: _NOT_ISOLATED,
    7: changes(FetchRequest, sets(f"{_PARTITION}.aborted_transactions", [])),
    8: changes(FetchRequest, sets(f"{_PARTITION}.aborted_transactions", [_ABORTED])),
    9: changes(FetchRequest, sets(f"{_PARTITION}.aborted_transactions", [AbortedTransaction()])),
    10: repairs(ListOffsetsRequest, sets("isolation_level", 0)),
}
