"""Breaks of `answers/quorum`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest

BREAKS: dict[int, Break] = {
    1: changes(VoteRequest, sets("node_endpoints[*].port", 1)),
    2: changes(BeginQuorumEpochRequest, sets("topics[0].partitions[0].leader_id", 7)),
    3: changes(EndQuorumEpochRequest, sets("topics[0].partitions[0].leader_epoch", 0)),
    4: changes(UpdateRaftVoterRequest, sets("current_leader.port", 1)),
    5: gives_error(AddRaftVoterRequest, 0),
    6: gives_error(RemoveRaftVoterRequest, 0),
    7: changes(FetchRequest, sets("responses[0].partitions[0].high_watermark", 0)),
    8: changes(FetchSnapshotRequest, sets("topics[0].partitions[0].position", 7)),
    9: changes(
        DescribeQuorumRequest,
        sets("topics[0].partitions[0].high_watermark", 0),
        only_for=0,
    ),
    10: changes(
        DescribeQuorumRequest, sets("topics[0].partitions[0].observers[*].log_end_offset", -1)
    ),
}
