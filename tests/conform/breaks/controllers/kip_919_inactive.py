"""Breaks of `controllers/kip-919/inactive`."""

from itertools import cycle

from breaking import Break, SeenRequest, changes, gives_error
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a32_describe_configs import DescribeConfigsRequest
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest

_TURNS = cycle((False, True))


def _change(request: SeenRequest) -> bool:
    return request.key != DescribeQuorumRequest.key and request.key != ApiVersionsRequest.key


def _drop_every_second(response: ApiVersionsResponse) -> None:
    """Drop the features of the controller that is asked second, the one that does not lead."""
    if next(_TURNS):
        response.finalized_features = []


BREAKS: dict[int, Break] = {
    1: gives_error(None, 0, only_for=_change),
    2: gives_error(DescribeClusterRequest, 41),
    3: gives_error(AddRaftVoterRequest, 0),
    4: gives_error(RemoveRaftVoterRequest, 0),
    5: gives_error(UpdateRaftVoterRequest, 0),
    6: gives_error(DescribeConfigsRequest, 41),
    7: gives_error(ListPartitionReassignmentsRequest, 35),
    8: changes(ApiVersionsRequest, _drop_every_second),
}
