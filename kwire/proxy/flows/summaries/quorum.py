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
from kwire.proxy.flows.summaries.parts import endpoints, failed, few, ids, leader, outcome


class EpochAnswer(Protocol):
    """A partition in the answer to BeginQuorumEpoch or EndQuorumEpoch."""

    error_code: int
    leader_id: int
    leader_epoch: int


def vote(decoded: DecodedFlow) -> str | None:
    """Who wants whose vote in which epoch, and whether it is granted."""
    request = decoded.request_as(VoteRequest)
    if request is None:
        return None
    wanted = [
        f"{one.replica_id} asks {_voter(request.voter_id)}"
        f" for a {'pre-vote' if one.pre_vote else 'vote'} in epoch {one.replica_epoch},"
        f" log ends at {one.last_offset} epoch {one.last_offset_epoch}"
        for topic in request.topics
        for one in topic.partitions
    ]
    response = decoded.response_as(VoteResponse)
    return outcome(few(wanted), _voted(response) if response is not None else "")


def _voted(response: VoteResponse) -> str:
    if response.error_code:
        return failed(response.error_code)
    partitions = [one for topic in response.topics for one in topic.partitions]
    return few(
        [
            failed(one.error_code)
            or f"{'granted' if one.vote_granted else 'refused'}, "
            f"{leader(one.leader_id, one.leader_epoch)}"
            for one in partitions
        ]
    )


def begin_quorum_epoch(decoded: DecodedFlow) -> str | None:
    """Who says that it leads, and what the voter says to that."""
    request = decoded.request_as(BeginQuorumEpochRequest)
    if request is None:
        return None
    where = endpoints(request.leader_endpoints)
    said = [
        f"{one.leader_id} tells {_voter(request.voter_id)} that it leads epoch {one.leader_epoch}"
        for topic in request.topics
        for one in topic.partitions
    ]
    asked = few(said) + (f" at {where}" if where else "")
    response = decoded.response_as(BeginQuorumEpochResponse)
    if response is None:
        return asked
    partitions = [one for topic in response.topics for one in topic.partitions]
    return outcome(asked, failed(response.error_code) or few([_epoch(one) for one in partitions]))


def end_quorum_epoch(decoded: DecodedFlow) -> str | None:
    """Who resigns, and whom it would like to succeed it."""
    request = decoded.request_as(EndQuorumEpochRequest)
    if request is None:
        return None
    said = []
    for topic in request.topics:
        for one in topic.partitions:
            after = one.preferred_successors or tuple(
                candidate.candidate_id for candidate in one.preferred_candidates
            )
            successors = f", preferred successors {ids(after)}" if after else ""
            said.append(f"{one.leader_id} resigns from epoch {one.leader_epoch}{successors}")
    response = decoded.response_as(EndQuorumEpochResponse)
    if response is None:
        return few(said)
    partitions = [one for topic in response.topics for one in topic.partitions]
    answered = failed(response.error_code) or few([_epoch(one) for one in partitions])
    return outcome(few(said), answered)


def describe_quorum(decoded: DecodedFlow) -> str | None:
    """Voters, observers, leader and high watermark."""
    response = decoded.response_as(DescribeQuorumResponse)
    if response is None:
        return "who leads?" if decoded.request_as(DescribeQuorumRequest) else None
    if response.error_code:
        return failed(response.error_code, response.error_message)
    return few([_quorum(one) for topic in response.topics for one in topic.partitions])


def _quorum(one: ResponsePartitionData) -> str:
    if one.error_code:
        leads = f", leader {one.leader_id}" if one.leader_id >= 0 else ""
        return failed(one.error_code, one.error_message) + leads
    voters = ids(replica.replica_id for replica in one.current_voters)
    observers = ids(replica.replica_id for replica in one.observers)
    watching = f" + observer{'s' if ',' in observers else ''} {observers}" if observers else ""
    leads = leader(one.leader_id, one.leader_epoch)
    return f"voters {voters}{watching}, {leads}, HW {one.high_watermark}"


def _epoch(one: EpochAnswer) -> str:
    return failed(one.error_code) or leader(one.leader_id, one.leader_epoch)


def _voter(voter_id: int) -> str:
    """Before KIP-853 the request does not say whom it is for."""
    return str(voter_id) if voter_id >= 0 else "a voter"
