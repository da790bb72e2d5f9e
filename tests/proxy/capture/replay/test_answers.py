"""The recorded answer is found by what is asked, in its order, whoever asks."""

from kwire.codec.declaration import Request
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
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
