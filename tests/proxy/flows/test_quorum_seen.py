"""The state of a quorum as its traffic tells it, flow by flow."""

from uuid import UUID

from kwire.messages import (
    a52_vote,
    a53_begin_quorum_epoch,
    a54_end_quorum_epoch,
    a55_describe_quorum,
    a80_add_raft_voter,
    a81_remove_raft_voter,
)
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    PartitionData,
    ReplicaState,
)
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.proxy import DecodedFlow
from kwire.proxy.flows.quorum_seen import REPLICAS, QuorumSeen
from tests.support.proxy.flows.decoded_flows import connection, flow


def fetch(
    replica: int,
    offset: int,
    high_watermark: int = 100,
    topic: UUID = METADATA_TOPIC_ID,
    error: int = 0,
) -> DecodedFlow:
    """Node 3000 answers a replica in epoch 5."""
    asked = FetchPartition(current_leader_epoch=5, fetch_offset=offset)
    request = FetchRequest(
        replica_state=ReplicaState(replica_id=replica),
        topics=[FetchTopic(topic_id=topic, partitions=[asked])],
    )
    answer = PartitionData(error_code=error, high_watermark=high_watermark)
    if error:
        answer.current_leader = LeaderIdAndEpoch(leader_id=3002, leader_epoch=7)
    response = FetchResponse(
        responses=[FetchableTopicResponse(topic_id=topic, partitions=[answer])]
    )
    return flow(request, response, 17, on=connection(node_id=3000, peer=replica))


def seen(*flows: DecodedFlow) -> QuorumSeen:
    quorum = QuorumSeen()
    for ended in flows:
        quorum.add(ended)
    return quorum


def test_a_fetch_tells_the_leader_the_high_watermark_and_how_far_the_follower_is() -> None:
    quorum = seen(fetch(3001, 100), fetch(1, 88))
    assert (quorum.leader_id, quorum.epoch, quorum.high_watermark) == (3000, 5, 100)
    assert [
        (replica.node_id, replica.role, quorum.lag(replica)) for replica in quorum.replicas
    ] == [
        (1, "", 12),
        (3000, "voter", 0),
        (3001, "", 0),
    ]


def test_a_node_that_does_not_lead_says_who_does() -> None:
    quorum = seen(fetch(3001, 100), fetch(3001, 100, -1, error=6))
    assert (quorum.leader_id, quorum.epoch) == (3002, 7)


def test_the_past_does_not_come_back() -> None:
    quorum = seen(fetch(3001, 100, error=6), fetch(3001, 100))
    assert (quorum.leader_id, quorum.epoch) == (3002, 7)


def test_other_topics_tell_nothing() -> None:
    quorum = seen(fetch(3001, 5, topic=UUID(int=9)))
    assert (quorum.leader_id, quorum.replicas) == (-1, [])


def test_elections_tell_who_leads() -> None:
    voted = a52_vote.ResponsePartitionData(leader_id=-1, leader_epoch=8)
    vote = a52_vote.VoteResponse(topics=[a52_vote.ResponseTopicData(partitions=[voted])])
    quorum = seen(fetch(3001, 100), flow(a52_vote.VoteRequest(), vote, 2))
    assert (quorum.leader_id, quorum.epoch) == (-1, 8)
    begun = a53_begin_quorum_epoch.PartitionData(leader_id=3001, leader_epoch=8)
    begin = a53_begin_quorum_epoch.BeginQuorumEpochRequest(
        topics=[a53_begin_quorum_epoch.TopicData(partitions=[begun])]
    )
    quorum.add(flow(begin, a53_begin_quorum_epoch.BeginQuorumEpochResponse(), 1))
    assert (quorum.leader_id, quorum.epoch) == (3001, 8)


def roles(quorum: QuorumSeen) -> dict[int, str]:
    return {replica.node_id: replica.role for replica in quorum.replicas}


def test_elections_tell_who_votes_where_no_describe_quorum_has_passed() -> None:
    asked = a52_vote.PartitionData(replica_id=3001, replica_epoch=8)
    vote = a52_vote.VoteRequest(voter_id=3002, topics=[a52_vote.TopicData(partitions=[asked])])
    begun = a53_begin_quorum_epoch.PartitionData(leader_id=3001, leader_epoch=8)
    topics = [a53_begin_quorum_epoch.TopicData(partitions=[begun])]
    begin = a53_begin_quorum_epoch.BeginQuorumEpochRequest(voter_id=3003, topics=topics)
    older = a53_begin_quorum_epoch.BeginQuorumEpochRequest(topics=topics)
    quorum = seen(flow(vote, a52_vote.VoteResponse(), 2))
    assert (quorum.leader_id, roles(quorum)) == (-1, {3001: "voter", 3002: "voter", 3000: "voter"})
    quorum.add(flow(begin, None, 1))
    quorum.add(flow(older, None, 0, on=connection(node_id=3004)))
    quorum.add(fetch(7, 10))
    assert (quorum.leader_id, quorum.epoch) == (3001, 8)
    assert roles(quorum) == dict.fromkeys(range(3000, 3005), "voter") | {7: ""}


