"""Breaks of `admin/transactions`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a61_describe_producers import DescribeProducersRequest, ProducerState

_PRODUCERS = "topics[0].partitions[0].active_producers"

BREAKS: dict[int, Break] = {
    1: gives_error(DescribeProducersRequest, 0),
    2: gives_error(DescribeProducersRequest, 0),
    3: changes(DescribeProducersRequest, sets(_PRODUCERS, [ProducerState()])),
}
