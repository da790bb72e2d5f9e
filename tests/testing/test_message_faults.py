"""Faults in messages: the request that fails is the one that the test names, and how it says."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import pytest

from kwire.admin import AdminClient
from kwire.codec.declaration import Request
from kwire.errors import BrokerError, ConnectionFailed, InvalidValue, KwireError
from kwire.messages.a01_fetch import FetchRequest, FetchResponse, FetchTopic
from kwire.messages.a03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a26_end_txn import EndTxnRequest, EndTxnResponse
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.proxy import Filters
from kwire.proxy.flows import effort
from kwire.testing import BackgroundQuorum, FaultProxy, MessageFaults, fault_filter
from scripted_node import ScriptedNode
from tests.support.proxy.dialogue import asked
from tests.support.proxy.filter_dialogue import HeldDialogue

ORDERS = UUID(int=7)
END = EndTxnRequest(transactional_id="t", producer_id=1, producer_epoch=0, committed=True)


@pytest.fixture
async def node() -> AsyncIterator[ScriptedNode]:
    """A broker that has a topic `orders` and does what it is asked."""
    node = ScriptedNode()

    def metadata(_: object) -> MetadataResponse:
        broker = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=node.port)
        topic = MetadataResponseTopic(name="orders", topic_id=ORDERS)
        return MetadataResponse(brokers=[broker], topics=[topic])

    node.scripts.update(
        {
            EndTxnRequest: lambda _: EndTxnResponse(),
            FetchRequest: lambda _: FetchResponse(),
            MetadataRequest: metadata,
            CreateTopicsRequest: lambda _: CreateTopicsResponse(),
        }
    )
    async with node:
        yield node


@pytest.fixture
def proxy(node: ScriptedNode) -> Iterator[FaultProxy]:
    """A proxy in front of the broker."""
    with FaultProxy(node.address) as proxy:
        yield proxy


async def connect(proxy: FaultProxy, client: str = "app", wait: float = 20) -> Connection:
    """Return a client's connection."""
    address = Address.parse(proxy.bootstrap_servers)
    return await Connection.open(address.host, address.port, client_id=client, request_timeout=wait)


async def send(client: Connection, request: Request, version: int | None = None) -> Any:
    """Return the answer to a request."""
    return await client.send(request, version)


async def codes(proxy: FaultProxy, calls: int) -> list[int]:
    """Return the error codes of so many EndTxn calls on one connection."""
    async with await connect(proxy) as client:
        return [(await send(client, END)).error_code for _ in range(calls)]


async def test_the_second_call_fails_and_the_node_does_not_see_it(
    proxy: FaultProxy, node: ScriptedNode
) -> None:
    fault = proxy.on("EndTxn").error("INVALID_TXN_STATE").call(2)
    assert await codes(proxy, 3) == [0, 48, 0]
    assert (fault.hits, proxy.seen("EndTxn"), len(node.requests(EndTxnRequest))) == (1, 3, 2)


async def test_skip_and_times_may_come_before_the_action(proxy: FaultProxy) -> None:
    proxy.on("EndTxn").skip(1).times(2).error(51)
    assert await codes(proxy, 5) == [0, 51, 51, 0, 0]


async def test_a_fault_ends_when_it_is_removed_and_all_when_they_are_cleared(
    proxy: FaultProxy,
) -> None:
    first = proxy.on("EndTxn").error("INVALID_TXN_STATE")
    proxy.on("EndTxn").error("NOT_COORDINATOR")
    assert await codes(proxy, 1) == [48]
    first.remove()
    assert await codes(proxy, 1) == [16]
    proxy.clear()
    assert (await codes(proxy, 1), proxy.seen("EndTxn"), proxy.unused()) == ([0], 1, [])


