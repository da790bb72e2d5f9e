"""Elections and the state of the metadata quorum (KIP-595, KIP-853, KIP-996)."""

from __future__ import annotations

from typing import Protocol

from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ResponsePartitionData,
)
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.summaries.parts import endpoints, failed, few, ids, leader, with_answer


class EpochAnswer(Protocol):
    """A partition in the answer to BeginQuorumEpoch or EndQuorumEpoch."""

    error_code: int
    leader_id: int
    leader_epoch: int


def vote(decoded: DecodedFlow) -> str | None:
    """Return the candidate, the voter it asks and the epoch, and if the vote was granted."""
    request = decoded.request_as(VoteRequest)
    if request is None:
        return None
    wishes = [
        f"{partition.replica_id} asks {_voter(request.voter_id)}"
        f" for a {'pre-vote' if partition.pre_vote else 'vote'} in epoch {partition.replica_epoch},"
        f" log ends at {partition.last_offset} epoch {partition.last_offset_epoch}"
        for topic in request.topics
        for partition in topic.partitions
    ]
    response = decoded.response_as(VoteResponse)
    return with_answer(few(wishes), _voted(response) if response is not None else "")


def _voted(response: VoteResponse) -> str:
    if response.error_code:
        return failed(response.error_code)
    partitions = [partition for topic in response.topics for partition in topic.partitions]
    return few(
        [
            failed(partition.error_code)
            or f"{'granted' if partition.vote_granted else 'refused'}, "
            f"{leader(partition.leader_id, partition.leader_epoch)}"
            for partition in partitions
        ]
    )


def begin_quorum_epoch(decoded: DecodedFlow) -> str | None:
    """Return the leader that announces itself, and the voter's answer."""
    request = decoded.request_as(BeginQuorumEpochRequest)
    if request is None:
        return None
    where = endpoints(request.leader_endpoints)
    phrases = [
        f"{partition.leader_id} tells {_voter(request.voter_id)}"
        f" that it leads epoch {partition.leader_epoch}"
        for topic in request.topics
        for partition in topic.partitions
    ]
    asked = few(phrases) + (f" at {where}" if where else "")
    response = decoded.response_as(BeginQuorumEpochResponse)
    if response is None:
        return asked
    partitions = [partition for topic in response.topics for partition in topic.partitions]
    return with_answer(
        asked, failed(response.error_code) or few([_epoch(partition) for partition in partitions])
    )


def end_quorum_epoch(decoded: DecodedFlow) -> str | None:
    """Return the leader that resigns, and its preferred successors."""
    request = decoded.request_as(EndQuorumEpochRequest)
    if request is None:
        return None
    phrases = []
    for topic in request.topics:
        for partition in topic.partitions:
            after = partition.preferred_successors or tuple(
                candidate.candidate_id for candidate in partition.preferred_candidates
            )
            successors = f", preferred successors {ids(after)}" if after else ""
            phrases.append(
                f"{partition.leader_id} resigns from epoch {partition.leader_epoch}{successors}"
            )
    response = decoded.response_as(EndQuorumEpochResponse)
    if response is None:
        return few(phrases)
    partitions = [partition for topic in response.topics for partition in topic.partitions]
    answered = failed(response.error_code) or few([_epoch(partition) for partition in partitions])
    return with_answer(few(phrases), answered)


def describe_quorum(decoded: DecodedFlow) -> str | None:
    """Return voters, observers, leader and high watermark."""
    response = decoded.response_as(DescribeQuorumResponse)
    if response is None:
        return "who leads?" if decoded.request_as(DescribeQuorumRequest) else None
    if response.error_code:
        return failed(response.error_code, response.error_message)
    return few([_quorum(partition) for topic in response.topics for partition in topic.partitions])


def _quorum(partition: ResponsePartitionData) -> str:
    if partition.error_code:
        leads = f", leader {partition.leader_id}" if partition.leader_id >= 0 else ""
        return failed(partition.error_code, partition.error_message) + leads
    voters = ids(replica.replica_id for replica in partition.current_voters)
    observers = ids(replica.replica_id for replica in partition.observers)
    watching = f" + observer{'s' if ',' in observers else ''} {observers}" if observers else ""
    leads = leader(partition.leader_id, partition.leader_epoch)
    return f"voters {voters}{watching}, {leads}, HW {partition.high_watermark}"


def _epoch(partition: EpochAnswer) -> str:
    return failed(partition.error_code) or leader(partition.leader_id, partition.leader_epoch)


def _voter(voter_id: int) -> str:
    """Return the voter's id; before KIP-853 the request has none."""
    return str(voter_id) if voter_id >= 0 else "a voter"
