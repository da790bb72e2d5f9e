"""A recording is sent to the server that answers from it: each judges the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwire.error_codes import ErrorCode
from kwire.errors import InvalidValue
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a03_metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
)
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.address import Address
from kwire.net.frames import RequestFrame, decode_response, encode_request
from kwire.net.security import Security
from kwire.net.tls import ClientTls, ServerTls
from kwire.proxy import Event, Flow, Notice, Outcome
from kwire.proxy.capture.replay.answers import RecordedAnswers
from kwire.proxy.capture.replay.client import ReplayOutcome, ReplayVerdict, Targets, replay
from kwire.proxy.capture.replay.comparison import IgnoredFields
from kwire.proxy.capture.replay.plan import plan_replay
from kwire.proxy.capture.replay.server import ReplayServer
from scripted_node import ScriptedNode
from tests.support.certificates import Authority
from tests.support.proxy.capture.replay.recorded_flows import flow, records

OFFERED = ApiVersionsResponse(
    api_keys=[
        ApiVersion(api_key=0, max_version=13),
        ApiVersion(api_key=3, max_version=13),
        ApiVersion(api_key=18, max_version=5),
    ]
)

REFUSED = ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)


def versions() -> Flow:
    return flow(ApiVersionsRequest(), OFFERED, 5, at=0.0)


def metadata(topic: str, controller: int, at: float = 1.0, number: int = 1) -> Flow:
    broker = MetadataResponseBroker(node_id=1, host="kafka-1.example", port=9092)
    return flow(
        MetadataRequest(topics=[MetadataRequestTopic(name=topic)]),
        MetadataResponse(controller_id=controller, brokers=[broker]),
        12,
        at=at,
        number=number,
    )


def produced() -> Flow:
    """With acks=0."""
    unanswered = flow(ProduceRequest(acks=0), None, 9, at=1.5)
    unanswered.outcome = Outcome.NO_RESPONSE
    return unanswered


@asynccontextmanager
async def serving(
    *flows: Flow, tls: ServerTls | None = None
) -> AsyncIterator[tuple[Address, list[Event]]]:
    """A server that knows these, and what it tells."""
    events: list[Event] = []
    listen: dict[int | None, Address] = {None: Address("127.0.0.1", 0)}
    server = ReplayServer(RecordedAnswers(flows), listen, sinks=[events.append], tls=tls, fast=True)
    async with server:
        yield server.addresses[None], events


async def outcomes(flows: list[Flow], targets: Targets, *ignored: str) -> list[ReplayOutcome]:
    found: list[ReplayOutcome] = []
    await replay(
        plan_replay(records(*flows)), targets, IgnoredFields(ignored), found.append, fast=True
    )
    return found


ADDRESSES = ("brokers.host", "brokers.port")


async def test_what_is_served_is_what_was_recorded() -> None:
    flows = [versions(), metadata("a", 1), produced(), metadata("a", 2, 2.0, number=2)]
    async with serving(*flows) as (address, events):
        found = await outcomes(flows, Targets(addresses={None: address}), *ADDRESSES)
    same, not_compared = ReplayVerdict.SAME, ReplayVerdict.NOT_COMPARED
    assert [item.verdict for item in found] == [same, same, not_compared, same]
    assert all(isinstance(event, Flow) and event.handling == "answered" for event in events)


async def test_a_difference_and_a_version_that_is_not_offered_are_outcomes() -> None:
    flows = [versions(), metadata("a", 1), metadata("b", 1), flow(VoteRequest(), VoteResponse(), 2)]
    flows[3].connection.peer = None
    async with serving(versions(), metadata("a", 7)) as (address, _):
        planned = plan_replay(records(*flows), expression=None)
        assert planned.left_out.total() == 1
        found = await outcomes(flows, Targets(addresses={None: address}), *ADDRESSES)
    assert [str(pair) for pair in found[1].differences] == ["controller_id: 1 → 7"]
    assert [item.verdict.value for item in found] == ["same", "different", "different"]


async def test_the_nodes_addresses_become_the_servers() -> None:
    async with serving(metadata("a", 1)) as (address, _):
        (outcome,) = await outcomes([metadata("a", 1)], Targets(addresses={None: address}))
    assert [str(pair) for pair in outcome.differences] == [
        'brokers[1].host: "kafka-1.example" → "127.0.0.1"',
        f"brokers[1].port: 9092 → {address.port}",
    ]


async def test_nobody_there_and_nobody_named_are_told() -> None:
    with pytest.raises(
        InvalidValue, match=r"nothing stands for node 1: give `targets` 1@HOST:PORT"
    ):
        await outcomes([metadata("a", 1)], Targets(addresses={2: Address("127.0.0.1", 1)}))
    nobody = Targets(addresses={None: Address("127.0.0.1", 1)})
    (failed,) = await outcomes([metadata("a", 1)], nobody)
    assert failed.verdict is ReplayVerdict.FAILED
    assert "refused the connection" in failed.reason


async def test_it_works_over_tls(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    pem = authority.issue("127.0.0.1")
    tls = ServerTls(certificate=pem.certificate, key=pem.key)
    flows = [versions(), metadata("a", 1)]
    async with serving(*flows, tls=tls) as (address, _):
        security = Security(tls=ClientTls(authorities=authority.path))
        targets = Targets(addresses={None: address}, security=security)
        found = await outcomes(flows, targets, *ADDRESSES)
    assert [item.verdict for item in found] == [ReplayVerdict.SAME] * 2


async def said(address: Address, data: bytes) -> bytes:
    """All that is answered until the server closes."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(data)
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    return answer


