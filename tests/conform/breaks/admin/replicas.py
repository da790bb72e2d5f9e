"""Breaks of `admin/replicas`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a45_alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    OngoingTopicReassignment,
)

_MOVED = changes(
    AlterPartitionReassignmentsRequest, sets("responses[*].partitions[*].error_code", 0)
)
_ELECTED = changes(
    ElectLeadersRequest, sets("replica_election_results[*].partition_result[*].error_code", 0)
)

BREAKS: dict[int, Break] = {
    **dict.fromkeys((1, 2, 4, 5, 6, 7), _MOVED),
    9: changes(
        ListPartitionReassignmentsRequest, sets("topics", [OngoingTopicReassignment(name="x")])
    ),
    **dict.fromkeys((10, 13), _ELECTED),
    14: gives_error(ElectLeadersRequest, 84),
}
