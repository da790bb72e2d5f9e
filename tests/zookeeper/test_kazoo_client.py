"""kazoo's session with a real ZooKeeper in trouble: a sentence for each failure, and no hang."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import trustme
from kazoo.client import KazooClient

from kwire.net.accepting import stop_accepting
from kwire.net.address import Address
from kwire.net.tls import ClientTls
from kwire.testing.local_kafka.address import free_port
from kwire.zookeeper import (
    ConnectionLost,
    Create,
    Delete,
    NoNode,
    NotAuthorized,
    SessionEvent,
    SessionExpired,
    SetData,
    WatchEvent,
    ZnodeChange,
    ZooKeeperAuthenticationFailed,
    ZooKeeperUnreachable,
)
from kwire.zookeeper.kazoo_client import KazooZooKeeper
from kwire.zookeeper.settings import ZooKeeperSettings
from real_kafka.zookeeper import ZooKeeperServer
from tests.support.eventually import eventually
from tests.support.zookeeper.trees import delete_below

pytestmark = [pytest.mark.java, pytest.mark.cluster, pytest.mark.xdist_group("zookeeper")]


def client_threads() -> set[threading.Thread]:
    """Return the threads that clients have started."""
    threads = threading.enumerate()
    return {thread for thread in threads if thread.name.startswith("kwire-zookeeper")}


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Fail if a client leaves a thread behind."""
    before = client_threads()
    yield
    assert not client_threads() - before


@asynccontextmanager
async def connected(
    settings: ZooKeeperSettings, *, create_chroot: bool = False
) -> AsyncIterator[KazooZooKeeper]:
    """Open a session, and close it."""
    client = await KazooZooKeeper.connect(settings, create_chroot=create_chroot)
    try:
        yield client
    finally:
        await client.close()


class States:
    """The events of a session, to wait for."""

    def __init__(self, client: KazooZooKeeper) -> None:
        self.queue: asyncio.Queue[SessionEvent] = asyncio.Queue()
        client.add_listener(self.queue.put_nowait)

    async def next(self) -> SessionEvent:
        """Return the next event."""
        return await asyncio.wait_for(self.queue.get(), 60)


async def test_nobody_at_the_address_is_one_sentence() -> None:
    port = free_port()
    settings = replace(ZooKeeperSettings.parse(f"127.0.0.1:{port}"), connection_seconds=0.5)
    with pytest.raises(ZooKeeperUnreachable) as refused:
        await KazooZooKeeper.connect(settings)
    address = f"127.0.0.1:{port}"
    expected = f"no session with ZooKeeper at {address}: {address}: Connection refused"
    assert str(refused.value) == expected


async def test_somebody_else_at_the_address_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = Address(*silent.getsockname())
        settings = ZooKeeperSettings(addresses=(address,), connection_seconds=0.5)
        with pytest.raises(ZooKeeperUnreachable, match=r"in 0\.5 s: no answer; see"):
            await KazooZooKeeper.connect(settings)


async def test_a_second_address_stands_in_for_a_dead_one(settings: ZooKeeperSettings) -> None:
    dead = Address("127.0.0.1", free_port())
    async with connected(replace(settings, addresses=(dead, *settings.addresses))) as client:
        assert await client.exists("/") is not None


async def test_more_than_1024_open_files_hinder_nobody(settings: ZooKeeperSettings) -> None:
    with ExitStack() as many:
        for _ in range(1100):  # select() takes descriptors below 1,024 only
            many.callback(os.close, os.dup(0))
        async with connected(settings) as client:
            assert client.is_connected
            assert await client.exists("/zookeeper")


async def test_a_chroot_is_the_root(settings: ZooKeeperSettings) -> None:
    below = replace(settings, chroot="/kafka/one")
    with pytest.raises(ZooKeeperUnreachable, match=r"has no znode /kafka/one: correct the path"):
        await KazooZooKeeper.connect(below)
    async with connected(below, create_chroot=True) as client:
        events: list[WatchEvent] = []
        assert await client.children("/", watch=events.append) == []
        assert await client.multi([Create("/a", b"x")]) == ["/a"]
        assert await client.multi([Create("/a/", sequential=True)]) == ["/a/0000000000"]
        await client.multi([SetData("/", b"root")])
        assert events == [WatchEvent(ZnodeChange.CHILDREN, "/")]
    async with connected(settings) as bare:
        assert (await bare.get("/kafka/one/a")).data == b"x"
        assert (await bare.get("/kafka/one")).data == b"root"
        await delete_below(bare, "/")


