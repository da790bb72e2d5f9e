"""AddRaftVoter, API key 80: an observer becomes a voter (KIP-853, AddVoterHandler)."""

from __future__ import annotations

from kwire.controller.raft.endpoints import Endpoints, Node
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.leader_records import append_voters
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Follower, Leader
from kwire.controller.raft.rpc import checks
from kwire.controller.raft.rpc.voter_checks import not_ready_for_change
from kwire.controller.raft.voter_change import VoterAddition, added
from kwire.controller.raft.voter_set import Voter
from kwire.error_codes import ErrorCode, name
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from kwire.net.negotiation import SOFTWARE_NAME, SOFTWARE_VERSION, VersionRange

KRAFT_VERSION = "kraft.version"


def handle(
    replica: Replica, received: RequestReceived, request: AddRaftVoterRequest, now: int
) -> AddRaftVoterResponse | None:
    """Begin to add a voter; the answer comes when the change is committed.

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Not the leader: NOT_LEADER_OR_FOLLOWER.
    2. No voter id or directory id, or no address for the default listener: INVALID_REQUEST.
    3. Another change is pending: REQUEST_TIMED_OUT.
    4. No record of this epoch is committed, so that older changes may still win:
       REQUEST_TIMED_OUT.
    5. kraft.version is 0: UNSUPPORTED_VERSION.
    6. The latest VotersRecord is not committed: REQUEST_TIMED_OUT.
    7. The id votes already, with whatever directory: DUPLICATE_VOTER.
    8. Ask the new voter, at the default listener, for its ApiVersions; if a request to it is under
       way: REQUEST_TIMED_OUT. `versions_answered` goes on from there.
    """
    if error := checks.cluster_id(replica, request.cluster_id):
        return added(error, checks.wrong_cluster_text(replica, request.cluster_id))
    if error := checks.for_leader(replica, replica.epoch):
        return added(error)
    leader = replica.leader
    assert leader is not None
    voter = ReplicaKey.from_wire(request.voter_id, request.voter_directory_id)
    refusal = (
        _malformed(replica, voter, request)
        or not_ready_for_change(replica, leader)
        or _taken(replica, voter)
    )
    if refusal:
        return added(*refusal)
    return _begin(replica, leader, received, request, now)


def _malformed(
    replica: Replica, voter: ReplicaKey, request: AddRaftVoterRequest
) -> tuple[ErrorCode, str] | None:
    listener = replica.config.listener
    if voter.id < 0 or voter.directory_id is None:
        return ErrorCode.INVALID_REQUEST, "The new voter needs an id and a directory id."
    if not Endpoints.of(request.listeners).address(listener):
        return ErrorCode.INVALID_REQUEST, f"The new voter needs an address for {listener}."
    return None


def _taken(replica: Replica, voter: ReplicaKey) -> tuple[ErrorCode, str] | None:
    if voter.id not in replica.history.voters.ids:
        return None
    return ErrorCode.DUPLICATE_VOTER, f"Voter id {voter.id} is taken already."


def _begin(
    replica: Replica,
    leader: Leader,
    received: RequestReceived,
    request: AddRaftVoterRequest,
    now: int,
) -> AddRaftVoterResponse | None:
    voter = ReplicaKey.from_wire(request.voter_id, request.voter_directory_id)
    endpoints = Endpoints.of(request.listeners)
    node = endpoints.node(voter.id, replica.config.listener)
    if node is None or not replica.send(node, versions_request, now):
        text = f"Voter {voter} has not answered an earlier request yet. Nothing was appended."
        return added(ErrorCode.REQUEST_TIMED_OUT, text)
    leader.change = VoterAddition(
        token=received.token,
        deadline=now + replica.config.request_timeout_ms,
        voter=voter,
        endpoints=endpoints,
        ack_when_committed=request.ack_when_committed,
    )
    return None