def test_voters_that_are_added_and_removed_are_known() -> None:
    added = a80_add_raft_voter.AddRaftVoterRequest(voter_id=7)
    refused = a80_add_raft_voter.AddRaftVoterResponse(error_code=41)
    removed = a81_remove_raft_voter.RemoveRaftVoterRequest(voter_id=7)
    quorum = seen(fetch(7, 10), flow(added, refused, 1))
    assert roles(quorum)[7] == ""
    quorum.add(flow(added, a80_add_raft_voter.AddRaftVoterResponse(), 1))
    assert roles(quorum)[7] == "voter"
    quorum.add(flow(removed, a81_remove_raft_voter.RemoveRaftVoterResponse(), 0))
    assert roles(quorum)[7] == "observer"


def test_describe_quorum_tells_everything() -> None:
    state = a55_describe_quorum.ReplicaState
    partition = a55_describe_quorum.ResponsePartitionData(
        leader_id=3000,
        leader_epoch=5,
        high_watermark=90,
        current_voters=[
            state(replica_id=3000, log_end_offset=91),
            state(replica_id=3001, log_end_offset=80),
        ],
        observers=[state(replica_id=1, log_end_offset=-1)],
    )
    answer = a55_describe_quorum.DescribeQuorumResponse(
        topics=[a55_describe_quorum.ResponseTopicData(partitions=[partition])]
    )
    quorum = seen(flow(a55_describe_quorum.DescribeQuorumRequest(), answer, 2))
    assert (quorum.leader_id, quorum.epoch, quorum.high_watermark) == (3000, 5, 90)
    found = [(replica.node_id, replica.role, quorum.lag(replica)) for replica in quorum.replicas]
    assert found == [(1, "observer", None), (3000, "voter", 0), (3001, "voter", 10)]


def test_made_up_replicas_do_not_fill_the_memory() -> None:
    quorum = seen(*(fetch(number, 1) for number in range(REPLICAS + 50)))
    assert len(quorum.replicas) == REPLICAS


def changes(quorum: QuorumSeen) -> list[tuple[int, str]]:
    return [(change.epoch, change.text) for change in quorum.changes]


def test_elections_leaders_and_voters_are_a_history() -> None:
    partition = a52_vote.PartitionData
    quorum = seen(fetch(3001, 100))
    for voter, pre_vote, epoch in ((3002, True, 5), (3002, False, 6), (3003, False, 6)):
        asked = partition(replica_id=3001, replica_epoch=epoch, pre_vote=pre_vote)
        vote = a52_vote.VoteRequest(voter_id=voter, topics=[a52_vote.TopicData(partitions=[asked])])
        quorum.add(flow(vote, a52_vote.VoteResponse(), 2))
    ended = a54_end_quorum_epoch.PartitionData(leader_id=3000, leader_epoch=5)
    end = a54_end_quorum_epoch.TopicData(partitions=[ended])
    request = a54_end_quorum_epoch.EndQuorumEpochRequest(topics=[end])
    quorum.add(flow(request, a54_end_quorum_epoch.EndQuorumEpochResponse(), 1))
    added = a80_add_raft_voter.AddRaftVoterRequest(voter_id=7)
    removed = a81_remove_raft_voter.RemoveRaftVoterRequest(voter_id=7)
    for _ in range(2):
        quorum.add(flow(added, a80_add_raft_voter.AddRaftVoterResponse(), 1))
        quorum.add(flow(removed, a81_remove_raft_voter.RemoveRaftVoterResponse(), 0))
    voters = [(5, "voter 7 added"), (5, "voter 7 removed")] * 2
    assert changes(quorum) == [
        (5, "3000 leads"),
        (5, "3001 asks for pre-votes"),
        (6, "3001 asks for votes"),
        (5, "3000 resigns"),
        *voters,
    ]
    assert quorum.changes[0].rpc == (7, 5)


def test_a_new_epoch_without_a_leader_and_other_voters_are_changes() -> None:
    voted = a52_vote.ResponsePartitionData(leader_id=-1, leader_epoch=8)
    vote = a52_vote.VoteResponse(topics=[a52_vote.ResponseTopicData(partitions=[voted])])
    state = a55_describe_quorum.ReplicaState
    described = a55_describe_quorum.ResponsePartitionData(
        leader_id=3001, leader_epoch=9, current_voters=[state(replica_id=n) for n in (3001, 3002)]
    )
    answer = a55_describe_quorum.DescribeQuorumResponse(
        topics=[a55_describe_quorum.ResponseTopicData(partitions=[described])]
    )
    quorum = seen(fetch(3001, 100), flow(a52_vote.VoteRequest(), vote, 2))
    for _ in range(2):
        quorum.add(flow(a55_describe_quorum.DescribeQuorumRequest(), answer, 2))
    assert changes(quorum)[1:] == [
        (8, "no leader"),
        (9, "voters 3001, 3002"),
        (9, "3001 leads"),
    ]
