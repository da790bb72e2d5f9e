"""A run as a whole: ports of something else, ids that must be typed, what is created and swept."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from kwire.conform import SuiteOptions, run_suite
from kwire.conform.check import FIRST
from kwire.conform.leftovers import is_left, sweep
from kwire.conform.server import PREFIX, Server
from kwire.conform.suite import NOT_TYPED, READ_ONLY, WrongCluster
from kwire.conform.target import Target
from kwire.conform.vocabulary import ConformanceVerdict as V
from kwire.conform.vocabulary import ServerRole
from kwire.errors import ConnectionFailed, InvalidValue
from kwire.messages.a03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from kwire.messages.a20_delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kwire.net.accepting import stop_accepting
from kwire.net.address import Address
from kwire.net.frames import RequestFrame
from kwire.net.security import Security
from kwire.net.tls import ClientTls
from scripted_node import ScriptedNode
from tests.support.conform.mortal_node import target_of


@asynccontextmanager
async def port_of(answer: bytes | None) -> AsyncIterator[str]:
    """Yield the address of a port that answers anything with these bytes, or with nothing."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        if answer is None:
            await reader.read()
        else:
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await stop_accepting(server)


@pytest.mark.parametrize(
    ("answer", "came"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP, not Kafka's protocol"),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "SSH, not Kafka's protocol"),
        (b"\x15\x03\x03\x00\x02\x02\x50", "a TLS alert: the port wants TLS"),
        (b"220 mail.example.org \x1b[31mESMTP\r\n", r"'220 mail.example.org \\x1b[31mESMTP"),
        (b"\xff\xff\xff\xff", "the size -1 in front of it"),
        (b"\0\0\0\x04\0\0\0\x07", "correlation id 7, not 1"),
        (b"", "no answer, the connection is closed"),
        (None, "no answer within 0.2 s after 27 bytes, the connection stays open"),
    ],
)
async def test_a_port_of_something_else_is_one_failure(
    answer: bytes | None, came: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.conform.target.EXAMINE_TIMEOUT", 0.2)
    async with port_of(answer) as address:
        run = await run_suite(address, SuiteOptions(ids=("versions/kip-511",)))
    first, *others = run.results
    assert (first.id, first.verdict) == (FIRST.id, V.FAIL)
    assert came in first.came
    assert {result.verdict for result in others} == {V.SKIPPED}
    assert run.problem == "the server does not answer ApiVersions"
    assert first.chunks[0].sent


async def test_tls_at_a_port_without_it_is_one_failure() -> None:
    security = Security(tls=ClientTls(check_name=False))
    async with port_of(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        run = await run_suite(address, SuiteOptions(security=security))
    assert (run.results[0].verdict, run.results[0].expected) == (V.FAIL, "TLS")


async def test_nobody_at_the_port_is_no_run(unused_tcp_port_factory: Callable[[], int]) -> None:
    address = f"127.0.0.1:{unused_tcp_port_factory()}"
    with pytest.raises(ConnectionFailed, match=f"cannot connect to {address}: Connection refused"):
        await run_suite(address)


async def test_an_unknown_id_is_told_before_anything_is_asked() -> None:
    with pytest.raises(InvalidValue, match="no check is called 'nonsense'"):
        await run_suite("127.0.0.1:1", SuiteOptions(ids=("nonsense",)))


def metadata(cluster_id: str | None, *topics: str) -> Callable[[object], MetadataResponse]:
    def answer(frame: object) -> MetadataResponse:
        broker = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=1)
        names = [MetadataResponseTopic(name=name) for name in topics]
        return MetadataResponse(brokers=[broker], cluster_id=cluster_id, topics=names)

    return answer


@pytest.mark.parametrize(
    ("cluster_id", "typed", "reason"),
    [
        ("abc", "abd", "is of cluster abc, not abd"),
        ("abc", "", "is of cluster abc, not : "),
        (None, "abc", "tells no cluster id"),
    ],
)
async def test_nothing_is_spoilt_unless_its_id_is_typed(
    cluster_id: str | None, typed: str, reason: str
) -> None:
    async with ScriptedNode({MetadataRequest: metadata(cluster_id)}) as node:
        with pytest.raises(WrongCluster, match=reason):
            await run_suite(node.address, SuiteOptions(cluster=typed))
        asked = {type(frame.body).__name__ for frame in node.asked}
    assert asked == {"ApiVersionsRequest", "MetadataRequest"}


async def test_what_the_options_do_not_allow_is_skipped() -> None:
    async with ScriptedNode({MetadataRequest: metadata("abc")}) as node:
        options = SuiteOptions(ids=("quorum", "topics"), read_only=True, role=ServerRole.BROKER)
        run = await run_suite(node.address, options)
    reasons = {result.reason for result in run.results[1:]}
    assert {NOT_TYPED, READ_ONLY} <= reasons
    assert not {type(frame.body) for frame in node.asked} & {DeleteTopicsRequest}


def old() -> str:
    """Return a name of a run of two hours ago."""
    return f"{PREFIX}{int(time.time()) - 7200:08x}-00000001"


def new() -> str:
    """Return a name of a run of now. Modules may have been read hours before."""
    return f"{PREFIX}{int(time.time()):08x}-00000002"


class SweptNode(ScriptedNode):
    """A broker with topics, which it deletes. kept: their names."""

    def __init__(self, *topics: str) -> None:
        self.kept = list(topics)
        super().__init__({MetadataRequest: self._list, DeleteTopicsRequest: self._delete})

    def _list(self, frame: RequestFrame) -> MetadataResponse:
        return metadata("abc", *self.kept)(frame)

    def _delete(self, frame: RequestFrame) -> DeleteTopicsResponse:
        assert isinstance(frame.body, DeleteTopicsRequest)
        names = [topic.name or "" for topic in frame.body.topics]
        self.kept = [name for name in self.kept if name not in names]
        return DeleteTopicsResponse(responses=[DeletableTopicResult(name=name) for name in names])


async def swept_target(node: ScriptedNode) -> Target:
    return await target_of(node)


async def test_what_old_runs_left_is_swept_and_nothing_else() -> None:
    left, used = old(), new()
    async with SweptNode("events", left, used, "kwire-conformity") as node:
        found = await sweep(await swept_target(node))
        assert node.kept == ["events", used, "kwire-conformity"]
        assert (found.removed, found.kept) == ((f"topic {left}",), (f"topic {used}",))
        await sweep(await swept_target(node), all_ages=True)
        assert node.kept == ["events", "kwire-conformity"]


def test_a_name_tells_how_old_it_is() -> None:
    names = (old(), new(), f"{PREFIX}x", "events")
    assert [is_left(name) for name in names] == [True, False, False, False]


async def test_a_name_has_the_time_at_which_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run, too, makes names that no other run removes."""
    async with ScriptedNode({}) as node:
        server = Server(await target_of(node))
        first, hour = server.name(), time.time() + 3600
        monkeypatch.setattr("time.time", lambda: hour)
        assert (is_left(first), is_left(server.name())) == (True, False)
        await server.close()


async def test_a_read_only_run_sweeps_nothing() -> None:
    left = old()
    async with SweptNode(left) as node:
        await run_suite(node.address, SuiteOptions(ids=(FIRST.id,), read_only=True))
        assert node.kept == [left]
        await run_suite(Address.parse(node.address), SuiteOptions(ids=(FIRST.id,)))
        assert node.kept == []