async def test_a_stopped_server_hangs_nobody(
    server: ZooKeeperServer, settings: ZooKeeperSettings
) -> None:
    async with connected(replace(settings, session_seconds=2)) as client:
        states = States(client)
        events: list[WatchEvent] = []
        await client.exists("/none", watch=events.append)
        session_id = client.session_id
        server.suspend()
        try:
            with pytest.raises(ConnectionLost, match="was lost before it answered"):
                await client.get("/")
            assert await states.next() is SessionEvent.SUSPENDED
            with pytest.raises(ConnectionLost, match="no connection"):
                await client.get("/")
            # kazoo's thread tells of its watches after the state.
            await eventually(lambda: events == [WatchEvent(ZnodeChange.LOST, "/none")])
            with pytest.raises(ZooKeeperUnreachable):
                await KazooZooKeeper.connect(replace(settings, connection_seconds=0.5))
        finally:
            server.resume()
        # A server that stood still has expired no session meanwhile, or has: both are told.
        if await states.next() is SessionEvent.EXPIRED:
            assert await states.next() is SessionEvent.CONNECTED
            assert client.session_id != session_id
        assert await client.exists("/") is not None


async def test_a_client_of_a_stopped_server_can_be_closed(
    server: ZooKeeperServer, settings: ZooKeeperSettings
) -> None:
    async with connected(settings) as client:
        server.suspend()
        try:
            under_way = [asyncio.ensure_future(client.get("/")) for _ in range(1000)]
            await asyncio.sleep(0)
            await asyncio.wait_for(client.close(), 60)
            answers = await asyncio.gather(*under_way, return_exceptions=True)
        finally:
            server.resume()
    assert {type(answer) for answer in answers} == {ConnectionLost}


async def close_session(settings: ZooKeeperSettings, session_id: int, password: bytes) -> None:
    """Take over a session as another client does that knows its password, and close it."""
    thief = KazooZooKeeper(settings)
    thief._client._session_id, thief._client._session_passwd = session_id, password
    try:
        thief._client.start_async()
        with suppress(ZooKeeperUnreachable):  # its owner may be back already
            await thief._wait_for_session()
    finally:
        await thief.close()


async def test_an_expired_session_is_told_and_replaced(settings: ZooKeeperSettings) -> None:
    async with connected(settings) as client, connected(settings) as other:
        states = States(client)
        await client.multi([Create("/mine", ephemeral=True)])
        session_id, password = client._client.client_id
        event = SessionEvent.CONNECTED
        while event is SessionEvent.CONNECTED:  # it may be back before the session is closed
            await close_session(settings, session_id, password)
            assert await states.next() is SessionEvent.SUSPENDED
            event = await states.next()
        assert event is SessionEvent.EXPIRED
        with pytest.raises(SessionExpired):
            await client.get("/")
        assert await states.next() is SessionEvent.CONNECTED
        assert client.session_id != session_id
        assert await client.exists("/mine") is None
        assert await other.exists("/mine") is None


async def test_a_cancelled_read_leaves_its_slot(settings: ZooKeeperSettings) -> None:
    async with connected(settings) as client:
        for _ in range(5):
            reads = [asyncio.ensure_future(client.get("/")) for _ in range(200)]
            await asyncio.sleep(0)
            for read in reads:
                read.cancel()
            await asyncio.gather(*reads, return_exceptions=True)
        assert (await client.get("/")).data == b""


async def test_a_large_znode_is_read_and_a_larger_one_refused(settings: ZooKeeperSettings) -> None:
    async with connected(settings) as client:
        states = States(client)
        largest = b"x" * 1_000_000
        await client.multi([Create("/large", largest)])
        assert (await client.get("/large")).data == largest
        with pytest.raises(ConnectionLost, match="may have been carried out"):
            await client.multi([Create("/larger", b"x" * 10_000_000)])
        assert await states.next() is SessionEvent.SUSPENDED
        # At times the rest of the write times out first, by which the session has expired.
        if await states.next() is SessionEvent.EXPIRED:
            assert await states.next() is SessionEvent.CONNECTED
        assert await client.exists("/larger") is None
        await delete_below(client, "/")