async def test_a_connection_is_closed_before_the_node_sees_the_request_or_after(
    proxy: FaultProxy, node: ScriptedNode
) -> None:
    proxy.on("EndTxn").close().call(1)
    with pytest.raises(ConnectionFailed):
        await codes(proxy, 1)
    assert node.requests(EndTxnRequest) == []
    proxy.on("EndTxn", direction="response").close().call(1)
    with pytest.raises(ConnectionFailed):
        await codes(proxy, 1)
    assert len(node.requests(EndTxnRequest)) == 1


async def test_a_dropped_request_is_never_answered_and_a_later_one_is(
    proxy: FaultProxy,
) -> None:
    proxy.on("EndTxn").drop().call(1)
    async with await connect(proxy, wait=0.3) as client:
        with pytest.raises(KwireError, match=r"within 0\.3 s"):
            await send(client, END)
    assert await codes(proxy, 1) == [0]


async def test_a_black_hole_swallows_one_client_and_no_other(proxy: FaultProxy) -> None:
    hole = proxy.blackhole(client="raft-client-2")
    async with await connect(proxy, "raft-client-3") as other:
        with pytest.raises(KwireError):
            await connect(proxy, "raft-client-2", wait=0.3)
        assert (await send(other, END)).error_code == 0
    hole.remove()
    async with await connect(proxy, "raft-client-2") as client:
        assert (await send(client, END)).error_code == 0


async def test_a_delay_comes_before_the_answer_and_delays_add_up(proxy: FaultProxy) -> None:
    proxy.on("EndTxn").delay(0.15)
    proxy.on("EndTxn").delay(0.15)
    proxy.on("EndTxn").error("INVALID_TXN_STATE")
    began = time.monotonic()
    assert await codes(proxy, 1) == [48]
    assert time.monotonic() - began >= 0.3


async def test_a_field_is_changed_in_a_request_and_in_a_response(
    proxy: FaultProxy, node: ScriptedNode
) -> None:
    proxy.on("EndTxn").patch("transactional_id", "u").patch("producer_epoch", 9)
    proxy.on("EndTxn", direction="response").patch("error_code", 47)
    assert await codes(proxy, 1) == [47]
    (request,) = node.requests(EndTxnRequest)
    assert isinstance(request, EndTxnRequest)
    assert (request.transactional_id, request.producer_epoch) == ("u", 9)
    assert proxy.requests("EndTxn") == [END]  # as the client sent it


async def test_requests_are_counted_by_api_client_fields_and_topic(proxy: FaultProxy) -> None:
    new = CreateTopicsRequest(topics=[CreatableTopic(name="orders")])
    async with await connect(proxy, "one") as one, await connect(proxy, "two") as two:
        await send(one, new)
        await send(two, END)
        await send(two, END)
    assert proxy.seen("CreateTopics", topic="orders") == 1
    assert proxy.seen("CreateTopics", topic="or*s", client="two") == 0
    assert proxy.seen("EndTxn,CreateTopics") == 3
    assert proxy.seen("*Txn", client="t*", where="producer_id==1 & committed==true") == 2
    assert proxy.requests("EndTxn")[1] == END


async def test_a_topic_is_known_by_its_id_too(proxy: FaultProxy) -> None:
    proxy.on("Fetch", topic="orders").error("UNKNOWN_TOPIC_ID")
    async with await connect(proxy) as client:
        await send(client, MetadataRequest(topics=None))
        hit = await send(client, FetchRequest(topics=[FetchTopic(topic_id=ORDERS)]))
        other = await send(client, FetchRequest(topics=[FetchTopic(topic_id=UUID(int=8))]))
    assert (hit.error_code, other.error_code) == (100, 0)
    assert (proxy.seen("Fetch", topic="orders"), proxy.seen("Fetch")) == (1, 2)


async def test_clients_are_given_the_addresses_of_the_proxy(
    proxy: FaultProxy, node: ScriptedNode
) -> None:
    async with await connect(proxy) as client:
        (broker,) = (await send(client, MetadataRequest(topics=None))).brokers
    assert f"{broker.host}:{broker.port}" == proxy.bootstrap_servers != node.address


