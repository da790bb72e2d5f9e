"""Vote, API key 52: a replica asks for a vote (KIP-595, KIP-853 "Vote"), or whether it would get
one (KIP-996 PreVote)."""

from __future__ import annotations

from kwire.controller.raft.endpoints import PeerNode
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.quorum_events import VoteGranted, VoteRejected
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Candidate, Prospective, Unattached
from kwire.controller.raft.rpc.leader_and_epoch import (
    handle_election_response,
    leader_id_or_sentinel,
    node_endpoints,
)
from kwire.controller.raft.rpc.partition import only_partition
from kwire.controller.raft.rpc.validation import (
    validate_cluster_id,
    validate_voter_key,
    validate_voter_only_request,
)
from kwire.controller.raft.transitions import (
    Reason,
    lose_pre_vote,
    record_vote,
    report_lost_election,
    to_candidate,
    to_leader,
    to_unattached,
)
from kwire.error_codes import ErrorCode, name
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages import a52_vote as messages
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


def handle_request(
    replica: Replica, received: RequestReceived, request: VoteRequest, now: int
) -> VoteResponse:
    """Answer a candidate or prospective (KafkaRaftClient.handleVoteRequest).

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Another partition: INVALID_REQUEST.
    2. A negative last offset or last epoch, or a last epoch that is not lower than the candidate's
       epoch (in a pre-vote: that is greater): INVALID_REQUEST.
    3. A lower epoch: FENCED_LEADER_EPOCH. No candidate id, or an epoch that leaves no room for
       elections: INVALID_REQUEST.
    4. A greater epoch: become unattached in it, before anything is answered.
    5. Addressed to another voter id or directory: INVALID_VOTER_KEY.
    6. The role decides, from the candidate's key and from whether its log ends no earlier
       (`Role.can_grant_vote`).
    7. A granted vote, but not a pre-vote, is on the disk before it is answered.
    """
    # 1.
    if error := validate_cluster_id(replica, request.cluster_id):
        return VoteResponse(error_code=error)
    requested = only_partition(request.topics)
    if requested is None:
        return VoteResponse(error_code=ErrorCode.INVALID_REQUEST)
    # 2. A candidate stands in an epoch in which nobody has written yet; a prospective has not
    # raised its epoch, in which its log may well have records.
    last, epoch = requested.last_offset_epoch, requested.replica_epoch
    is_epoch_wrong = last > epoch if requested.pre_vote else last >= epoch
    if requested.last_offset < 0 or last < 0 or is_epoch_wrong:
        return _response(replica, received, ErrorCode.INVALID_REQUEST)
    # 3.
    if error := validate_voter_only_request(replica, requested.replica_id, epoch):
        _report_rejection(replica, requested, f"{name(error)}, in epoch {replica.epoch} here")
        return _response(replica, received, error)
    # 4.
    if epoch > replica.epoch:
        to_unattached(replica, epoch, None, now)
    # 5.
    receiver = ReplicaKey.from_wire(request.voter_id, requested.voter_directory_id)
    if error := validate_voter_key(replica, receiver):
        _report_rejection(replica, requested, f"the request is for voter {receiver}")
        return _response(replica, received, error)
    # 6.
    candidate = ReplicaKey.from_wire(requested.replica_id, requested.replica_directory_id)
    log_end = OffsetAndEpoch(offset=requested.last_offset, epoch=last)
    pre_vote = requested.pre_vote
    granted = replica.role.can_grant_vote(
        candidate, is_up_to_date=log_end >= replica.log.end, pre_vote=pre_vote
    )
    if granted:
        replica.emit(VoteGranted(candidate=candidate, epoch=epoch, pre_vote=pre_vote))
    else:
        _report_rejection(replica, requested, _rejection_reason(replica, candidate, pre_vote))
    # 7. `Replica.become` emits PersistElection, which stands before the Reply.
    if granted and not pre_vote:
        record_vote(replica, candidate, now)
    return _response(replica, received, granted=granted)


def _rejection_reason(replica: Replica, candidate: ReplicaKey, pre_vote: bool) -> str:
    """Return why `Role.can_grant_vote` says no."""
    role = replica.role
    if pre_vote and isinstance(role, Unattached | Prospective):
        return "its log ends before this one"
    if role.leader_id is not None:
        return f"controller {role.leader_id} leads this epoch"
    if role.voted_key is not None and not role.voted_key.covers(candidate):
        return f"the vote of this epoch went to {role.voted_key}"
    return "its log ends before this one"


def _report_rejection(replica: Replica, requested: messages.PartitionData, reason: str) -> None:
    event = VoteRejected(
        candidate=ReplicaKey.from_wire(requested.replica_id, requested.replica_directory_id),
        epoch=requested.replica_epoch,
        pre_vote=requested.pre_vote,
        reason=reason,
    )
    replica.emit(event)


def _response(
    replica: Replica,
    received: RequestReceived,
    error: int = ErrorCode.NONE,
    *,
    granted: bool = False,
) -> VoteResponse:
    partition = messages.ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=leader_id_or_sentinel(replica),
        leader_epoch=replica.epoch,
        vote_granted=granted,
    )
    return VoteResponse(
        topics=[messages.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        node_endpoints=node_endpoints(replica, received, messages.NodeEndpoint, since=1),
    )


def build_request(replica: Replica, voter: ReplicaKey) -> VoteRequest:
    """Make the request to one voter: a prospective's for a pre-vote, a candidate's for a vote."""
    end, key = replica.log.end, replica.config.key
    partition = messages.PartitionData(
        partition_index=METADATA_PARTITION,
        replica_epoch=replica.epoch,
        replica_id=key.id,
        replica_directory_id=key.wire_directory_id,
        voter_directory_id=voter.wire_directory_id,
        last_offset_epoch=end.epoch,
        last_offset=end.offset,
        pre_vote=isinstance(replica.role, Prospective),
    )
    return VoteRequest(
        cluster_id=replica.config.cluster_id,
        voter_id=voter.id,
        topics=[messages.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
    )


def handle_response(replica: Replica, node: PeerNode, response: VoteResponse, now: int) -> bool:
    """Count an answer, which may decide the election; False if the peer needs a pause."""

    def count(partition: messages.ResponsePartitionData) -> None:
        _record_answer(replica, node.id, partition.vote_granted, now)

    return handle_election_response(replica, response, now, count)


def _record_answer(replica: Replica, voter: int, granted: bool, now: int) -> None:
    role = replica.role
    # Answers that come after the election was decided have no effect.
    if not isinstance(role, Prospective | Candidate):
        return
    was_rejected = role.epoch_election.is_vote_rejected
    role.epoch_election.record_vote(voter, granted=granted)
    if role.epoch_election.is_vote_granted:
        if isinstance(role, Candidate):
            to_leader(replica, role, now)
        else:
            to_candidate(replica, Reason.PRE_VOTES_GRANTED, now)
    elif role.epoch_election.is_vote_rejected and isinstance(role, Prospective):
        lose_pre_vote(replica, now)
    elif role.epoch_election.is_vote_rejected and not was_rejected:
        report_lost_election(replica, role)


def handle_failure(replica: Replica, error: int, now: int) -> bool:
    """Stand for election without pre-votes if a voter is too old to know them (KIP-996).

    Return True if so: the next Vote may follow at once.
    """
    if error == ErrorCode.UNSUPPORTED_VERSION and isinstance(replica.role, Prospective):
        to_candidate(replica, Reason.PRE_VOTE_UNSUPPORTED, now)
        return True
    return False
