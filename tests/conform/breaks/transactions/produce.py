"""Breaks of `transactions/produce`."""

from breaking import Break, changes, gives_error, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a61_describe_producers import DescribeProducersRequest

_START = "topics[0].partitions[0].active_producers[0].current_txn_start_offset"

BREAKS: dict[int, Break] = {
    1: gives_error(ProduceRequest, 48),
    **dict.fromkeys((2, 3, 4), gives_error(ProduceRequest, 87)),
    **dict.fromkeys((5, 6), gives_error(ProduceRequest, 0)),
    7: gives_error(ProduceRequest, 0, verdict=ConformanceVerdict.DIFFERS),
    8: gives_error(ProduceRequest, 45, only_for=lambda request: request.number == 2),
    9: changes(DescribeProducersRequest, sets(_START, -1)),
}
