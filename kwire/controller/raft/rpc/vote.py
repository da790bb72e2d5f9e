"""Vote, API key 52: a replica asks for a vote (KIP-595), or whether it would get one (KIP-996)."""

from __future__ import annotations

from kwire.controller.raft.endpoints import Node
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.roles import Candidate, Prospective
from kwire.controller.raft.rpc import checks
from kwire.controller.raft.rpc.leadership import leader_id, node_endpoints, read_answer
from kwire.controller.raft.rpc.partition import only_partition
from kwire.controller.raft.transitions import (
    give_up_prospects,
    to_candidate,
    to_leader,
    to_unattached,
    vote,
)
from kwire.error_codes import ErrorCode
from kwire.logdir.names import OffsetAndEpoch
from kwire.messages import a52_vote as messages
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


def handle(
    replica: Replica, received: RequestReceived, request: VoteRequest, now: int
) -> VoteResponse:
    """Answer a candidate or prospective.

    1. Another cluster: INCONSISTENT_CLUSTER_ID. Another partition: INVALID_REQUEST.
    2. A negative last offset or epoch, or a last epoch that is not before the candidate's (for a
       pre-vote: that is behind it): INVALID_REQUEST.
    3. An epoch that is over: FENCED_LEADER_EPOCH. No candidate id: INVALID_REQUEST.
    4. A greater epoch: become unattached in it, before anything is answered.
    5. Meant for another voter id or directory: INVALID_VOTER_KEY.
    6. The role decides, from the candidate's key and from whether its log ends no earlier.
    7. A granted vote, but not a pre-vote, is remembered on the disk before it is answered.
    """
    if error := checks.cluster_id(replica, request.cluster_id):
        return VoteResponse(error_code=error)
    asked = only_partition(request.topics)
    if asked is None:
        return VoteResponse(error_code=ErrorCode.INVALID_REQUEST)
    if error := _malformed(asked) or checks.sent_by_voter(
        replica, asked.replica_id, asked.replica_epoch
    ):
        return _response(replica, received, error)
    if asked.replica_epoch > replica.epoch:
        to_unattached(replica, asked.replica_epoch, None, now)
    receiver = ReplicaKey.from_wire(request.voter_id, asked.voter_directory_id)
    if error := checks.addressed_to(replica, receiver):
        return _response(replica, received, error)
    return _response(replica, received, granted=_is_granted(replica, asked, now))


def _malformed(asked: messages.PartitionData) -> ErrorCode | None:
    last, epoch = asked.last_offset_epoch, asked.replica_epoch
    is_epoch_wrong = last > epoch if asked.pre_vote else last >= epoch
    if asked.last_offset < 0 or last < 0 or is_epoch_wrong:
        return ErrorCode.INVALID_REQUEST
    return None


def _is_granted(replica: Replica, asked: messages.PartitionData, now: int) -> bool:
    candidate = ReplicaKey.from_wire(asked.replica_id, asked.replica_directory_id)
    log_end = OffsetAndEpoch(offset=asked.last_offset, epoch=asked.last_offset_epoch)
    granted = replica.role.grants(
        candidate, is_up_to_date=log_end >= replica.tail.end, pre_vote=asked.pre_vote
    )
    if granted and not asked.pre_vote:
        vote(replica, candidate, now)
    return granted


def _response(
    replica: Replica,
    received: RequestReceived,
    error: int = ErrorCode.NONE,
    *,
    granted: bool = False,
) -> VoteResponse:
    answer = messages.ResponsePartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=leader_id(replica),
        leader_epoch=replica.epoch,
        vote_granted=granted,
    )
    return VoteResponse(
        topics=[messages.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[answer])],
        node_endpoints=node_endpoints(replica, received, messages.NodeEndpoint, since=1),
    )


def request(replica: Replica, voter: ReplicaKey) -> VoteRequest:
    """Ask a voter: a prospective for a pre-vote, a candidate for its vote."""
    end, key = replica.tail.end, replica.config.key
    asked = messages.PartitionData(
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
        topics=[messages.TopicData(topic_name=METADATA_TOPIC, partitions=[asked])],
    )


def answered(replica: Replica, node: Node, response: VoteResponse, now: int) -> bool:
    """Count an answer; it may decide the election."""

    def take(answer: messages.ResponsePartitionData) -> None:
        _count(replica, node.id, answer.vote_granted, now)

    return read_answer(replica, response, now, take)


def _count(replica: Replica, voter: int, granted: bool, now: int) -> None:
    role = replica.role
    if not isinstance(role, Prospective | Candidate):
        return
    role.ballot.record(voter, granted=granted)
    if role.ballot.is_granted:
        if isinstance(role, Candidate):
            to_leader(replica, role, now)
        else:
            to_candidate(replica, now)
    elif role.ballot.is_rejected and isinstance(role, Prospective):
        give_up_prospects(replica, now)


def failed(replica: Replica, error: int, now: int) -> bool:
    """A voter too old to know pre-votes ends them: the prospective stands for election."""
    if error == ErrorCode.UNSUPPORTED_VERSION and isinstance(replica.role, Prospective):
        to_candidate(replica, now)
        return True
    return False
