"""One connection: what it negotiates, and what becomes of requests when its peer misbehaves."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import trustme

from kwire.errors import (
    AnswerLost,
    BrokerError,
    ConnectionFailed,
    ConnectTimedOut,
    DecodeError,
    EncodeError,
    FrameError,
    LoginWanted,
    UnsupportedVersion,
)
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.accepting import stop_accepting
from kwire.net.connection import Connection
from kwire.net.frames import FRAME_LIMIT, RequestFrame, encode_response
from kwire.net.negotiation import VersionRange
from real_kafka import Cluster
from scripted_node import HANG_UP, SILENCE, Raw, Script, ScriptedNode, api_versions, framed
from tests.support.virtual_time import in_virtual_time
from virtual_nodes.virtual_network import LinkFaults, NetworkLoop

CLUSTER = DescribeClusterResponse(cluster_id="the one")


def cluster(request: RequestFrame) -> DescribeClusterResponse:
    return CLUSTER


@asynccontextmanager
async def connected(script: Script, frame_limit: int = FRAME_LIMIT) -> AsyncIterator[Connection]:
    """A connection to a node that answers DescribeQuorum by this script."""
    node = ScriptedNode()
    node.scripts = {DescribeQuorumRequest: script, DescribeClusterRequest: cluster}
    async with (
        node,
        await Connection.open("127.0.0.1", node.port, frame_limit=frame_limit) as connection,
    ):
        yield connection


async def refused_by(node: ScriptedNode, within: float = 60) -> str:
    """Return the error when ApiVersions fails."""
    async with node:
        with pytest.raises(ConnectionFailed) as caught:
            await Connection.open("127.0.0.1", node.port, connect_timeout=within)
        await node.deserted()
    assert node.address in str(caught.value)
    return str(caught.value)


async def test_real_kafka_says_what_it_offers(combined: Cluster) -> None:
    address = next(iter(combined.brokers.values())).broker_address
    async with await Connection.open(address.host, address.port) as connection:
        assert connection.node.api_versions[55] == VersionRange(0, 2)  # golden/apiversions.md
        assert connection.node.supported_features["kraft.version"] == VersionRange(0, 1)
        assert connection.node.finalized_features["kraft.version"] == VersionRange(1, 1)
        answer = await connection.send(DescribeClusterRequest())
        assert isinstance(answer, DescribeClusterResponse)
        assert answer.cluster_id == combined.cluster_id


async def test_many_requests_at_once_each_get_their_own_answer(combined: Cluster) -> None:
    address = next(iter(combined.brokers.values())).broker_address
    requests = [DescribeClusterRequest(), ApiVersionsRequest(client_software_name="a")] * 20
    async with await Connection.open(address.host, address.port) as connection:
        answers = await asyncio.gather(*map(connection.send, requests))
    kinds = [type(answer).__name__ for answer in answers]
    assert kinds == ["DescribeClusterResponse", "ApiVersionsResponse"] * 20


async def test_a_node_that_knows_only_older_api_versions_is_asked_again_in_its_own() -> None:
    def old(request: RequestFrame) -> ApiVersionsResponse | Raw:
        if request.version <= 3:
            return api_versions(ApiVersionsRequest)
        refusal = api_versions(ApiVersions=(0, 3)).replace(error_code=35)
        # As Kafka does: the body of version 0, whatever was asked.
        id_ = request.header.correlation_id
        return Raw(data=encode_response(refusal, 0, correlation_id=id_))

    async with ScriptedNode({ApiVersionsRequest: old}) as node:
        async with await Connection.open("127.0.0.1", node.port) as connection:
            assert 18 in connection.node.api_versions
        assert [frame.version for frame in node.asked] == [5, 3]


async def test_a_node_that_refuses_every_version_of_api_versions_is_not_asked_for_ever() -> None:
    def never(request: RequestFrame) -> Raw:
        refusal = ApiVersionsResponse(error_code=35)
        id_ = request.header.correlation_id
        return Raw(data=encode_response(refusal, 0, correlation_id=id_))

    async with ScriptedNode({ApiVersionsRequest: never}) as node:
        with pytest.raises(UnsupportedVersion, match="v0 was refused"):
            await Connection.open("127.0.0.1", node.port)
        assert [frame.version for frame in node.asked] == [5, 0]


async def test_another_error_to_api_versions_is_the_nodes_own() -> None:
    node = ScriptedNode({ApiVersionsRequest: lambda request: ApiVersionsResponse(error_code=58)})
    async with node:
        with pytest.raises(BrokerError, match="SASL_AUTHENTICATION_FAILED"):
            await Connection.open("127.0.0.1", node.port)


async def test_the_highest_version_of_both_sides_is_sent_and_a_given_one_is_not_checked() -> None:
    def limited(request: RequestFrame) -> ApiVersionsResponse:
        return api_versions(DescribeQuorum=(0, 1))

    def quorum(request: RequestFrame) -> DescribeQuorumResponse:
        return DescribeQuorumResponse()

    scripts: dict[type, Script] = {ApiVersionsRequest: limited, DescribeQuorumRequest: quorum}
    async with ScriptedNode(scripts) as node:
        async with await Connection.open("127.0.0.1", node.port) as connection:
            await connection.send(DescribeQuorumRequest())
            await connection.send(DescribeQuorumRequest(), version=2)
            with pytest.raises(UnsupportedVersion, match=f"{node.address} does not offer"):
                await connection.send(DescribeClusterRequest())
        assert [frame.version for frame in node.asked[1:]] == [1, 2]


async def test_a_value_that_does_not_fit_is_refused_and_the_connection_goes_on() -> None:
    async with connected(lambda request: DescribeQuorumResponse()) as connection:
        with pytest.raises(EncodeError):
            await connection.send(DescribeClusterRequest(endpoint_type=1000))
        assert await connection.send(DescribeClusterRequest()) == CLUSTER


async def test_a_peer_that_hangs_up_loses_the_answer() -> None:
    async with connected(lambda request: HANG_UP) as connection:
        with pytest.raises(AnswerLost, match="closed the connection before it answered Descr"):
            await connection.send(DescribeQuorumRequest())
        assert connection.closed
        with pytest.raises(ConnectionFailed, match="is closed: open a new one"):
            await connection.send(DescribeClusterRequest())


async def test_a_first_request_that_ends_the_connection_may_want_a_login() -> None:
    """Kafka's SASL listeners answer ApiVersions, and end the connection at anything else."""
    async with connected(lambda request: HANG_UP) as connection:
        with pytest.raises(LoginWanted, match="if the listener wants a login, give SASL"):
            await connection.send(DescribeQuorumRequest())
    async with connected(lambda request: HANG_UP) as connection:
        await connection.send(DescribeClusterRequest())
        with pytest.raises(AnswerLost) as lost:
            await connection.send(DescribeQuorumRequest())
        assert type(lost.value) is AnswerLost


