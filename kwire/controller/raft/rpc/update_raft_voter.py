"""UpdateRaftVoter, API key 82: a voter tells its endpoints and versions (KIP-853)."""

from __future__ import annotations

from kwire.controller.raft.endpoints import NOWHERE, Endpoints, Node
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.leader_records import append_voters
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Follower, Leader
from kwire.controller.raft.rpc import checks
from kwire.controller.raft.rpc.fetch_answer import succeeded
from kwire.controller.raft.rpc.leadership import News, Outcome, leader_id, learn_from_response
from kwire.controller.raft.rpc.voter_checks import are_voters_committed
from kwire.controller.raft.voter_set import Voter, VoterSet
from kwire.error_codes import ErrorCode
from kwire.messages import a82_update_raft_voter as messages
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from kwire.net.negotiation import VersionRange


def handle(
    replica: Replica, received: RequestReceived, request: UpdateRaftVoterRequest, now: int
) -> UpdateRaftVoterResponse:
    """Take a voter's news. Every answer names the leader.

    1. Another cluster: INCONSISTENT_CLUSTER_ID.
    2. FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER, as for Fetch.
    3. No voter id or directory id, no address for the default listener, or a range of versions
       that is none: INVALID_REQUEST.
    4. A voter change is pending, nothing of this epoch is committed, or the latest VotersRecord
       is not: REQUEST_TIMED_OUT.
    5. The range has not the finalised kraft.version: INVALID_REQUEST.
    6. No such voter: VOTER_NOT_FOUND.
    7. Append the VotersRecord; with kraft.version 0 only remember it, directory id included, for
       the upgrade. Answer without waiting for the commit, as Kafka does.
    """
    if error := checks.cluster_id(replica, request.cluster_id):
        return _response(replica, received, error)
    if error := checks.for_leader(replica, request.current_leader_epoch):
        return _response(replica, received, error)
    leader = replica.leader
    assert leader is not None
    voter = _voter(request)
    has_address = voter.endpoints.address(replica.config.listener)
    if voter.key.id < 0 or voter.key.directory_id is None or not has_address:
        return _response(replica, received, ErrorCode.INVALID_REQUEST)
    if not 0 <= voter.supported.min_version <= voter.supported.max_version:
        return _response(replica, received, ErrorCode.INVALID_REQUEST)
    return _response(replica, received, _update(replica, leader, voter, now))


def _voter(request: UpdateRaftVoterRequest) -> Voter:
    feature = request.k_raft_version_feature
    return Voter(
        key=ReplicaKey.from_wire(request.voter_id, request.voter_directory_id),
        endpoints=Endpoints.of(request.listeners),
        supported=VersionRange(feature.min_supported_version, feature.max_supported_version),
    )


def _update(replica: Replica, leader: Leader, voter: Voter, now: int) -> ErrorCode:
    voters = _present_voters(replica, leader)
    if leader.change is not None or voters is None:
        return ErrorCode.REQUEST_TIMED_OUT
    level = replica.history.kraft_version
    if level not in voter.supported:
        return ErrorCode.INVALID_REQUEST
    updated = voters.with_updated(voter, any_directory=not level)
    if updated is None:
        return ErrorCode.VOTER_NOT_FOUND
    if level:
        append_voters(replica, leader, updated, now)
    else:
        leader.volatile_voters = updated
    if leader.heard_from(voter.key):
        leader.quorum_deadline = now + replica.config.check_quorum_timeout_ms
    return ErrorCode.NONE


def _present_voters(replica: Replica, leader: Leader) -> VoterSet | None:
    if leader.high_watermark is None:
        return None
    if not replica.history.kraft_version:
        return leader.volatile_voters
    is_committed = are_voters_committed(replica, leader.high_watermark)
    return replica.history.voters if is_committed else None


def _response(replica: Replica, received: RequestReceived, error: int) -> UpdateRaftVoterResponse:
    address = replica.role.leader_endpoints.address(received.listener)
    return UpdateRaftVoterResponse(
        error_code=error,
        current_leader=messages.CurrentLeader(
            leader_id=leader_id(replica),
            leader_epoch=replica.epoch,
            host=address.host if address else "",
            port=address.port if address else 0,
        ),
    )


def request(replica: Replica) -> UpdateRaftVoterRequest:
    """Tell the leader how this replica is reached and what it can."""
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


def answered(replica: Replica, node: Node, response: UpdateRaftVoterResponse, now: int) -> bool:
    """The leader knows now; UNSUPPORTED_VERSION says that it is too old to care."""
    told, listener = response.current_leader, replica.config.listener
    endpoints = NOWHERE
    if told and told.host:
        endpoints = Endpoints.single(listener, told.host, told.port)
    id = told.leader_id if told else -1
    news = News(
        error=response.error_code,
        epoch=told.leader_epoch if told else -1,
        leader_id=id,
        endpoints=endpoints or replica.history.voters.endpoints(id),
    )
    outcome = learn_from_response(replica, news, now)
    if outcome is not Outcome.READ:
        return outcome is Outcome.DONE
    accepted = (ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION)
    if response.error_code not in accepted or not isinstance(replica.role, Follower):
        return False
    replica.role.has_updated_leader = True
    succeeded(replica, replica.role, now)
    return True
