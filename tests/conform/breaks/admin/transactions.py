"""Breaks of `admin/transactions`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a61_describe_producers import DescribeProducersRequest, ProducerState
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest
from kwire.messages.a66_list_transactions import ListTransactionsRequest

_PRODUCERS = "topics[0].partitions[0].active_producers"

BREAKS: dict[int, Break] = {
    1: gives_error(DescribeProducersRequest, 0),
    2: gives_error(DescribeProducersRequest, 0),
    3: changes(DescribeProducersRequest, sets(_PRODUCERS, [ProducerState()])),
    4: gives_error(DescribeTransactionsRequest, 0),
    5: gives_error(DescribeTransactionsRequest, 3),
    6: changes(ListTransactionsRequest, sets("unknown_state_filters", ())),
    7: gives_error(ListTransactionsRequest, 0),
}
