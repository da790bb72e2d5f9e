"""Rows of `quorum` from recorded RPCs: what each tells of the quorum."""

from typing import Any
from uuid import UUID

import pytest

from kwire.codec.declaration import Request, Response
from kwire.messages import a01_fetch as fetch
from kwire.messages import a52_vote as vote
from kwire.messages import a53_begin_quorum_epoch as begin
from kwire.messages import a54_end_quorum_epoch as end
from kwire.messages import a55_describe_quorum as describe
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.tables.captured import CapturedTables
from tests.support.pipeline.captured_rows import DIRECTORY, answered, asked, batch, rpc

Row = dict[str, Any]
TEXT = "AAAAAAAAAAAAAAAAAAAAUA"
"""DIRECTORY as Kafka prints it."""


def quorum(rows: list[Row]) -> list[Row]:
    """Rows of quorum, without what is null."""
    tables = CapturedTables({"quorum"})
    made = [*tables.take(decode_batch(batch(rows))), *tables.finish()]
    return [
        {name: value for name, value in row.items() if value is not None}
        for _, part in made
        for row in part.to_pylist()
    ]


def told(request: Request, response: Response | None, version: int, **changes: Any) -> Row:
    """The columns that the two bodies give."""
    (row,) = quorum(rpc(1, request, response, version, **changes))
    assert row.pop("at")
    assert (row.pop("source"), row.pop("capture"), row.pop("event")) == ("CAPTURE", "c", 1)
    return row


def votes(**fields: Any) -> vote.VoteRequest:
    partition = vote.PartitionData(replica_id=3, replica_epoch=7, last_offset=90, **fields)
    topic = vote.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return vote.VoteRequest(topics=[topic])


def test_a_vote_tells_of_the_candidate_and_of_the_answer() -> None:
    voted = vote.ResponsePartitionData(leader_id=2, vote_granted=True)
    topic = vote.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[voted])
    row = told(votes(replica_directory_id=DIRECTORY), vote.VoteResponse(topics=[topic]), 2)
    assert row == {
        "what": "VOTE",
        "epoch": 7,
        "leader_id": 2,
        "replica_id": 3,
        "directory_id": TEXT,
        "granted": True,
        "offset": 90,
    }


def test_a_vote_that_is_refused_as_a_whole_has_its_error() -> None:
    row = told(votes(pre_vote=True), vote.VoteResponse(error_code=104), 2, node_id=3001)
    assert row == {
        "what": "PRE_VOTE",
        "epoch": 7,
        "node_id": 3001,
        "replica_id": 3,
        "offset": 90,
        "error": "INCONSISTENT_CLUSTER_ID",
    }


def test_leaders_tell_of_their_epoch() -> None:
    begun = begin.PartitionData(leader_id=2, leader_epoch=8)
    topics = [begin.TopicData(topic_name=METADATA_TOPIC, partitions=[begun])]
    response = begin.BeginQuorumEpochResponse()
    row = told(begin.BeginQuorumEpochRequest(topics=topics), response, 1)
    assert row == {"what": "BEGIN_EPOCH", "epoch": 8, "leader_id": 2}
    ended = end.PartitionData(leader_id=2, leader_epoch=9)
    ends = [end.TopicData(topic_name=METADATA_TOPIC, partitions=[ended])]
    row = told(end.EndQuorumEpochRequest(topics=ends), end.EndQuorumEpochResponse(), 1)
    assert row == {"what": "END_EPOCH", "epoch": 9, "leader_id": 2}


def fetches(version: int, topic_id: UUID = METADATA_TOPIC_ID) -> fetch.FetchRequest:
    partition = fetch.FetchPartition(current_leader_epoch=7, fetch_offset=90)
    topic = fetch.FetchTopic(partitions=[partition])
    if version < 13:
        topic.topic = METADATA_TOPIC
    else:
        topic.topic_id = topic_id
    if version < 15:
        return fetch.FetchRequest(replica_id=3, topics=[topic])
    return fetch.FetchRequest(replica_state=fetch.ReplicaState(replica_id=3), topics=[topic])


