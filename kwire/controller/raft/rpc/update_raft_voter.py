"""UpdateRaftVoter, API key 82: a voter reports its endpoints (KIP-853 "Automatic endpoint
and directory id discovery", "UpdateVoter"; Java: UpdateVoterHandler)."""

from __future__ import annotations

from kwire.controller.raft.endpoints import NO_ENDPOINTS, Endpoints, PeerNode, unusable
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.leader_records import append_voters
from kwire.controller.raft.quorum_events import VoterRequestFailed
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Follower, Leader
from kwire.controller.raft.rpc.leader_and_epoch import (
    LeaderAndEpoch,
    ResponseOutcome,
    handle_common_response,
    leader_id_or_sentinel,
    reset_fetch_timeout,
)
from kwire.controller.raft.rpc.validation import (
    are_voters_committed,
    validate_cluster_id,
    validate_leader_only_request,
    wrong_cluster_text,
)
from kwire.controller.raft.voter_change import refusal
from kwire.controller.raft.voter_set import Voter, VoterSet
from kwire.error_codes import ErrorCode, name
from kwire.messages import a82_update_raft_voter as messages
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from kwire.net.negotiation import VersionRange


def handle_request(
    replica: Replica, received: RequestReceived, request: UpdateRaftVoterRequest, now: int
) -> UpdateRaftVoterResponse:
    """Record a voter's new endpoints and versions. Every answer names the leader.

    1. Another cluster: INCONSISTENT_CLUSTER_ID.
    2. FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER, BROKER_NOT_AVAILABLE, as
       for Fetch.
    3. No voter id or directory id, no address for the default listener, one that is `unusable`, or
       a range of versions that is none: INVALID_REQUEST.
    4. A voter change is pending, nothing of this epoch is committed, or the latest VotersRecord
       is not: REQUEST_TIMED_OUT.
    5. The range does not have the finalised kraft.version: INVALID_REQUEST (KIP-853 lists
       INVALID_UPDATE).
    6. No such voter: VOTER_NOT_FOUND.
    7. Append the VotersRecord; with kraft.version 0 only remember it, directory id included, for
       the upgrade (`kraft_version_upgrade`).
    8. Answer without waiting for the commit, unlike KIP-853, as UpdateVoterHandler does.
    """
    # 1.
    if error := validate_cluster_id(replica, request.cluster_id):
        text = wrong_cluster_text(replica, request.cluster_id)
        return _refused(replica, received, request, error, text)
    # 2.
    if error := validate_leader_only_request(replica, request.current_leader_epoch):
        return _refused(replica, received, request, error)
    leader = replica.leader
    assert leader is not None
    # 3.
    voter = _voter(request)
    if reason := _malformed(replica, request, voter):
        return _refused(replica, received, request, ErrorCode.INVALID_REQUEST, reason)
    # 4.
    voters = _changeable_voters(replica, leader)
    if isinstance(voters, str):
        return _refused(replica, received, request, ErrorCode.REQUEST_TIMED_OUT, voters)
    # 5.
    level = replica.control_records.kraft_version
    if level not in voter.supported:
        text = f"Voter {voter.key} supports kraft.version {voter.supported}, not {level}."
        return _refused(replica, received, request, ErrorCode.INVALID_REQUEST, text)
    # 6. Static voters have no directory ids; that of the first who tells one is taken.
    updated = voters.with_updated(voter, any_directory=not level)
    if updated is None:
        listed = ", ".join(str(key) for key in voters.keys)
        text = f"{voter.key} is none of the voters {listed}."
        return _refused(replica, received, request, ErrorCode.VOTER_NOT_FOUND, text)
    # 7.
    if level:
        append_voters(replica, leader, updated, now)
    else:
        leader.volatile_voters = updated
    # 8. The voter lives, though it cannot fetch before it has its answer.
    if leader.update_check_quorum(voter.key):
        leader.check_quorum_deadline = now + replica.config.check_quorum_timeout_ms
    return _response(replica, received, ErrorCode.NONE)