async def test_rules_have_the_keys_of_a_rules_file(proxy: FaultProxy) -> None:
    (fault,) = proxy.rule({"match": "~api EndTxn", "error": "INVALID_TXN_STATE", "nth": 2})
    proxy.rule({"match": "~api EndTxn", "close": True, "enabled": False})
    (late,) = proxy.rule({"preset": "late-heartbeats", "node": 2})
    assert await codes(proxy, 3) == [0, 48, 0]
    assert (fault.hits, late.hits) == (1, 0)
    with pytest.raises(InvalidValue, match="no error of Kafka's is called 'X'"):
        proxy.rule({"match": "~api EndTxn", "error": "X"})


async def test_what_never_acted_is_told_with_the_reason(
    proxy: FaultProxy, caplog: pytest.LogCaptureFixture
) -> None:
    proxy.on("EndTxn").error("INVALID_TXN_STATE").call(4)
    proxy.on("Fetch", direction="response").close()
    proxy.on("Produce")
    proxy.on("Metadata").error("INVALID_REQUEST")
    async with await connect(proxy) as client:
        for _ in range(3):
            await send(client, END)
        with caplog.at_level(logging.WARNING):
            await send(client, MetadataRequest(topics=[]), version=12)
    assert proxy.unused() == [
        "~api EndTxn: error INVALID_TXN_STATE, nth 4 (3 matched)",
        "~api Fetch: direction response, close (0 matched)",
        "~api Produce: no action (0 matched)",
        "~api Metadata: error INVALID_REQUEST (did nothing: no answer to this MetadataRequest can"
        " carry an error)",
    ]
    assert proxy.report().splitlines()[:2] == [
        "requests: 1 ApiVersions, 3 EndTxn, 1 Metadata",
        "~api EndTxn: error INVALID_TXN_STATE, nth 4: acted 0 times, 3 matched",
    ]
    assert "Metadata did nothing: no answer to this MetadataRequest can" in caplog.text


@pytest.mark.parametrize(
    ("wrong", "said"),
    {
        "on('EndTx')": "no API is called 'EndTx'; did you mean 'EndTxn'?",
        "on('EndTxn', where='commited==true')": "did you mean 'committed'?",
        "on('EndTxn').error('INVALID_TXN')": "did you mean 'INVALID_TXN_STATE'?",
        "on('EndTxn').call(0)": "calls count from 1: there is no call 0",
        "on('EndTxn').close().times(0)": "~api EndTxn: count: Input should be greater than 0",
        "on('EndTxn').close().drop()": "~api EndTxn: only one of drop, close, stall",
        "on('EndTxn').delay(-1)": "a message is not sent -1 s later",
        "on('EndTxn').call(2).times(2).close()": "nth is skip and count in one",
        "on('EndTxn').patch('topic', 'x')": "no request that can match has a field 'topic'",
        "on('EndTxn', direction='answer').close()": "direction: Input should be 'request' or",
        "on('EndTxn', where='~err *').close()": "add direction: response",
        "seen('EndTxn', where='~err *')": "requests are counted",
        "seen('Fetsch')": "no API is called 'Fetsch'; did you mean 'Fetch'?",
    }.items(),
)
def test_what_cannot_be_is_refused_at_once(wrong: str, said: str) -> None:
    proxy = FaultProxy("127.0.0.1:9092")
    with pytest.raises(InvalidValue) as caught:
        eval(f"proxy.{wrong}")
    assert said in str(caught.value)
    assert proxy.filter.faults == () or "close" in wrong