def fetched(high_watermark: int) -> fetch.FetchResponse:
    leader = fetch.LeaderIdAndEpoch(leader_id=2, leader_epoch=7)
    partition = fetch.PartitionData(high_watermark=high_watermark, current_leader=leader)
    return fetch.FetchResponse(responses=[fetch.FetchableTopicResponse(partitions=[partition])])


@pytest.mark.parametrize("version", [12, 13, 14, 15, 17, 18])
def test_a_fetch_tells_how_far_the_replica_is_behind(version: int) -> None:
    assert told(fetches(version), fetched(100), version) == {
        "what": "FETCH",
        "epoch": 7,
        "leader_id": 2,
        "replica_id": 3,
        "offset": 90,
        "high_watermark": 100,
        "lag": 10,
    }


def test_the_lag_is_not_below_0_and_unknown_without_a_high_watermark() -> None:
    assert told(fetches(17), fetched(80), 17)["lag"] == 0
    assert {"lag", "high_watermark"}.isdisjoint(told(fetches(17), fetched(-1), 17))
    assert {"lag", "leader_id"}.isdisjoint(told(fetches(17), None, 17, ending="LOST"))
    odd = fetches(17)
    odd.topics[0].partitions[0].fetch_offset = -(1 << 63)
    assert told(odd, fetched((1 << 63) - 1), 17)["lag"] == (1 << 63) - 1
    odd.topics[0].partitions = []
    assert told(odd, fetched(5), 17)["lag"] == 0


def test_fetches_of_other_topics_are_not_of_the_quorum() -> None:
    rows = [
        *rpc(1, fetches(17, DIRECTORY), fetched(100), 17),
        *rpc(2, fetches(17), fetched(100), 17),
        *rpc(3, fetch.FetchRequest(), fetch.FetchResponse(), 17),
        *rpc(4, ApiVersionsRequest(), ApiVersionsResponse(), 3),
    ]
    assert [row["event"] for row in quorum(rows)] == [2]


def test_a_description_has_the_voters_and_the_end_of_the_leaders_log() -> None:
    voters = [
        describe.ReplicaState(replica_id=1, log_end_offset=70),
        describe.ReplicaState(replica_id=2, log_end_offset=99, replica_directory_id=DIRECTORY),
    ]
    partition = describe.ResponsePartitionData(
        leader_id=2, leader_epoch=7, high_watermark=95, current_voters=voters
    )
    topic = describe.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    response = describe.DescribeQuorumResponse(topics=[topic])
    assert told(describe.DescribeQuorumRequest(), response, 2) == {
        "what": "DESCRIBE",
        "epoch": 7,
        "leader_id": 2,
        "voters": [
            {"id": 1, "directory_id": None, "endpoints": []},
            {"id": 2, "directory_id": TEXT, "endpoints": []},
        ],
        "high_watermark": 95,
        "log_end_offset": 99,
    }


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        (AddRaftVoterRequest(voter_id=4, voter_directory_id=DIRECTORY), "ADD_VOTER"),
        (RemoveRaftVoterRequest(voter_id=4, voter_directory_id=DIRECTORY), "REMOVE_VOTER"),
        (UpdateRaftVoterRequest(voter_id=4, voter_directory_id=DIRECTORY), "UPDATE_VOTER"),
    ],
)
def test_a_change_of_the_voters_tells_who_is_changed(request_: Request, what: str) -> None:
    row = told(request_, None, 0, ending="LOST")
    assert row == {"what": what, "replica_id": 4, "directory_id": TEXT}


def test_an_error_of_a_change_is_the_answers() -> None:
    response = AddRaftVoterResponse(error_code=126)
    row = told(AddRaftVoterRequest(voter_id=4), response, 0)
    assert row == {"what": "ADD_VOTER", "replica_id": 4, "error": "DUPLICATE_VOTER"}


def test_what_does_not_decode_tells_nothing_but_that_it_was_there() -> None:
    rows = [asked(1, frame=None), answered(1), asked(2), answered(2, frame=None), answered(3)]
    found = [(row["event"], row["what"], row.get("replica_id")) for row in quorum(rows)]
    assert found == [(1, "VOTE", None), (2, "VOTE", 3)]