async def test_tls_at_a_listener_that_hangs_up_on_it_is_told_how_to_connect() -> None:
    """A plain listener of Kafka takes the handshake for a frame of 369 MB, which is too large."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert int.from_bytes(await reader.readexactly(4), "big") > 100 << 20
        writer.transport.abort()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionFailed, match="if it is a plain listener, connect without"):
            await Connection.open("127.0.0.1", port, ssl=ssl.create_default_context())
        await stop_accepting(server)


async def test_every_request_in_flight_is_lost_when_the_peer_hangs_up() -> None:
    async with connected(lambda request: HANG_UP) as connection:
        requests = [DescribeQuorumRequest(), DescribeClusterRequest()]
        lost = await asyncio.gather(*map(connection.send, requests), return_exceptions=True)
    assert [type(flow) for flow in lost] == [LoginWanted, LoginWanted]
    assert "DescribeQuorum v2" in str(lost[0])
    assert "DescribeCluster v2" in str(lost[1])


async def test_a_peer_that_hangs_up_inside_an_answer_is_told_apart() -> None:
    half = Raw(data=bytes.fromhex("00000010 0000"), hang_up=True)
    async with connected(lambda request: half) as connection:
        with pytest.raises(AnswerLost, match="after 6 bytes of half an answer"):
            await connection.send(DescribeQuorumRequest())


async def test_a_silent_peer_costs_one_timeout_and_its_late_answer_is_dropped() -> None:
    late: list[RequestFrame] = []

    def slow(request: RequestFrame) -> Raw:
        late.append(request)
        return SILENCE

    def both(request: RequestFrame) -> Raw:
        answer = framed(late.pop(), DescribeQuorumResponse(error_code=1))
        return Raw(data=answer + framed(request, CLUSTER))

    async with (
        ScriptedNode({DescribeQuorumRequest: slow, DescribeClusterRequest: both}) as node,
        await Connection.open("127.0.0.1", node.port) as connection,
    ):
        with pytest.raises(AnswerLost, match=r"did not answer DescribeQuorum v2 within 0\.1 s"):
            await connection.send(DescribeQuorumRequest(), timeout=0.1)
        assert connection.idle
        assert await connection.send(DescribeClusterRequest(), timeout=60) == CLUSTER


async def test_a_cancelled_request_leaves_the_connection_in_order() -> None:
    async with connected(lambda request: DescribeQuorumResponse()) as connection:
        given_up = asyncio.ensure_future(connection.send(DescribeQuorumRequest()))
        await asyncio.sleep(0)
        given_up.cancel()
        assert await connection.send(DescribeClusterRequest()) == CLUSTER
        with pytest.raises(asyncio.CancelledError):
            await given_up


async def test_an_answer_that_comes_in_the_moment_of_cancelling_is_dropped() -> None:
    async with connected(lambda request: SILENCE) as connection:
        given_up = asyncio.ensure_future(connection.send(DescribeQuorumRequest()))
        await asyncio.sleep(0)
        given_up.cancel()
        frame = encode_response(DescribeQuorumResponse(), 2, correlation_id=1)
        connection._link.data_received(frame)
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert not connection.closed


async def test_another_correlation_id_ends_the_connection() -> None:
    def another(request: RequestFrame) -> Raw:
        return Raw(data=encode_response(DescribeQuorumResponse(), 2, correlation_id=77))

    async with connected(another) as connection:
        with pytest.raises(FrameError, match=r"correlation id 77 where 1 \(DescribeQuorum v2\)"):
            await connection.send(DescribeQuorumRequest())
        assert connection.closed


@pytest.mark.parametrize("size", ["7fffffff", "00000000", "ffffffff"])
async def test_a_frame_size_out_of_bounds_ends_the_connection_at_once(size: str) -> None:
    async with connected(lambda request: Raw(data=bytes.fromhex(size))) as connection:
        with pytest.raises(FrameError, match="1 to 104857600 allowed"):
            await connection.send(DescribeQuorumRequest())
        assert connection.closed


async def test_the_largest_frame_is_the_callers_choice() -> None:
    big = DescribeQuorumResponse(error_message="x" * 300)
    async with connected(lambda request: big, frame_limit=200) as connection:
        with pytest.raises(FrameError, match="1 to 200 allowed"):
            await connection.send(DescribeQuorumRequest())


async def test_an_answer_that_cannot_be_read_fails_alone() -> None:
    def garbage(request: RequestFrame) -> Raw:
        id_ = request.header.correlation_id.to_bytes(4, "big")
        return Raw(data=bytes.fromhex("00000008") + id_ + bytes.fromhex("00000063"))

    async with connected(garbage) as connection:
        with pytest.raises(DecodeError, match="DescribeQuorumResponse v2"):
            await connection.send(DescribeQuorumRequest())
        assert await connection.send(DescribeClusterRequest()) == CLUSTER


async def test_an_answer_that_nobody_asked_for_ends_the_connection() -> None:
    def twice(request: RequestFrame) -> Raw:
        return Raw(data=framed(request, DescribeQuorumResponse()) * 2)

    async with connected(twice) as connection:
        await connection.send(DescribeQuorumRequest())
        await asyncio.wait_for(connection._link._ended.wait(), timeout=60)
        with pytest.raises(ConnectionFailed):
            await connection.send(DescribeClusterRequest())


async def test_closing_ends_what_is_in_flight_and_leaves_no_task() -> None:
    async with ScriptedNode({DescribeQuorumRequest: lambda request: SILENCE}) as node:
        before = asyncio.all_tasks()
        connection = await Connection.open("127.0.0.1", node.port)
        waiting = asyncio.ensure_future(connection.send(DescribeQuorumRequest()))
        await asyncio.sleep(0)
        await connection.close()
        await connection.close()
        with pytest.raises(AnswerLost, match="was closed here"):
            await waiting
        ours = asyncio.all_tasks() - before - node.serving
        assert ours == set()


async def test_a_request_waits_while_the_transport_takes_no_more() -> None:
    async with connected(lambda request: DescribeQuorumResponse()) as connection:
        connection._link.pause_writing()
        with pytest.raises(AnswerLost):
            await connection.send(DescribeClusterRequest(), timeout=0.05)
        connection._link.resume_writing()
        assert await connection.send(DescribeClusterRequest()) == CLUSTER


async def test_a_port_where_nothing_listens_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(ConnectionFailed, match=f"{host}:{port} refused the connection"):
                await Connection.open(host, port)


@pytest.mark.parametrize("error", [socket.gaierror(-2, "Name or service not known"), None])
async def test_a_host_that_cannot_be_resolved_is_named(
    error: socket.gaierror | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unknown(*arguments: object, **options: object) -> None:
        raise error or AssertionError

    if error is not None:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    with pytest.raises(ConnectionFailed, match=r"a\.\.b:9092 cannot be resolved"):
        await Connection.open("a..b", 9092)


@pytest.mark.parametrize("host", ["a\0b", "\ud800", "x" * 70 + ".b", ""])
async def test_a_host_that_no_resolver_takes_is_no_traceback(host: str) -> None:
    with pytest.raises(ConnectionFailed, match="cannot be"):
        await Connection.open(host, 9)


async def test_a_port_beyond_65535_is_no_traceback() -> None:
    with pytest.raises(ConnectionFailed, match="70000 cannot be reached"):
        await Connection.open("127.0.0.1", 70000)


async def test_a_peer_that_hangs_up_on_api_versions_is_no_kafka_listener() -> None:
    said = await refused_by(ScriptedNode({ApiVersionsRequest: lambda request: HANG_UP}))
    assert "closed the connection instead of answering ApiVersions" in said
    assert "TLS" in said


async def test_a_peer_that_never_answers_api_versions_is_given_up() -> None:
    said = await refused_by(ScriptedNode({ApiVersionsRequest: lambda request: SILENCE}), within=0.2)
    assert "did not answer ApiVersions within 0.2 s: it is slow, or no Kafka listener" in said


@in_virtual_time
async def test_each_step_has_the_time_of_an_answer_and_the_opening_all_of_it() -> None:
    node = ScriptedNode({ApiVersionsRequest: lambda request: SILENCE})
    async with node:
        began = asyncio.get_running_loop().time()
        with pytest.raises(ConnectTimedOut, match=r"did not answer ApiVersions within 20\.0 s"):
            await Connection.open(
                "127.0.0.1", node.port, connect_timeout=60, setup_timeout=5, request_timeout=20
            )
        assert asyncio.get_running_loop().time() - began < 21


@in_virtual_time
async def test_an_address_that_is_slow_to_reach_has_a_limit_of_its_own() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, NetworkLoop)
    async with ScriptedNode() as node:
        loop.network.faults = LinkFaults(latency=(8, 8))
        with pytest.raises(ConnectTimedOut, match=r"connected to within 5\.0 s: it is slow, or"):
            await Connection.open("127.0.0.1", node.port, connect_timeout=60, setup_timeout=5)
        loop.network.heal()


@in_virtual_time
async def test_a_node_that_throttles_is_left_alone_for_as_long() -> None:
    """Its answer is the caller's at once; a rest beyond the timeout of a request is an error."""
    rests = iter((1_000, 0, 60_000))
    node = ScriptedNode()
    node.scripts = {
        DescribeClusterRequest: lambda request: DescribeClusterResponse(
            cluster_id="the one", throttle_time_ms=next(rests)
        )
    }
    clock = asyncio.get_running_loop().time
    async with (
        node,
        await Connection.open("127.0.0.1", node.port, request_timeout=20) as connection,
    ):
        began = clock()
        await connection.send(DescribeClusterRequest())
        assert clock() - began < 0.5
        await connection.send(DescribeClusterRequest())
        assert 1 <= clock() - began < 1.5
        await connection.send(DescribeClusterRequest())
        assert clock() - began < 1.5
        with pytest.raises(ConnectionFailed, match=r"throttles this client for 60\.0 s"):
            await connection.send(DescribeClusterRequest())