def test_a_proxy_says_where_it_cannot_be() -> None:
    with pytest.raises(InvalidValue, match="an address to be in front of"):
        FaultProxy("")
    proxy = FaultProxy("127.0.0.1:9092", listen="192.0.2.1")
    with pytest.raises(InvalidValue, match="does not listen yet"):
        _ = proxy.bootstrap_servers
    with pytest.raises(KwireError, match=r"cannot listen at 192\.0\.2\.1:0"):
        proxy.start()
    proxy.close()


async def test_two_proxies_at_once_have_faults_of_their_own(
    proxy: FaultProxy, node: ScriptedNode
) -> None:
    with FaultProxy(node.address) as other:
        proxy.on("EndTxn").error("INVALID_TXN_STATE")
        found = await asyncio.gather(codes(proxy, 2), codes(other, 1))
        assert [*found] == [[48, 48], [0]]
        assert (proxy.seen("EndTxn"), other.seen("EndTxn")) == (2, 1)
    other.close()


def test_a_proxy_that_was_started_is_not_started_again(proxy: FaultProxy) -> None:
    for _ in "open", "closed":
        with pytest.raises(InvalidValue, match="make a new one"):
            proxy.start()
        proxy.close()


async def test_an_unreachable_node_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with FaultProxy("127.0.0.1:1") as proxy, caplog.at_level(logging.WARNING):
        with pytest.raises(KwireError):
            await connect(proxy)
        assert "127.0.0.1:1" in caplog.text


async def test_what_is_asked_again_and_again_is_counted_the_same(
    proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "LOOKS", 20)  # of one message, for all expressions together
    new = CreateTopicsRequest(topics=[CreatableTopic(name="orders")])
    async with await connect(proxy) as client:
        await send(client, new)
    assert {proxy.seen("CreateTopics", topic="o*") for _ in range(50)} == {1}
    monkeypatch.setattr(effort, "LOOKS", 0)
    with pytest.raises(InvalidValue, match="more values than can be compared"):
        proxy.seen("CreateTopics", where="name==x")


def test_what_a_broker_forwards_is_an_envelope() -> None:
    faults = MessageFaults()
    dialogue = HeldDialogue(filters=Filters([faults.filter]))
    dialogue.now_is(time.monotonic() + 1)
    inner = faults.on("CreateTopics").drop()
    data = asked(CreateTopicsRequest(topics=[CreatableTopic(name="orders")]), 7, 1, "admin")[4:]
    envelope = EnvelopeRequest(request_data=data, request_principal=b"p", client_host_address=b"h")
    frame = asked(envelope, 0, 1, "broker-1")
    assert dialogue.ask(frame) == frame
    outer = faults.on("Envelope").drop()
    assert dialogue.ask(frame) == frame, "the second is dropped"
    assert (inner.hits, outer.hits) == (0, 1)
    assert (faults.seen("CreateTopics"), faults.seen("Envelope")) == (0, 2)


@pytest.mark.kwire_cluster(controllers=1, brokers=0)
async def test_the_fixtures_need_no_brokers_for_controllers(
    kwire_cluster: BackgroundQuorum, kwire_proxy: FaultProxy
) -> None:
    kwire_proxy.on("DescribeQuorum").error("CLUSTER_AUTHORIZATION_FAILED").call(2)
    async with AdminClient(bootstrap_controllers=kwire_proxy.bootstrap_servers) as admin:
        await admin.describe_metadata_quorum()
        with pytest.raises(BrokerError, match="CLUSTER_AUTHORIZATION_FAILED"):
            await admin.describe_metadata_quorum()
    assert kwire_cluster.faults.seen("DescribeQuorum") == 1


async def test_what_is_forgotten_is_not_counted_wrongly(
    proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fault_filter, "KEPT", 100)
    await codes(proxy, 5)
    with pytest.raises(InvalidValue, match="of the requests are forgotten"):
        proxy.seen("EndTxn")
    # The fixture reports at the end of each test, also of one that counted nothing.
    assert "EndTxn, and " in proxy.report()
    proxy.clear()
    assert proxy.seen("EndTxn") == 0
