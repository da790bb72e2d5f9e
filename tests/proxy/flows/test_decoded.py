"""Decoded flows: a sentence if that fails, a flow of its own for a request in an Envelope."""

import pytest

from kwire.messages.a00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a19_create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.proxy import Copies, Flow, Outcome
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.flows.dialogue_flows import decoded, rpc


def test_an_unknown_api_and_version_are_said() -> None:
    frame = bytearray(asked(VoteRequest(), 2, 1))
    frame[4:6] = (9999).to_bytes(2, "big")
    assert decoded(bytes(frame)).problems[1] == "the request is not decoded: no API has key 9999"
    frame[4:8] = bytes.fromhex("00340063")
    assert "VoteRequest has versions 0-2, not 99" in decoded(bytes(frame)).problems[1]


def test_a_truncated_body_is_said_and_the_response_still_decoded() -> None:
    frame = asked(VoteRequest(), 2, 1)
    short = (len(frame) - 6).to_bytes(4, "big") + frame[4:-2]
    flow = decoded(short, answered(VoteResponse(error_code=41), 2, 1))
    assert flow.request is None
    assert "VoteRequest v2" in flow.problems[0]
    assert flow.errors == ("NOT_CONTROLLER",)


def test_the_fallback_of_api_versions_is_read_as_version_0() -> None:
    request = asked(ApiVersionsRequest(), 4, 1)
    response = ApiVersionsResponse(
        error_code=35, api_keys=[ApiVersion(api_key=18, min_version=0, max_version=4)]
    )
    flow = decoded(request, answered(response, 0, 1))
    assert flow.response is not None
    assert flow.response.version == 0
    assert flow.errors == ("UNSUPPORTED_VERSION",)


def test_error_codes_are_found_at_every_level() -> None:
    failed = CreatableTopicResult(name="orders", error_code=36, error_message="it is there")
    flow = rpc(CreateTopicsRequest(), CreateTopicsResponse(topics=[failed]), 7)
    (failure,) = flow.failures
    assert (failure.path, failure.name, failure.message) == (
        "topics[0].error_code",
        "TOPIC_ALREADY_EXISTS",
        "it is there",
    )


def test_an_envelope_holds_a_flow_with_its_own_errors() -> None:
    inside = asked(CreateTopicsRequest(), 7, 5, "admin")[4:]
    answer = answered(CreateTopicsResponse(topics=[CreatableTopicResult(error_code=36)]), 7, 5)[4:]
    flow = rpc(EnvelopeRequest(request_data=inside), EnvelopeResponse(response_data=answer), 0)
    inner = flow.envelope
    assert inner is not None
    assert (inner.flow.api, inner.flow.version) == ("CreateTopics", 7)
    assert (inner.flow.client_id, inner.flow.outcome) == ("admin", Outcome.ANSWERED)
    assert inner.response_as(CreateTopicsResponse) is not None
    assert flow.errors == ("TOPIC_ALREADY_EXISTS",)
    assert not flow.problems


def test_an_envelope_with_nonsense_inside_is_said() -> None:
    request = EnvelopeRequest(request_data=bytes.fromhex("270f000000000001ffff"))
    flow = rpc(request, EnvelopeResponse(error_code=31), 0)
    assert flow.problems == ("in the envelope: the request is not decoded: no API has key 9999",)
    assert flow.errors == ("CLUSTER_AUTHORIZATION_FAILED",)


def partition(index: int, records: bytes) -> PartitionData:
    return PartitionData(partition_index=index, high_watermark=9, records=records)


@pytest.mark.parametrize("version", [4, 11, 12, 18])
def test_a_response_cut_inside_its_records_keeps_what_is_before(version: int) -> None:
    topic = FetchableTopicResponse(
        topic="orders" if version < 13 else "",
        partitions=[partition(0, b"x" * 10), partition(1, b"y" * 5000), partition(2, b"z" * 9)],
    )
    response = FetchResponse(responses=[topic])
    flow = decoded(
        asked(FetchRequest(), version, 1),
        answered(response, version, 1),
        Copies(copy_limit=400),
    )
    body = flow.response_as(FetchResponse)
    assert body is not None
    first, second = body.responses[0].partitions
    assert (first.records, second.partition_index, second.high_watermark) == (b"x" * 10, 1, 9)
    assert second.records
    assert 200 < len(second.records) < 400
    assert set(second.records) == {ord("y")}
    assert "400 of the response's" in flow.problems[0]


def test_a_produce_request_cut_inside_its_records_keeps_what_is_before() -> None:
    data = [PartitionProduceData(index=0, records=b"x" * 100_000)]
    request = ProduceRequest(acks=1, topic_data=[TopicProduceData(name="o", partition_data=data)])
    flow = decoded(asked(request, 12, 1), copies=Copies(copy_limit=1000))
    body = flow.request_as(ProduceRequest)
    assert body is not None
    assert body.topic_data[0].name == "o"


def test_a_message_cut_elsewhere_is_not_decoded_and_said() -> None:
    request = asked(VoteRequest(cluster_id="c" * 500), 2, 1)
    flow = decoded(request, copies=Copies(copy_limit=100))
    assert flow.request is None
    assert flow.problems[1] == (
        f"the request is not decoded: 100 of its {len(request) - 4} bytes were copied"
    )


def test_a_flow_does_not_print_its_bytes() -> None:
    flow = decoded(asked(VoteRequest(cluster_id="open sesame"), 2, 1)).flow
    assert isinstance(flow, Flow)
    assert "sesame" not in repr(flow)