@pytest.fixture
def guarded() -> Iterator[ZooKeeperServer]:
    """A server that lets nobody in without credentials."""
    with ZooKeeperServer(user="kafka", password="s3cr3t") as server:
        yield server


async def test_credentials_are_sent_and_acls_hold(guarded: ZooKeeperServer) -> None:
    nobody = replace(ZooKeeperSettings.parse(guarded.connect), connection_seconds=2)
    with pytest.raises((ZooKeeperAuthenticationFailed, ZooKeeperUnreachable)):
        await KazooZooKeeper.connect(nobody)
    owner = replace(nobody, digest=("alice", "a:b"), set_acl=True)
    async with connected(owner) as client:
        await client.multi([Create("/config"), Create("/config/users"), Create("/consumers")])
        assert (await client.get("/config")).data == b""
    async with connected(replace(nobody, digest=("alice", "wrong"))) as client:
        assert (await client.get("/config")).data == b""
        await client.multi([SetData("/consumers", b"open")])
        with pytest.raises(NotAuthorized, match="the ACL of znode /config/users refuses"):
            await client.get("/config/users")
    async with connected(replace(nobody, digest=("super", "s3cr3t"))) as client:
        assert (await client.get("/config/users")).data == b""


@asynccontextmanager
async def tls_in_front(server: ZooKeeperServer, context: ssl.SSLContext) -> AsyncIterator[int]:
    """Yield a port with TLS that leads to the server."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
        except OSError:
            pass
        finally:
            writer.close()

    serving: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        back, forth = await asyncio.open_connection(server.address.host, server.address.port)
        await asyncio.gather(pump(reader, forth), pump(back, writer))

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        await stop_accepting(listening)
        await asyncio.gather(*filter(None, serving))


async def test_tls_with_names_and_certificates(server: ZooKeeperServer, tmp_path: Path) -> None:
    authority, other = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    other.cert_pem.write_to_path(tmp_path / "other.pem")
    async with tls_in_front(server, context) as port:
        settings = replace(ZooKeeperSettings.parse(f"localhost:{port}"), connection_seconds=1)
        trusting = replace(settings, tls=ClientTls(authorities=tmp_path / "ca.pem"))
        async with connected(trusting) as client:
            assert await client.exists("/") is not None
        distrusting = replace(settings, tls=ClientTls(authorities=tmp_path / "other.pem"))
        with pytest.raises(ZooKeeperUnreachable, match="its certificate is not accepted"):
            await KazooZooKeeper.connect(distrusting)
        address = (Address("127.0.0.1", port),)
        with pytest.raises(ZooKeeperUnreachable, match="IP address mismatch"):
            await KazooZooKeeper.connect(replace(trusting, addresses=address))
        with pytest.raises(ZooKeeperUnreachable, match="if these ports want TLS"):
            await KazooZooKeeper.connect(replace(settings, connection_seconds=0.3))
    plain = replace(trusting, addresses=(server.address,), connection_seconds=0.3)
    with pytest.raises(ZooKeeperUnreachable, match=r"TLS failed|no session"):
        await KazooZooKeeper.connect(plain)


async def test_a_watch_that_raises_stops_nobody(settings: ZooKeeperSettings) -> None:
    problems: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: problems.append(context["message"])
    )

    def fail(_: WatchEvent) -> None:
        raise ValueError

    async with connected(settings) as client:
        await client.exists("/a", watch=fail)
        await client.multi([Create("/a")])
        with pytest.raises(NoNode):
            await client.get("/b")
        await delete_below(client, "/")
    assert problems == ["a callback of ZooKeeper failed"]


async def test_a_znode_that_never_had_data_is_null(settings: ZooKeeperSettings) -> None:
    """As brokers make /latest_producer_id_block: KafkaZkClient.createTopLevelPaths."""
    async with connected(settings) as client:
        await asyncio.to_thread(_create_without_data, settings, "/null")
        znode = await client.get("/null")
        await client.multi([Delete("/null")])
    assert (znode.data, znode.is_null) == (b"", True)


def _create_without_data(settings: ZooKeeperSettings, path: str) -> None:
    kazoo = KazooClient(",".join(map(str, settings.addresses)))
    kazoo.start()
    try:
        kazoo.create(path, None)
    finally:
        kazoo.stop()
        kazoo.close()