def _refused(
    replica: Replica,
    received: RequestReceived,
    request: UpdateRaftVoterRequest,
    error: int,
    reason: str | None = None,
) -> UpdateRaftVoterResponse:
    """Make the response, and tell the operator the reason, for which it has no field."""
    voter = ReplicaKey.from_wire(request.voter_id, request.voter_directory_id)
    replica.emit(refusal("UpdateRaftVoter", voter, error, reason))
    return _response(replica, received, error)


def _malformed(replica: Replica, request: UpdateRaftVoterRequest, voter: Voter) -> str | None:
    if reason := unusable(request.listeners):
        return reason
    if voter.key.id < 0 or voter.key.directory_id is None:
        return "The voter needs an id and a directory id."
    if not voter.endpoints.address(replica.config.listener):
        return f"The voter needs an address for {replica.config.listener}."
    if not 0 <= voter.supported.min_version <= voter.supported.max_version:
        return f"{voter.supported} is no range of kraft.version."
    return None


def _voter(request: UpdateRaftVoterRequest) -> Voter:
    feature = request.k_raft_version_feature
    return Voter(
        key=ReplicaKey.from_wire(request.voter_id, request.voter_directory_id),
        endpoints=Endpoints.of(request.listeners),
        supported=VersionRange(feature.min_supported_version, feature.max_supported_version),
    )


def _changeable_voters(replica: Replica, leader: Leader) -> VoterSet | str:
    """Return the voter set to change, or the reason for which it may not change now."""
    if leader.voter_change is not None:
        return "Another voter change is not finished yet."
    if leader.high_watermark is None:
        return "The leader has committed nothing in its epoch yet."
    if not replica.control_records.kraft_version:
        return leader.volatile_voters or "The static voters do not have this leader."
    if not are_voters_committed(replica, leader.high_watermark):
        return "The latest voter set is not committed yet."
    return replica.control_records.voters


def _response(replica: Replica, received: RequestReceived, error: int) -> UpdateRaftVoterResponse:
    address = replica.role.leader_endpoints.address(received.listener)
    return UpdateRaftVoterResponse(
        error_code=error,
        current_leader=messages.CurrentLeader(
            leader_id=leader_id_or_sentinel(replica),
            leader_epoch=replica.epoch,
            host=address.host if address else "",
            port=address.port if address else 0,
        ),
    )


def build_request(replica: Replica) -> UpdateRaftVoterRequest:
    """Make the request that tells the leader this replica's endpoints and versions."""
    config = replica.config
    return UpdateRaftVoterRequest(
        cluster_id=config.cluster_id,
        current_leader_epoch=replica.epoch,
        voter_id=config.node_id,
        voter_directory_id=config.directory_id,
        listeners=config.endpoints.groups(messages.Listener),
        k_raft_version_feature=messages.KRaftVersionFeature(
            min_supported_version=config.supported_kraft_version.min_version,
            max_supported_version=config.supported_kraft_version.max_version,
        ),
    )


def handle_response(
    replica: Replica, node: PeerNode, response: UpdateRaftVoterResponse, now: int
) -> bool:
    """Note that the leader knows; False if the peer needs a pause.

    1. Take over epoch and leader, as from every response.
    2. UNSUPPORTED_VERSION counts as success: the leader is too old for this RPC.
    3. The leader lives, as after a Fetch.
    """
    # 1.
    current, listener = response.current_leader, replica.config.listener
    endpoints = NO_ENDPOINTS
    if current:
        endpoints = Endpoints.single(listener, current.host, current.port)
    id = current.leader_id if current else -1
    leader_and_epoch = LeaderAndEpoch(
        error=response.error_code,
        epoch=current.leader_epoch if current else -1,
        leader_id=id,
        endpoints=endpoints or replica.control_records.voters.endpoints(id),
    )
    outcome = handle_common_response(replica, leader_and_epoch, now)
    if outcome is not ResponseOutcome.READ:
        return outcome is ResponseOutcome.DONE
    # 2.
    accepted = (ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION)
    if response.error_code not in accepted:
        event = VoterRequestFailed(
            request="UpdateRaftVoter", leader_id=node.id, error=name(response.error_code)
        )
        replica.emit(event)
        return False
    if not isinstance(replica.role, Follower):
        return False
    replica.role.has_updated_leader = True
    # 3.
    reset_fetch_timeout(replica, replica.role, now)
    return True