def versions_request() -> ApiVersionsRequest:
    """What a leader asks a new voter."""
    return ApiVersionsRequest(
        client_software_name=SOFTWARE_NAME, client_software_version=SOFTWARE_VERSION
    )


def versions_answered(
    replica: Replica, node: Node, response: ApiVersionsResponse, now: int
) -> bool:
    """Go on with the addition.

    1. An error: REQUEST_TIMED_OUT.
    2. Its kraft.version range has not the finalised level: INVALID_REQUEST.
    3. It never had the whole log, or did not fetch within the hour: REQUEST_TIMED_OUT.
    4. Append the VotersRecord, with which the set is in force.
    5. Answer at once if AckWhenCommitted is false (version 1), else when the new set has
       committed it; REQUEST_TIMED_OUT if that takes longer than the request timeout.
    """
    leader = replica.leader
    change = leader.change if leader else None
    if leader is None or not isinstance(change, VoterAddition):
        return True
    if change.voter.id != node.id or change.offset is not None:
        return True
    if response.error_code:
        text = f"Voter {change.voter} answered ApiVersions with {name(response.error_code)}."
        _abort(replica, leader, ErrorCode.REQUEST_TIMED_OUT, text)
        return False
    supported, finalised = _kraft_versions(response), replica.history.kraft_version
    if supported is None or finalised not in supported:
        text = f"Voter {change.voter} supports {KRAFT_VERSION} {supported or 0}, not {finalised}."
        _abort(replica, leader, ErrorCode.INVALID_REQUEST, text)
    elif not leader.is_caught_up(change.voter, now):
        text = f"Voter {change.voter} lags behind."
        _abort(replica, leader, ErrorCode.REQUEST_TIMED_OUT, text)
    else:
        _append(replica, leader, change, supported, now)
    return True


def _append(
    replica: Replica, leader: Leader, change: VoterAddition, supported: VersionRange, now: int
) -> None:
    voter = Voter(key=change.voter, endpoints=change.endpoints, supported=supported)
    voters = replica.history.voters.with_added(voter)
    assert voters is not None
    change.offset = append_voters(replica, leader, voters, now)
    if not change.ack_when_committed:
        replica.emit(*change.answer(ErrorCode.NONE))


def _abort(replica: Replica, leader: Leader, error: int, text: str) -> None:
    if leader.change:
        replica.emit(*leader.change.answer(error, f"{text} Nothing was appended."))
    leader.change = None


def _kraft_versions(response: ApiVersionsResponse) -> VersionRange | None:
    for feature in response.supported_features:
        if feature.name == KRAFT_VERSION:
            return VersionRange(feature.min_version, feature.max_version)
    return None


def versions_failed(replica: Replica, node: Node, error: int) -> None:
    """The new voter is not reached: REQUEST_TIMED_OUT."""
    leader = replica.leader
    change = leader.change if leader else None
    if leader and isinstance(change, VoterAddition) and change.voter.id == node.id:
        text = f"Voter {change.voter} did not answer ApiVersions: {name(error)}."
        _abort(replica, leader, ErrorCode.REQUEST_TIMED_OUT, text)


def request(replica: Replica) -> AddRaftVoterRequest:
    """What an observer sends of its own accord (auto-join); it does not wait for the commit."""
    config = replica.config
    return AddRaftVoterRequest(
        cluster_id=config.cluster_id,
        timeout_ms=config.request_timeout_ms,
        voter_id=config.node_id,
        voter_directory_id=config.directory_id,
        listeners=config.endpoints.groups(Listener),
        ack_when_committed=False,
    )


def answered(replica: Replica, node: Node, response: AddRaftVoterResponse, now: int) -> bool:
    """Joined, or there already, or to be tried again: the period begins anew.

    After any other error it goes on, from when this was asked.
    """
    done = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.DUPLICATE_VOTER)
    if response.error_code not in done:
        return False
    if isinstance(replica.role, Follower):
        replica.role.voter_deadline = now + replica.config.fetch_timeout_ms
    return True
