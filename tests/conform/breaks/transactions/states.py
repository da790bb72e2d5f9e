"""Breaks of `transactions/states`."""

from breaking import Break, changes, gives_error, repairs, sets
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest
from kwire.messages.a66_list_transactions import ListTransactionsRequest


def _in_state(state: str) -> Break:
    return changes(
        DescribeTransactionsRequest, sets("transaction_states[0].transaction_state", state)
    )


def _without(filter: str, value: object) -> Break:
    return repairs(ListTransactionsRequest, sets(filter, value))


BREAKS: dict[int, Break] = {
    1: _in_state("Ongoing"),
    3: _in_state("CompleteAbort"),
    4: _in_state("CompleteCommit"),
    5: gives_error(DescribeTransactionsRequest, 0),
    6: gives_error(DescribeTransactionsRequest, 0),
    8: _without("state_filters", ()),
    10: _without("producer_id_filters", ()),
    11: _without("duration_filter", -1),
    12: _without("transactional_id_pattern", None),
    13: gives_error(ListTransactionsRequest, 0),
}
