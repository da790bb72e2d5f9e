"""RemoveRaftVoter, API key 81: a voter becomes an observer (KIP-853, RemoveVoterHandler)."""

from __future__ import annotations

from kwire.controller.raft.endpoints import Node
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.leader_records import append_voters
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Follower
from kwire.controller.raft.rpc import checks
from kwire.controller.raft.rpc.voter_checks import not_ready_for_change
from kwire.controller.raft.voter_change import VoterRemoval, removed
from kwire.error_codes import ErrorCode
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse


def handle(
    replica: Replica, received: RequestReceived, request: RemoveRaftVoterRequest, now: int
) -> RemoveRaftVoterResponse | None:
    """Remove a voter, perhaps this leader itself; the answer comes when that is committed.

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Not the leader: NOT_LEADER_OR_FOLLOWER.
    2. No voter id or directory id: INVALID_REQUEST.
    3. Another change is pending, or nothing of this epoch is committed: REQUEST_TIMED_OUT.
    4. kraft.version is 0: UNSUPPORTED_VERSION.
    5. The latest VotersRecord is not committed: REQUEST_TIMED_OUT.
    6. No such voter, or the last one: VOTER_NOT_FOUND.
    7. Append the VotersRecord, with which the set is in force. A removed leader leads on, but
       does not count itself.
    8. Answer when the new set has committed it, REQUEST_TIMED_OUT after the request timeout.
       Then a removed leader resigns.
    """
    if error := checks.cluster_id(replica, request.cluster_id):
        return removed(error, checks.wrong_cluster_text(replica, request.cluster_id))
    if error := checks.for_leader(replica, replica.epoch):
        return removed(error)
    leader = replica.leader
    assert leader is not None
    voter = ReplicaKey.from_wire(request.voter_id, request.voter_directory_id)
    if voter.id < 0 or voter.directory_id is None:
        return removed(ErrorCode.INVALID_REQUEST, "The voter needs an id and a directory id.")
    if refusal := not_ready_for_change(replica, leader):
        return removed(*refusal)
    voters = replica.history.voters.without(voter)
    if voters is None:
        listed = ", ".join(str(key) for key in replica.history.voters.keys)
        text = f"{voter} cannot be removed from the voters {listed}."
        return removed(ErrorCode.VOTER_NOT_FOUND, text)
    leader.change = VoterRemoval(
        token=received.token, deadline=now + replica.config.request_timeout_ms
    )
    leader.change.offset = append_voters(replica, leader, voters, now)
    return None


def request(replica: Replica, voter: ReplicaKey) -> RemoveRaftVoterRequest:
    """What an observer sends that finds its id voting with another directory (auto-join)."""
    return RemoveRaftVoterRequest(
        cluster_id=replica.config.cluster_id,
        voter_id=voter.id,
        voter_directory_id=voter.wire_directory_id,
    )


def answered(replica: Replica, node: Node, response: RemoveRaftVoterResponse, now: int) -> bool:
    """Removed, or gone already, or to be tried again: the period begins anew.

    After any other error it goes on, from when this was asked.
    """
    done = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.VOTER_NOT_FOUND)
    if response.error_code not in done:
        return False
    if isinstance(replica.role, Follower):
        replica.role.voter_deadline = now + replica.config.fetch_timeout_ms
    return True
