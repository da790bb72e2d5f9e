"""RemoveRaftVoter, API key 81: a voter becomes an observer (KIP-853 "Removing voters",
"RemoveVoter"; Java: RemoveVoterHandler)."""

from __future__ import annotations

from kwire.controller.raft.endpoints import PeerNode
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.leader_records import append_voters
from kwire.controller.raft.quorum_events import VoterRequestFailed
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Follower
from kwire.controller.raft.rpc.validation import (
    validate_cluster_id,
    validate_leader_only_request,
    validate_voter_change,
    wrong_cluster_text,
)
from kwire.controller.raft.voter_change import VoterRemoval, refusal, remove_voter_response
from kwire.error_codes import ErrorCode, name
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse


def handle_request(
    replica: Replica, received: RequestReceived, request: RemoveRaftVoterRequest, now: int
) -> RemoveRaftVoterResponse | None:
    """Remove a voter, perhaps this leader itself; return None if the answer comes later.

    1. Another cluster: INCONSISTENT_CLUSTER_ID.
    2. Not the leader: NOT_LEADER_OR_FOLLOWER. Shutting down: BROKER_NOT_AVAILABLE.
    3. No voter id or directory id: INVALID_REQUEST.
    4. What `validate_voter_change` finds: another change is pending, this epoch has committed
       nothing, or the latest VotersRecord is not committed: REQUEST_TIMED_OUT; kraft.version is 0:
       UNSUPPORTED_VERSION.
    5. No such voter, or the last one (KIP-853 lists INVALID_REQUEST for it): VOTER_NOT_FOUND.
    6. Append the VotersRecord, with which the set is in force.

    Later, elsewhere:

    7. Answer when the new set has committed it: `high_watermark.advance_high_watermark`; with
       REQUEST_TIMED_OUT after the request timeout: `poll._poll_leader`.
    8. Then a leader that was removed resigns: `high_watermark.advance_high_watermark`.
    """
    # 1.
    if error := validate_cluster_id(replica, request.cluster_id):
        return _refused(replica, request, error, wrong_cluster_text(replica, request.cluster_id))
    # 2.
    if error := validate_leader_only_request(replica, replica.epoch):
        return _refused(replica, request, error)
    leader = replica.leader
    assert leader is not None
    # 3.
    voter = ReplicaKey.from_wire(request.voter_id, request.voter_directory_id)
    if voter.id < 0 or voter.directory_id is None:
        text = "The voter needs an id and a directory id."
        return _refused(replica, request, ErrorCode.INVALID_REQUEST, text)
    # 4.
    if problem := validate_voter_change(replica, leader):
        return _refused(replica, request, *problem)
    # 5.
    voters = replica.control_records.voters.without(voter)
    if voters is None:
        listed = ", ".join(str(key) for key in replica.control_records.voters.keys)
        text = f"{voter} cannot be removed from the voters {listed}."
        return _refused(replica, request, ErrorCode.VOTER_NOT_FOUND, text)
    # 6. A removed leader leads on until step 8, but does not count itself: somebody must commit
    # the record, and only those who stay may decide that (Ongaro 4.2.2).
    leader.voter_change = VoterRemoval(
        voter=voter, token=received.token, deadline=now + replica.config.request_timeout_ms
    )
    leader.voter_change.offset = append_voters(replica, leader, voters, now)
    return None


def _refused(
    replica: Replica, request: RemoveRaftVoterRequest, error: int, text: str | None = None
) -> RemoveRaftVoterResponse:
    voter = ReplicaKey.from_wire(request.voter_id, request.voter_directory_id)
    replica.emit(refusal(VoterRemoval.request, voter, error, text))
    return remove_voter_response(error, text)


def build_request(replica: Replica, voter: ReplicaKey) -> RemoveRaftVoterRequest:
    """Make the request of an observer whose id votes with another directory (auto join).

    The voter is this node with the disk that it had before (KIP-853 "Disk failure recovery").
    """
    return RemoveRaftVoterRequest(
        cluster_id=replica.config.cluster_id,
        voter_id=voter.id,
        voter_directory_id=voter.wire_directory_id,
    )


def handle_response(
    replica: Replica, node: PeerNode, response: RemoveRaftVoterResponse, now: int
) -> bool:
    """Start the period anew if the old voter is removed, gone already, or to be tried again.

    After any other error the period goes on, from when this was asked.
    """
    if error := response.error_code:
        event = VoterRequestFailed(
            request=VoterRemoval.request,
            leader_id=node.id,
            error=name(error),
            reason=response.error_message,
        )
        replica.emit(event)
    expected = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.VOTER_NOT_FOUND)
    if error not in expected:
        return False
    if isinstance(replica.role, Follower):
        replica.role.update_voter_deadline = now + replica.config.fetch_timeout_ms
    return True
