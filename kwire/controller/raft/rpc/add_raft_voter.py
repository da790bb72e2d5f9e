"""AddRaftVoter, API key 80: an observer becomes a voter (KIP-853 "Adding voters", "AddVoter"; Java:
AddVoterHandler).

The algorithm has ten steps, over three events and therefore several functions:

1.–6. `handle_request`: check the request and ask the new voter for its ApiVersions.
7.–9. `handle_api_versions_response`: check the new voter and append the VotersRecord.
10.   Answer when the VotersRecord is committed: `high_watermark.advance_high_watermark`.

A change that takes longer than the request timeout is answered by `poll._poll_leader`, one whose
leader resigns by `transitions._leave_leader`.
"""

from __future__ import annotations

from kwire.controller.raft.endpoints import Endpoints, PeerNode, unusable
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.leader_records import append_voters
from kwire.controller.raft.quorum_events import VoterRequestFailed
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Follower, Leader
from kwire.controller.raft.rpc.validation import (
    validate_cluster_id,
    validate_leader_only_request,
    validate_voter_change,
    wrong_cluster_text,
)
from kwire.controller.raft.voter_change import VoterAddition, add_voter_response, refusal
from kwire.controller.raft.voter_set import Voter
from kwire.error_codes import ErrorCode, name
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from kwire.net.negotiation import SOFTWARE_NAME, SOFTWARE_VERSION, VersionRange

KRAFT_VERSION = "kraft.version"