async def test_what_got_no_answer_gets_none_and_what_is_no_request_is_told() -> None:
    request = MetadataRequest(topics=[])
    lost = flow(request, None, 12)
    async with serving(lost) as (address, events):
        assert await said(address, encode_request(request, 12, correlation_id=5)) == b""
        assert await said(address, b"GET / HTTP/1.1\r\n") == b""
        assert await said(address, bytes.fromhex("0000000a 270f0003 00000002 ffff")) == b""
    first, notice, unknown = events
    assert isinstance(first, Flow)
    assert first.problems == ["the recorded connection ended here, and so does this one"]
    assert isinstance(notice, Notice)
    assert "a frame of 1195725856 bytes" in notice.text
    assert isinstance(unknown, Flow)
    assert unknown.problems[0].startswith("not in the recording: API 9999 v3 cannot be decoded")
    assert "; closed, since such a response has no room" in unknown.problems[0]


async def test_what_was_not_recorded_gets_a_well_formed_error() -> None:
    async with serving(versions(), metadata("a", 1)) as (address, events):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        asked = MetadataRequest(topics=[MetadataRequestTopic(name="b")])
        writer.write(encode_request(asked, 12, correlation_id=5))
        size = int.from_bytes(await reader.readexactly(4), "big")
        answer = decode_response(await reader.readexactly(size), 3, 12)
        writer.close()
    assert answer.header.correlation_id == 5
    assert isinstance(answer.body, MetadataResponse)
    assert [(topic.name, topic.error_code) for topic in answer.body.topics] == [("b", -1)]
    (unmatched,) = events
    assert isinstance(unmatched, Flow)
    assert unmatched.problems == [
        "not in the recording: Metadata v12 lacks topics[a], which was recorded;"
        " answered with UNKNOWN_SERVER_ERROR"
    ]


async def test_no_node_is_taken_for_one_of_the_recorded_cluster() -> None:
    def judged(request: RequestFrame) -> ApiVersionsResponse:
        """Refuse other ids in ApiVersions v5, as Kafka 4.4 does (KIP-1242)."""
        asked = request.body
        assert isinstance(asked, ApiVersionsRequest)
        return OFFERED if (asked.cluster_id, asked.node_id) == (None, -1) else REFUSED

    named = ApiVersionsRequest(cluster_id="recorded", node_id=1)
    async with ScriptedNode({ApiVersionsRequest: judged}) as node:
        target = Targets(addresses={None: Address("127.0.0.1", node.port)})
        (outcome,) = await outcomes([flow(named, OFFERED, 5, at=0.0)], target)
    assert outcome.verdict is ReplayVerdict.SAME
