"""One request of each API between replicas."""

from kwire.codec.declaration import Request
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest, PartitionSnapshot, TopicSnapshot
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest
from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.net.quorum_request import quorum_request
from tests.support.controller.raft.single_replica import (
    begin_request,
    end_request,
    fetch_request,
    vote_request,
)
from tests.support.controller.raft.voter_requests import add_request, remove_request

REQUESTS: list[Request] = [
    fetch_request(9, 5, 0, 0, max_wait_ms=0),
    fetch_request(9, 5, 7, 3, max_wait_ms=0),
    vote_request(5),
    vote_request(6),
    begin_request(6),
    end_request(5),
    quorum_request(),
    FetchSnapshotRequest(
        topics=[
            TopicSnapshot(
                name=METADATA_TOPIC, partitions=[PartitionSnapshot(current_leader_epoch=5)]
            )
        ]
    ),
    add_request(2),
    remove_request(7),
    UpdateRaftVoterRequest(current_leader_epoch=5, voter_id=7),
]
