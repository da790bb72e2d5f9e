"""Spans of flows: their traces, links, ids and attributes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kwire.codec.declaration import Request, Response
from kwire.messages.a00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kwire.messages.a12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.messages.a26_end_txn import EndTxnRequest, EndTxnResponse
from kwire.messages.a27_write_txn_markers import (
    WritableTxnMarker,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.a67_allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from kwire.proxy import DecodedFlow, Flow, Outcome
from kwire.proxy.flows.flow import Effect
from kwire.proxy.flows.spans import RpcSpan, Spans
from tests.support.proxy.capture.replay.recorded_flows import flow

START = 1_764_400_000.25


def rpc(
    request: Request, response: Response | None, version: int, at: float, latency: float = 0.1
) -> Flow:
    return flow(request, response, version, at=START + at, latency=latency)


def spans(flows: Iterable[Flow]) -> list[RpcSpan]:
    made = Spans()
    return [
        *(span for one in flows for span in made.add(DecodedFlow(one))),
        *made.rest(),
    ]


def created(at: float = 0.0, error: int = 36) -> Flow:
    topics = [CreatableTopic(name="orders")]
    results = [CreatableTopicResult(name="orders", error_code=error)]
    return rpc(CreateTopicsRequest(topics=topics), CreateTopicsResponse(topics=results), 7, at, 0.5)


def envelope(inner: Flow, at: float = 0.2) -> Flow:
    request = EnvelopeRequest(request_data=inner.request_copy or b"", client_host_address=b"\0" * 4)
    return rpc(request, EnvelopeResponse(response_data=inner.response_copy), 0, at)


def test_what_a_broker_forwards_is_in_the_trace_of_the_clients_request() -> None:
    outer, forwarded, inner = spans([envelope(created()), created()])
    assert [span.name for span in (outer, forwarded, inner)] == [
        "CreateTopics",
        "Envelope",
        "CreateTopics",
    ]
    assert (outer.parent, forwarded.parent, inner.parent) == (None, outer.ids, forwarded.ids)
    assert {span.ids.trace for span in (outer, forwarded, inner)} == {outer.ids.trace}
    assert len({span.ids.span for span in (outer, forwarded, inner)}) == 3
    assert {span.error for span in (outer, forwarded, inner)} == {"TOPIC_ALREADY_EXISTS"}
    assert inner.attributes["error.type"] == "TOPIC_ALREADY_EXISTS"


@pytest.mark.parametrize("change", ["later", "correlation", "client", "version"])
def test_an_envelope_of_another_request_is_a_trace_of_its_own(change: str) -> None:
    forwarded, asked = envelope(created()), created(3.0 if change == "later" else 0.0)
    match change:
        case "correlation":
            asked.correlation_id += 1
        case "client":
            asked.client_id = "another"
        case "version":
            asked.version = 6
    by_name = {span.name: span for span in spans([forwarded, asked])}
    assert by_name["Envelope"].parent is None


def test_an_envelope_waits_for_some_seconds_of_the_flows_time() -> None:
    made = Spans()
    beat = rpc(HeartbeatRequest(), HeartbeatResponse(), 4, 5.2)
    late = rpc(HeartbeatRequest(), HeartbeatResponse(), 4, 5.5)
    found = [
        [span.name for span in made.add(DecodedFlow(one))]
        for one in (envelope(created()), beat, late)
    ]
    assert found == [[], ["Heartbeat"], ["Envelope", "CreateTopics", "Heartbeat"]]


def test_envelopes_whose_client_is_not_seen_end_by_their_number_too() -> None:
    made = Spans()
    flows = [DecodedFlow(envelope(created()))] * 1001
    assert sum(len(list(made.add(one))) for one in flows) == 2


def test_requests_of_a_group_are_linked_to_what_found_it() -> None:
    found = rpc(FindCoordinatorRequest(key="billing"), FindCoordinatorResponse(), 3, 0.0)
    beats = [
        rpc(HeartbeatRequest(group_id=name), HeartbeatResponse(), 4, 1.0)
        for name in ("billing", "other")
    ]
    coordinator, mine, other = spans([found, *beats])
    assert mine.links == ((coordinator.ids, "group billing"),)
    assert mine.parent is None
    assert mine.ids.trace != coordinator.ids.trace
    assert other.links == coordinator.links == ()
    assert mine.attributes["messaging.consumer.group.name"] == "billing"


def test_a_producer_is_linked_from_its_block_of_ids_to_its_markers() -> None:
    block = AllocateProducerIdsResponse(producer_id_start=1000, producer_id_len=1000)
    ended = EndTxnRequest(transactional_id="pay", producer_id=1005)
    markers = WriteTxnMarkersRequest(markers=[WritableTxnMarker(producer_id=1005)])
    allocated, began, ending, marked = spans(
        [
            rpc(AllocateProducerIdsRequest(), block, 0, 0.0),
            rpc(
                InitProducerIdRequest(transactional_id="pay"),
                InitProducerIdResponse(producer_id=1005),
                4,
                1.0,
            ),
            rpc(ended, EndTxnResponse(), 3, 2.0),
            rpc(markers, WriteTxnMarkersResponse(), 1, 3.0),
        ]
    )
    assert began.links == ((allocated.ids, "producer id 1005"),)
    assert {about: ids for ids, about in ending.links} == {
        "transaction pay": began.ids,
        "transaction 1005": began.ids,
    }
    assert marked.links == ((ending.ids, "transaction 1005"),)


def test_ids_are_made_of_what_is_recorded() -> None:
    flows = [envelope(created()), created()]
    assert spans(flows) == spans(flows)
    other = created(1.0)
    assert spans([created()])[0].ids != spans([other])[0].ids
    assert spans([created()])[0].start == 1_764_400_000_250_000_000
    assert spans([created()])[0].end == 1_764_400_000_750_000_000


def test_attributes_have_names_and_sizes_and_no_contents() -> None:
    records = PartitionProduceData(index=3, records=b"secret content")
    topic = TopicProduceData(name="orders", partition_data=[records])
    produced = rpc(ProduceRequest(topic_data=[topic]), ProduceResponse(), 9, 0.0)
    produced.connection.upstream, produced.connection.peer = "[::1]:9092", 4
    produced.add_effect(Effect.DELAYED, "hit by rule slow")
    (span,) = spans([produced])
    assert span.attributes == {
        "rpc.system.name": "kafka",
        "rpc.method": "Produce",
        "messaging.system": "kafka",
        "messaging.operation.name": "Produce",
        "messaging.operation.type": "send",
        "messaging.client.id": "me",
        "messaging.destination.name": "orders",
        "messaging.destination.partition.id": "3",
        "server.address": "::1",
        "server.port": 9092,
        "client.address": "127.0.0.1",
        "client.port": 5,
        "kwire.api.version": 9,
        "kwire.correlation_id": 7,
        "kwire.client.node": 4,
        "kwire.request.size": produced.request_size,
        "kwire.response.size": produced.response_size,
        "kwire.effects": ("delayed",),
    }
    assert (span.node, span.error) == ("1", "")


def test_a_request_without_an_answer_is_an_error_and_one_without_a_time_has_no_span() -> None:
    lost = rpc(HeartbeatRequest(), None, 4, 0.0)
    unanswered = rpc(ProduceRequest(acks=0), None, 9, 0.0)
    unanswered.outcome = Outcome.NO_RESPONSE
    assert [span.error for span in spans([lost, unanswered])] == ["no response", ""]
    made = Spans()
    assert list(made.add(DecodedFlow(flow(HeartbeatRequest(), HeartbeatResponse(), 4)))) == []
    assert made.untimed == 1


def test_a_recording_ends_a_span_at_the_moment_that_the_proxy_did() -> None:
    beat = [rpc(HeartbeatRequest(), HeartbeatResponse(), 4, at, 0.1) for at in (4.0, 4.0)]
    times = []
    for one, at in zip(beat, (0.0, 0.45e-6), strict=True):
        one.at = 1_000_000.0 + at  # a recording has whole microseconds
        one.asked, one.answered = 1.0, 1.0 + 0.3e-6
        times += [(span.start, span.end) for span in spans([one])]
    assert times[0] == times[1]
