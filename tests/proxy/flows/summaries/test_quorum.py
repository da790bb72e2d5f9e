"""Elections and the state of the quorum in one line."""

from typing import Any

import pytest

from kwire.codec.declaration import Request, Response
from kwire.messages import a52_vote as vote
from kwire.messages import a53_begin_quorum_epoch as begin
from kwire.messages import a54_end_quorum_epoch as end
from kwire.messages import a55_describe_quorum as quorum
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.proxy import summarize
from tests.support.proxy.flows.dialogue_flows import rpc


def describe(**answer: Any) -> tuple[Request, Response, int]:
    partition = quorum.ResponsePartitionData(**answer)
    topic = quorum.ResponseTopicData(partitions=[partition])
    return quorum.DescribeQuorumRequest(), quorum.DescribeQuorumResponse(topics=[topic]), 2


def replicas(*ids: int) -> list[quorum.ReplicaState]:
    return [quorum.ReplicaState(replica_id=id_) for id_ in ids]


VOTE = vote.VoteRequest(
    voter_id=3002,
    topics=[
        vote.TopicData(
            partitions=[
                vote.PartitionData(
                    replica_id=3001,
                    replica_epoch=6,
                    last_offset=812,
                    last_offset_epoch=5,
                    pre_vote=True,
                )
            ]
        )
    ],
)


GRANTED = vote.VoteResponse(
    topics=[
        vote.ResponseTopicData(
            partitions=[vote.ResponsePartitionData(leader_id=-1, leader_epoch=6, vote_granted=True)]
        )
    ]
)


BEGIN = begin.BeginQuorumEpochRequest(
    voter_id=3002,
    topics=[begin.TopicData(partitions=[begin.PartitionData(leader_id=3001, leader_epoch=6)])],
    leader_endpoints=[begin.LeaderEndpoint(host="c1", port=9093)],
)


BEGUN = begin.BeginQuorumEpochResponse(
    topics=[
        begin.ResponseTopicData(
            partitions=[begin.ResponsePartitionData(error_code=74, leader_epoch=7)]
        )
    ]
)


END = end.EndQuorumEpochRequest(
    topics=[
        end.TopicData(
            partitions=[
                end.PartitionData(
                    leader_id=3000,
                    leader_epoch=5,
                    preferred_candidates=[
                        end.ReplicaInfo(candidate_id=3002),
                        end.ReplicaInfo(candidate_id=3001),
                    ],
                )
            ]
        )
    ]
)


ENDED = end.EndQuorumEpochResponse(
    topics=[
        end.ResponseTopicData(partitions=[end.ResponsePartitionData(leader_id=-1, leader_epoch=5)])
    ]
)


LINES: list[tuple[Request, Response, int, str]] = [
    (
        *describe(
            leader_id=3000,
            leader_epoch=5,
            high_watermark=812,
            current_voters=replicas(3000, 3001, 3002),
            observers=replicas(1),
        ),
        "voters 3000,3001,3002 + observer 1, leader 3000 epoch 5, HW 812",
    ),
    (
        *describe(error_code=6, leader_id=3001, error_message="ask another"),
        "NOT_LEADER_OR_FOLLOWER (ask another), leader 3001",
    ),
    (
        VOTE,
        GRANTED,
        2,
        "3001 asks 3002 for a pre-vote in epoch 6, log ends at 812 epoch 5:"
        " granted, no leader, epoch 6",
    ),
    (BEGIN, BEGUN, 1, "3001 tells 3002 that it leads epoch 6 at c1:9093: FENCED_LEADER_EPOCH"),
    (
        END,
        ENDED,
        1,
        "3000 resigns from epoch 5, preferred successors 3002,3001: no leader, epoch 5",
    ),
    (
        RemoveRaftVoterRequest(voter_id=3003),
        RemoveRaftVoterResponse(error_code=127, error_message="who?"),
        0,
        "remove voter 3003: VOTER_NOT_FOUND (who?)",
    ),
]


@pytest.mark.parametrize(("request_", "response", "version", "line"), LINES)
def test_a_flow_is_told_in_one_line(
    request_: Request, response: Response, version: int, line: str
) -> None:
    assert summarize(rpc(request_, response, version)) == line