def handle_request(
    replica: Replica, received: RequestReceived, request: AddRaftVoterRequest, now: int
) -> AddRaftVoterResponse | None:
    """Begin to add a voter; return None if the answer comes later.

    1. Another cluster: INCONSISTENT_CLUSTER_ID.
    2. Not the leader: NOT_LEADER_OR_FOLLOWER. Shutting down: BROKER_NOT_AVAILABLE.
    3. No voter id or directory id, no address for the default listener, or one that is `unusable`:
       INVALID_REQUEST.
    4. What `validate_voter_change` finds: another change is pending, this epoch has committed
       nothing, or the latest VotersRecord is not committed: REQUEST_TIMED_OUT; kraft.version is 0:
       UNSUPPORTED_VERSION.
    5. The id votes already, with whatever directory: DUPLICATE_VOTER.
    6. Ask the new voter, at the default listener, for its ApiVersions. If an earlier request to it
       is under way: REQUEST_TIMED_OUT.
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
    endpoints = Endpoints.of(request.listeners)
    listener = replica.config.listener
    node = endpoints.node(voter.id, listener)
    if voter.id < 0 or voter.directory_id is None:
        text = "The new voter needs an id and a directory id."
        return _refused(replica, request, ErrorCode.INVALID_REQUEST, text)
    if reason := unusable(request.listeners):
        return _refused(replica, request, ErrorCode.INVALID_REQUEST, reason)
    if node is None:
        text = f"The new voter needs an address for {listener}."
        return _refused(replica, request, ErrorCode.INVALID_REQUEST, text)
    # 4.
    if problem := validate_voter_change(replica, leader):
        return _refused(replica, request, *problem)
    # 5.
    if voter.id in replica.control_records.voters.ids:
        text = f"Voter id {voter.id} is taken already."
        return _refused(replica, request, ErrorCode.DUPLICATE_VOTER, text)
    # 6. The request cannot tell the voter's kraft.version: an admin sends it for another node.
    if not replica.send(node, build_api_versions_request, now):
        text = f"Voter {voter} has not answered an earlier request yet. Nothing was appended."
        return _refused(replica, request, ErrorCode.REQUEST_TIMED_OUT, text)
    leader.voter_change = VoterAddition(
        token=received.token,
        deadline=now + replica.config.request_timeout_ms,
        voter=voter,
        endpoints=endpoints,
        ack_when_committed=request.ack_when_committed,
    )
    return None


def _refused(
    replica: Replica, request: AddRaftVoterRequest, error: int, text: str | None = None
) -> AddRaftVoterResponse:
    voter = ReplicaKey.from_wire(request.voter_id, request.voter_directory_id)
    replica.emit(refusal(VoterAddition.request, voter, error, text))
    return add_voter_response(error, text)


def build_api_versions_request() -> ApiVersionsRequest:
    """Make the request that step 6 sends to the new voter."""
    return ApiVersionsRequest(
        client_software_name=SOFTWARE_NAME, client_software_version=SOFTWARE_VERSION
    )


def handle_api_versions_response(
    replica: Replica, node: PeerNode, response: ApiVersionsResponse, now: int
) -> bool:
    """Go on with the addition that `handle_request` began; False if the peer needs a pause.

    7. Check the new voter. An error: REQUEST_TIMED_OUT. Its kraft.version range is none, or does
       not have the finalised level: INVALID_REQUEST. It never had the whole log, or did not fetch
       within the last hour: REQUEST_TIMED_OUT. KIP-853 would wait until it has caught up.
    8. Append the VotersRecord, with which the set is in force.
    9. If AckWhenCommitted is false (version 1), answer at once; else step 10 does.
    """
    leader = replica.leader
    change = leader.voter_change if leader else None
    if leader is None or not isinstance(change, VoterAddition):
        return True  # the change has been given up, or its leader has resigned
    if change.voter.id != node.id or change.offset is not None:
        return True
    # 7.
    if response.error_code:
        text = f"Voter {change.voter} answered ApiVersions with {name(response.error_code)}."
        _abort(replica, leader, ErrorCode.REQUEST_TIMED_OUT, text)
        return False
    supported, finalised = _kraft_versions(response), replica.control_records.kraft_version
    # A range from below 0 ends a node of Kafka's that reads it (Java: SupportedVersionRange).
    if supported is None or finalised not in supported or supported.min_version < 0:
        text = f"Voter {change.voter} supports {KRAFT_VERSION} {supported or 0}, not {finalised}."
        _abort(replica, leader, ErrorCode.INVALID_REQUEST, text)
        return True
    # A voter that is far behind would hold up every commit in which its vote counts.
    if not leader.is_caught_up(change.voter, now):
        _abort(replica, leader, ErrorCode.REQUEST_TIMED_OUT, f"Voter {change.voter} lags behind.")
        return True
    # 8.
    voter = Voter(key=change.voter, endpoints=change.endpoints, supported=supported)
    voters = replica.control_records.voters.with_added(voter)
    assert voters is not None
    change.offset = append_voters(replica, leader, voters, now)
    # 9. An observer that adds itself cannot wait for a commit that may need its own fetches.
    if not change.ack_when_committed:
        replica.emit(*change.answer(ErrorCode.NONE))
    return True


def handle_api_versions_failure(replica: Replica, node: PeerNode, error: int) -> None:
    """Fail the addition with REQUEST_TIMED_OUT: the new voter was not reached."""
    leader = replica.leader
    change = leader.voter_change if leader else None
    if leader and isinstance(change, VoterAddition) and change.voter.id == node.id:
        text = f"Voter {change.voter} did not answer ApiVersions: {name(error)}."
        _abort(replica, leader, ErrorCode.REQUEST_TIMED_OUT, text)


def _abort(replica: Replica, leader: Leader, error: int, text: str) -> None:
    if leader.voter_change:
        replica.emit(*leader.voter_change.refuse(error, f"{text} Nothing was appended."))
    leader.voter_change = None


def _kraft_versions(response: ApiVersionsResponse) -> VersionRange | None:
    for feature in response.supported_features:
        if feature.name == KRAFT_VERSION:
            return VersionRange(feature.min_version, feature.max_version)
    return None


def build_request(replica: Replica) -> AddRaftVoterRequest:
    """Make the request of an observer that adds itself (KIP-853 "Controller auto joining").

    It does not wait for the commit.
    """
    config = replica.config
    return AddRaftVoterRequest(
        cluster_id=config.cluster_id,
        timeout_ms=config.request_timeout_ms,
        voter_id=config.node_id,
        voter_directory_id=config.directory_id,
        listeners=config.endpoints.groups(Listener),
        ack_when_committed=False,
    )


def handle_response(
    replica: Replica, node: PeerNode, response: AddRaftVoterResponse, now: int
) -> bool:
    """Start the period anew if this observer joined, votes already, or is to try again.

    After any other error the period goes on, from when this was asked.
    """
    if error := response.error_code:
        event = VoterRequestFailed(
            request=VoterAddition.request,
            leader_id=node.id,
            error=name(error),
            reason=response.error_message,
        )
        replica.emit(event)
    expected = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.DUPLICATE_VOTER)
    if error not in expected:
        return False
    if isinstance(replica.role, Follower):
        replica.role.update_voter_deadline = now + replica.config.fetch_timeout_ms
    return True
