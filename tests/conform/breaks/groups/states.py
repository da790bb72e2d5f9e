"""Breaks of `groups/states`."""

from breaking import Break, changes, gives_error, repairs, sets
from kwire.messages.a15_describe_groups import DescribeGroupsRequest
from kwire.messages.a16_list_groups import ListGroupsRequest
from kwire.messages.a42_delete_groups import DeleteGroupsRequest

_DELETED = gives_error(DeleteGroupsRequest, 0)


def _in_state(state: str) -> Break:
    return changes(DescribeGroupsRequest, sets("groups[0].group_state", state))


BREAKS: dict[int, Break] = {
    3: _in_state("Stable"),
    5: _in_state("Stable"),
    6: _in_state("Stable"),
    8: repairs(ListGroupsRequest, sets("states_filter", ())),
    9: repairs(ListGroupsRequest, sets("types_filter", ())),
    10: _DELETED,
    11: _DELETED,
    12: gives_error(DeleteGroupsRequest, 68, only_for=lambda request: request.number == 1),
}