async def test_a_peer_that_speaks_http_is_told_apart() -> None:
    http = Raw(data=b"HTTP/1.1 400 Bad Request\r\n\r\n", hang_up=True)
    async with ScriptedNode({ApiVersionsRequest: lambda request: http}) as node:
        with pytest.raises(FrameError, match=f"{node.address} does not speak Kafka's protocol"):
            await Connection.open("127.0.0.1", node.port)


async def test_tls_towards_a_peer_without_it_says_so() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"not TLS at all")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionFailed, match="does not speak TLS"):
            await Connection.open("127.0.0.1", port, ssl=ssl.create_default_context())


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def serving(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)
    return context


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


async def test_a_connection_goes_over_tls(authority: trustme.CA) -> None:
    node = ScriptedNode({DescribeClusterRequest: cluster}, ssl=serving(authority, "127.0.0.1"))
    async with (
        node,
        await Connection.open("127.0.0.1", node.port, ssl=trusting(authority)) as connection,
    ):
        assert await connection.send(DescribeClusterRequest()) == CLUSTER


async def test_a_certificate_of_another_host_is_refused(authority: trustme.CA) -> None:
    async with ScriptedNode(ssl=serving(authority, "broker.example")) as node:
        with pytest.raises(ConnectionFailed, match="certificate that is not accepted: IP address"):
            await Connection.open("127.0.0.1", node.port, ssl=trusting(authority))


async def test_a_certificate_may_be_for_another_name_that_is_known(authority: trustme.CA) -> None:
    async with (
        ScriptedNode(ssl=serving(authority, "broker.example")) as node,
        await Connection.open(
            "127.0.0.1",
            node.port,
            ssl=trusting(authority),
            server_hostname="broker.example",
        ) as connection,
    ):
        assert not connection.closed


@pytest.mark.parametrize("script", [cluster, HANG_UP], ids=["closed here", "closed there"])
async def test_a_connection_over_tls_may_be_closed_again(
    authority: trustme.CA, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11.2's TLS transport cannot be aborted any more once it was closed twice."""

    def abort(self: Any) -> None:
        self._closed = True
        self._ssl_protocol._abort()

    monkeypatch.setattr("asyncio.sslproto._SSLProtocolTransport.abort", abort)
    node = ScriptedNode({DescribeClusterRequest: script}, ssl=serving(authority, "127.0.0.1"))
    async with node:
        connection = await Connection.open("127.0.0.1", node.port, ssl=trusting(authority))
        with suppress(AnswerLost):
            await connection.send(DescribeClusterRequest())
        await asyncio.gather(connection.close(), connection.close())
        await connection.close()
