"""The recorded answer is found by what is asked, in its order, whoever asks."""

from kwire.codec.declaration import Request
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kwire.messages.a08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kwire.messages.a12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.net.frames import encode_request
from kwire.proxy import Flow
from kwire.proxy.capture.replay.answers import RecordedAnswers
from tests.support.proxy.capture.replay.recorded_flows import flow


def metadata(topic: str, controller: int) -> Flow:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    return flow(request, MetadataResponse(controller_id=controller), 12)


def frame(request: Request, version: int) -> bytes:
    return encode_request(request, version, correlation_id=99, client_id="another")[4:]


def ask(topic: str, version: int = 12) -> bytes:
    return frame(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), version)


def test_answers_come_in_their_order_and_the_last_one_again() -> None:
    recorded = [metadata("a", 1), metadata("b", 2), metadata("a", 3)]
    answers = RecordedAnswers(recorded)
    found = [answers.find(ask(topic), None) for topic in "aabaa"]
    assert found == [recorded[0], recorded[2], recorded[1], recorded[2], recorded[2]]
    assert (answers.size, answers.unusable) == (3, 0)


def test_another_body_or_version_or_no_request_has_none() -> None:
    answers = RecordedAnswers([metadata("a", 1)])
    assert answers.find(ask("b"), None) is None
    assert answers.find(ask("a", 11), None) is None
    assert answers.find(b"\x27\x0f" + bytes(20), None) is None
    assert answers.find(b"", None) is None


def test_what_differs_each_time_does_not_matter_where_nothing_is_the_same() -> None:
    asked = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    recorded = flow(asked, ApiVersionsResponse(), 3)
    answers = RecordedAnswers([recorded])
    newer = ApiVersionsRequest(client_software_name="b", client_software_version="2")
    assert answers.find(frame(newer, 3), None) is recorded


def test_what_is_offered_is_what_was_recorded() -> None:
    flows = [metadata("a", 1), flow(MetadataRequest(topics=[]), MetadataResponse(), 9)]
    offered = [
        (one.api_key, one.min_version, one.max_version) for one in RecordedAnswers(flows).offered
    ]
    assert offered == [(3, 9, 12)]


def test_the_node_matters_where_nodes_are_told_apart() -> None:
    recorded = metadata("a", 1)
    answers = RecordedAnswers([recorded], by_node=True)
    assert answers.find(ask("a"), 1) is recorded
    assert answers.find(ask("a"), 2) is None


def test_what_is_not_whole_is_not_used() -> None:
    cut = metadata("a", 1)
    cut.response_size = 1000
    answers = RecordedAnswers([cut])
    assert (answers.size, answers.unusable) == (0, 1)
    assert answers.find(ask("a"), None) is None


def commit(offset: int, generation: int = 1) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(committed_offset=offset)
    topic = OffsetCommitRequestTopic(name="orders", partitions=[partition])
    return OffsetCommitRequest(
        group_id="g", generation_id_or_member_epoch=generation, topics=[topic]
    )


def committed(offset: int) -> Flow:
    return flow(commit(offset), OffsetCommitResponse(), 9)


def test_a_difference_is_that_from_the_nearest_request_those_that_did_not_come_first() -> None:
    answers = RecordedAnswers([metadata("a", 1), committed(3), committed(7)])
    here = "OffsetCommit v9 has topics[orders].partitions[0].committed_offset 8, and"
    assert answers.difference(frame(commit(8), 9), None) == f"{here} 3 was recorded"
    answers.find(frame(commit(3), 9), None)
    assert answers.difference(frame(commit(8), 9), None) == f"{here} 7 was recorded"
    assert [answers.difference(asked, None) for asked in (ask("b"), ask("a", 11))] == [
        "Metadata v12 lacks topics[a], which was recorded",
        "Metadata v11 was not recorded: it was in v12",
    ]
    heartbeat = frame(HeartbeatRequest(), 4)
    assert answers.difference(heartbeat, None) == "Heartbeat v4 was not recorded"
    assert answers.difference(heartbeat[:-3], None).startswith("Heartbeat v4 cannot be decoded")


def test_a_request_that_did_not_come_is_named_unless_its_like_did_or_the_clock_sends_it() -> None:
    beat = flow(HeartbeatRequest(), HeartbeatResponse(), 4)
    flows = [beat, committed(3), flow(commit(3, 2), OffsetCommitResponse(), 9), metadata("a", 1)]
    answers = RecordedAnswers(flows)
    assert answers.unasked is flows[1]
    answers.find(frame(commit(3, 2), 9), None)
    assert answers.unasked is flows[3]
    answers.find(ask("a"), None)
    assert answers.unasked is None


def test_fields_that_may_differ_are_named() -> None:
    answers = RecordedAnswers([committed(3)], ignore=["partitions.committed_offset"])
    assert answers.find(frame(commit(4), 9), None) is not None
